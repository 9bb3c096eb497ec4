"""The native routes, with and without trailing slash. A session id may hold slashes; it takes what the route
leaves, and is refused if it ends like a route below it."""

from django.urls import re_path

from api.native import agents, episodes, hooks, jobs, lifecycle, observations, policy, sessions, subjects

ID = r"(?P<session_id>[\s\S]+?)"
NUMBER = r"(?P<observation_id>[^/]+)"
SUBJECT = r"(?P<user_id>[\s\S]+?)"

urlpatterns = [
    re_path(r"^sessions/?\Z", sessions.SessionsView.as_view()),
    re_path(r"^sessions/stats/?\Z", lifecycle.StatsView.as_view()),
    re_path(r"^sessions/cleanup/?\Z", lifecycle.CleanUpView.as_view()),
    re_path(rf"^sessions/{ID}/turns/?\Z", sessions.TurnsView.as_view()),
    re_path(rf"^sessions/{ID}/events/?\Z", sessions.EventsView.as_view()),
    re_path(rf"^sessions/{ID}/window/?\Z", sessions.WindowView.as_view()),
    re_path(rf"^sessions/{ID}/end/?\Z", sessions.EndView.as_view()),
    re_path(rf"^sessions/{ID}/start/?\Z", lifecycle.StartView.as_view()),
    re_path(rf"^sessions/{ID}/checkpoint/?\Z", lifecycle.CheckpointView.as_view()),
    re_path(rf"^sessions/{ID}/?\Z", sessions.SessionView.as_view()),
    re_path(r"^episodes/?\Z", episodes.EpisodesView.as_view()),
    re_path(r"^recall/?\Z", episodes.RecallView.as_view()),
    re_path(r"^agents/?\Z", agents.AgentsView.as_view()),
    re_path(r"^agents/(?P<name>[\s\S]+?)/?\Z", agents.AgentView.as_view()),
    re_path(r"^hooks/tool-result/?\Z", hooks.ToolResultView.as_view()),
    re_path(r"^hooks/before-tool/?\Z", hooks.BeforeToolView.as_view()),
    re_path(r"^observations/?\Z", observations.ObservationsView.as_view()),
    re_path(rf"^observations/{NUMBER}/revisions/?\Z", observations.RevisionsView.as_view()),
    re_path(rf"^observations/{NUMBER}/restore/?\Z", observations.RestoreView.as_view()),
    re_path(rf"^observations/{NUMBER}/?\Z", observations.ObservationView.as_view()),
    re_path(r"^policy/?\Z", policy.PolicyView.as_view()),
    re_path(r"^policy/versions/?\Z", policy.VersionsView.as_view()),
    re_path(r"^policy/diff/?\Z", policy.DiffView.as_view()),
    re_path(r"^policy/rollback/?\Z", policy.RollbackView.as_view()),
    re_path(r"^policy/schema/?\Z", policy.SchemaView.as_view()),
    re_path(r"^jobs/?\Z", jobs.JobsView.as_view()),
    re_path(r"^jobs/(?P<job_id>[^/]+)/replay/?\Z", jobs.ReplayView.as_view()),
    re_path(r"^jobs/(?P<job_id>[^/]+)/download/?\Z", subjects.DownloadView.as_view()),
    re_path(r"^jobs/(?P<job_id>[^/]+)/?\Z", jobs.JobView.as_view()),
    re_path(rf"^subjects/{SUBJECT}/export/?\Z", subjects.ExportView.as_view()),
    re_path(rf"^subjects/{SUBJECT}/erase/?\Z", subjects.EraseView.as_view()),
    re_path(rf"^subjects/{SUBJECT}/receipts/?\Z", subjects.ReceiptsView.as_view()),
]
