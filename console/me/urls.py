"""The addresses of a person's own pages."""

from django.urls import URLPattern, path, re_path

from console.me.conversations import (
    ConversationPage,
    ConversationsPage,
    DocumentPage,
    DocumentsPage,
)
from console.me.pages import enter, leave
from console.me.rights import ErasePage, ExportPage, RestrictPage, RightsPage, SignOutPage
from console.me.views import ForgetPage, MemoriesPage, MemoryPage, UsesPage

MEMORY = "me/memories/<slug:kind>/<slug:memory_id>"

pages: list[URLPattern] = [
    path("me/", MemoriesPage.as_view(), name="me"),
    path("me", MemoriesPage.as_view()),
    re_path(r"^me/enter/(?P<token>[A-Za-z0-9_.=-]{1,16384})\Z", enter, name="me-enter"),
    path("me/leave", leave, name="me-leave"),
    path(MEMORY, MemoryPage.as_view(), name="me-memory"),
    path(f"{MEMORY}/forget", ForgetPage.as_view(), name="me-forget"),
    path("me/conversations", ConversationsPage.as_view(), name="me-conversations"),
    path("me/conversations/<uuid:session_row>", ConversationPage.as_view(), name="me-conversation"),
    path("me/documents", DocumentsPage.as_view(), name="me-documents"),
    path("me/documents/<uuid:document_id>", DocumentPage.as_view(), name="me-document"),
    path("me/uses", UsesPage.as_view(), name="me-uses"),
    path("me/rights", RightsPage.as_view(), name="me-rights"),
    path("me/export", ExportPage.as_view(), name="me-export"),
    path("me/erase", ErasePage.as_view(), name="me-erase"),
    path("me/restrict", RestrictPage.as_view(), name="me-restrict"),
    path("me/sign-out", SignOutPage.as_view(), name="me-sign-out"),
]
