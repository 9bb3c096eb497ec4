"""The AgentOps routes, with and without trailing slash. A session's id may hold anything."""

from django.urls import re_path

from api.agentops import observations, recalling, sessions, transfer

urlpatterns = [
    re_path(r"^sessions/?\Z", sessions.SessionsView.as_view()),
    re_path(r"^sessions/recent/?\Z", sessions.RecentSessionsView.as_view()),
    re_path(r"^sessions/(?P<session_id>[\s\S]+?)/end/?\Z", sessions.EndView.as_view()),
    re_path(r"^observations/?\Z", observations.ObservationsView.as_view()),
    re_path(r"^observations/recent/?\Z", observations.RecentObservationsView.as_view()),
    re_path(r"^observations/(?P<observation_id>[^/]+)/?\Z", observations.ObservationView.as_view()),
    re_path(r"^search/?\Z", recalling.SearchView.as_view()),
    re_path(r"^context/?\Z", recalling.ContextView.as_view()),
    re_path(r"^timeline/?\Z", recalling.TimelineView.as_view()),
    re_path(r"^stats/?\Z", recalling.StatsView.as_view()),
    re_path(r"^export/?\Z", transfer.ExportView.as_view()),
    re_path(r"^import/?\Z", transfer.ImportView.as_view()),
]
