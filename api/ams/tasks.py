"""What has become of work that a client has asked for."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.ams import view_schemas
from api.ams.views import AmsView
from api.errors import Problem
from api.views import caller_of
from recall.summary_views import ViewTask, access_task
from tenants.models import JobState

TYPE = "summary_view_full_run"
STATUSES = {
    JobState.QUEUED: "pending",
    JobState.RUNNING: "running",
    JobState.DONE: "success",
    JobState.FAILED: "failed",
}


class TaskView(AmsView):
    """`/v1/tasks/{task_id}`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="v1_get_task",
        summary="What has become of a run of a summary view",
        responses=view_schemas.Task,
    )
    def get(self, request: Request, task_id: str) -> Response:
        return Response(shown(access_task(caller=caller_of(request), task_id=task_id)))

    def shape(self, problem: Problem) -> Any:
        if problem.status == 404:
            return {"detail": f"Task {self.kwargs['task_id']} not found"}
        return super().shape(problem)


def shown(task: ViewTask) -> dict[str, Any]:
    """The task as it stands. One that waits to be tried again is still running."""
    run, job = task.run, task.job
    status = STATUSES[JobState(job.state)]
    if status == "pending" and run.started_at is not None:
        status = "running"
    return {
        "id": run.task_id,
        "type": TYPE,
        "status": status,
        "view_id": str(run.view_id),
        "created_at": run.created_at,
        "started_at": run.started_at,
        "completed_at": job.finished_at,
        "error_message": job.error or None if status == "failed" else None,
    }
