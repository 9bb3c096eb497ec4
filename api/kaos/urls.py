"""The KAOS routes, with and without trailing slash. An id may hold slashes: it takes what is left."""

from django.urls import re_path

from api.kaos import memory, sessions

SESSION = r"^sessions/(?P<session_id>[\s\S]+?)"

urlpatterns = [
    re_path(r"^events/?\Z", memory.EventsView.as_view()),
    re_path(r"^stats/?\Z", memory.StatsView.as_view()),
    re_path(r"^cleanup/?\Z", memory.CleanUpView.as_view()),
    re_path(r"^sessions/?\Z", sessions.SessionsView.as_view()),
    re_path(rf"{SESSION}/events/?\Z", sessions.SessionEventsView.as_view()),
    re_path(rf"{SESSION}/context/?\Z", sessions.ContextView.as_view()),
    re_path(rf"{SESSION}/?\Z", sessions.SessionView.as_view()),
]
