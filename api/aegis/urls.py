"""The AEGIS routes, with and without trailing slash. An id may hold slashes: it takes what is left."""

from django.urls import re_path

from api.aegis import views

ID = r"(?P<conversation_id>[\s\S]+?)"
LEDGER_VERBS = (
    views.LedgerCheckView,
    views.LedgerMarkView,
    views.LedgerClaimView,
    views.LedgerEvictView,
)

urlpatterns = [
    re_path(rf"^working-memory/{ID}/?\Z", views.WorkingMemoryView.as_view()),
    re_path(r"^episodic/store/?\Z", views.StoreView.as_view(), {"conversation_id": "store"}),
    re_path(r"^episodic/search/?\Z", views.SearchView.as_view(), {"conversation_id": "search"}),
    re_path(rf"^episodic/{ID}/?\Z", views.ConversationView.as_view()),
    *(re_path(rf"^ledger/{ID}/{view.verb}/?\Z", view.as_view()) for view in LEDGER_VERBS),
    re_path(rf"^ledger/{ID}/?\Z", views.LedgerView.as_view()),
]
