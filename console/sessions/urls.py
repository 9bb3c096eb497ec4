"""Conversations, and what was told in them."""

from console.routes import at
from console.sessions import views

SESSION = "sessions/<uuid:session_row>"

pages = [
    *at("sessions", views.SessionsPage, "sessions"),
    *at(SESSION, views.SessionPage, "session"),
    *at(f"{SESSION}/transcript", views.TranscriptPage, "session-transcript"),
    *at(f"{SESSION}/ask/<int:seq>", views.AskPage, "session-ask"),
    *at(f"{SESSION}/window", views.WindowPage, "session-window"),
    *at(f"{SESSION}/told", views.LedgerPage, "session-told"),
    *at(f"{SESSION}/evict", views.EvictPage, "session-evict"),
    *at(f"{SESSION}/end", views.EndPage, "session-end"),
    *at(f"{SESSION}/delete", views.DeletePage, "session-delete"),
]
