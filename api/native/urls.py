"""The native routes, with and without trailing slash. A session id may hold slashes; it takes what the route
leaves, and is refused if it ends like a route below it."""

from django.urls import re_path

from api.native import episodes, sessions

ID = r"(?P<session_id>[\s\S]+?)"

urlpatterns = [
    re_path(r"^sessions/?\Z", sessions.SessionsView.as_view()),
    re_path(rf"^sessions/{ID}/turns/?\Z", sessions.TurnsView.as_view()),
    re_path(rf"^sessions/{ID}/events/?\Z", sessions.EventsView.as_view()),
    re_path(rf"^sessions/{ID}/window/?\Z", sessions.WindowView.as_view()),
    re_path(rf"^sessions/{ID}/end/?\Z", sessions.EndView.as_view()),
    re_path(rf"^sessions/{ID}/?\Z", sessions.SessionView.as_view()),
    re_path(r"^episodes/?\Z", episodes.EpisodesView.as_view()),
    re_path(r"^recall/?\Z", episodes.RecallView.as_view()),
]
