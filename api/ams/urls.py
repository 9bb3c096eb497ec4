"""The routes of the Redis Agent Memory Server, with and without trailing slash. An id may hold slashes: it
takes what the route leaves."""

from django.urls import re_path

from api.ams import health, long_term, prompting, summary_views, tasks, working_memory

SESSION = r"(?P<session_id>[\s\S]+?)"
RECORD = r"(?P<memory_id>[\s\S]+?)"
VIEW = r"^summary-views/(?P<view_id>[^/]+)"
RECORD_VERBS = {
    "search": long_term.SearchView,
    "forget": long_term.ForgetView,
    "compact": long_term.CompactView,
}

urlpatterns = [
    re_path(r"^health/?\Z", health.ClockView.as_view()),
    re_path(r"^working-memory/?\Z", working_memory.WorkingMemoriesView.as_view()),
    re_path(rf"^working-memory/{SESSION}/messages/?\Z", working_memory.MessagesView.as_view()),
    re_path(rf"^working-memory/{SESSION}/?\Z", working_memory.WorkingMemoryView.as_view()),
    re_path(r"^long-term-memory/?\Z", long_term.RecordsView.as_view()),
    *(
        re_path(rf"^long-term-memory/{verb}/?\Z", view.as_view(), {"memory_id": verb})
        for verb, view in RECORD_VERBS.items()
    ),
    re_path(rf"^long-term-memory/{RECORD}/?\Z", long_term.RecordView.as_view()),
    re_path(r"^memory/prompt/?\Z", prompting.PromptView.as_view()),
    re_path(r"^summary-views/?\Z", summary_views.SummaryViewsView.as_view()),
    re_path(rf"{VIEW}/?\Z", summary_views.SummaryViewView.as_view()),
    re_path(rf"{VIEW}/partitions/?\Z", summary_views.PartitionsView.as_view()),
    re_path(rf"{VIEW}/partitions/run/?\Z", summary_views.RunPartitionView.as_view()),
    re_path(rf"{VIEW}/run/?\Z", summary_views.RunView.as_view()),
    re_path(r"^tasks/(?P<task_id>[\s\S]+?)/?\Z", tasks.TaskView.as_view()),
]
