"""Summary views: made, listed, deleted, run; and the summaries that there are."""

from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.ams import answers, parameters, view_bodies, view_schemas
from api.ams.errors import BadRequest, refused
from api.ams.reading import body_as, text_in_query
from api.ams.schemas import Done
from api.ams.tasks import shown as task_shown
from api.ams.views import AmsView
from api.errors import Problem
from api.idempotency import once
from api.views import caller_of
from episodic.models import SummaryPartition, SummaryView
from episodic.summary_partitions import list_partitions
from episodic.summary_views import (
    DeletedView,
    NewView,
    OtherGroup,
    access_view,
    create_view,
    delete_view,
    list_views,
)
from recall.partitions import run_partition
from recall.summary_views import ViewTask, run_view

ONLY_LONG_TERM = "Only source 'long_term' is supported"


class SummaryViewsView(AmsView):
    """`/v1/summary-views`"""

    scopes = {"GET": "read", "POST": "write"}

    @extend_schema(
        operation_id="v1_list_summary_views",
        summary="Summary views, newest first",
        responses={200: view_schemas.Views},
    )
    def get(self, request: Request) -> Response:
        return Response([_view(one) for one in list_views(caller=caller_of(request))])

    @extend_schema(
        operation_id="v1_create_summary_view",
        summary="Say which records are to be summarised, and by what they are grouped",
        request=view_bodies.NewView,
        responses={200: view_schemas.View},
    )
    def post(self, request: Request) -> Response:
        new = _given(body_as(request, view_bodies.NewView))
        create = partial(create_view, caller=caller_of(request), new=new, now=timezone.now())
        return once(request, SummaryView, create, lambda view: Response(_view(view)))


class OfViewView(AmsView):
    """A view of one summary view."""

    def shape(self, problem: Problem) -> Any:
        if problem.status == 404:
            return {"detail": f"Summary view {self.kwargs['view_id']} not found"}
        return super().shape(problem)


class SummaryViewView(OfViewView):
    """`/v1/summary-views/{view_id}`"""

    scopes = {"GET": "read", "DELETE": "write"}

    @extend_schema(operation_id="v1_get_summary_view", summary="A summary view", responses=view_schemas.View)
    def get(self, request: Request, view_id: str) -> Response:
        return Response(_view(access_view(caller=caller_of(request), view_id=view_id)))

    @extend_schema(
        operation_id="v1_delete_summary_view",
        summary="Delete a view with its summaries",
        responses={200: Done},
    )
    def delete(self, request: Request, view_id: str) -> Response:
        delete = partial(delete_view, caller=caller_of(request), view_id=view_id)
        return once(request, DeletedView, delete, lambda _done: Response(answers.OK))


class PartitionsView(OfViewView):
    """`/v1/summary-views/{view_id}/partitions`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="v1_list_summaries",
        summary="The summaries of a view, those made last first",
        parameters=parameters.OF_GROUP,
        responses={200: view_schemas.Partitions},
    )
    def get(self, request: Request, view_id: str) -> Response:
        named = {
            "user_id": text_in_query(request, "user_id"),
            "namespace": text_in_query(request, "namespace"),
            "session_id": text_in_query(request, "session_id"),
            "memory_type": text_in_query(request, "memory_type"),
        }
        where = {name: value for name, value in named.items() if value is not None}
        found = list_partitions(caller=caller_of(request), view_id=view_id, where=where)
        return Response([_partition(one) for one in found])


class RunPartitionView(OfViewView):
    """`/v1/summary-views/{view_id}/partitions/run`"""

    scopes = {"POST": "write"}

    @extend_schema(
        operation_id="v1_run_summary",
        summary="Make the summary of one group",
        request=view_bodies.RunPartition,
        responses={200: view_schemas.Partition},
    )
    def post(self, request: Request, view_id: str) -> Response:
        body = body_as(request, view_bodies.RunPartition)
        run = partial(
            run_partition,
            caller=caller_of(request),
            view_id=view_id,
            group=body.group,
            now=timezone.now(),
        )
        return once(request, SummaryPartition, run, lambda made: Response(_partition(made)))

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, OtherGroup):
            return Response({"detail": str(exc)}, status=400)
        return super().handle_exception(exc)


class RunView(OfViewView):
    """`/v1/summary-views/{view_id}/run`"""

    scopes = {"POST": "write"}

    @extend_schema(
        operation_id="v1_run_summary_view",
        summary="Have the summaries of all groups made by a task",
        request=view_bodies.RunView,
        responses={200: view_schemas.Task},
    )
    def post(self, request: Request, view_id: str) -> Response:
        body = body_as(request, view_bodies.RunView)
        run = partial(
            run_view,
            caller=caller_of(request),
            view_id=view_id,
            force=body.force,
            task_id=body.task_id,
            now=timezone.now(),
        )
        return once(request, ViewTask, run, lambda task: Response(task_shown(task)))


def _given(sent: view_bodies.NewView) -> NewView:
    if sent.source != "long_term":
        raise BadRequest(ONLY_LONG_TERM)
    filters = {name: value for name, value in (sent.filters or {}).items() if value is not None}
    try:
        tests = view_bodies.ViewFilters.model_validate(filters).field_tests()
    except ValidationError as error:
        raise refused(error, "body", "filters") from error
    return NewView(
        name=sent.name or "",
        group_by=tuple(sent.group_by),
        filters=filters,
        tests=tuple(tests),
        time_window_days=sent.time_window_days,
        continuous=bool(sent.continuous),
        prompt=sent.prompt or "",
        model_name=sent.model_name or "",
    )


def _view(one: SummaryView) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "name": one.name or None,
        "source": one.source,
        "group_by": one.group_by,
        "filters": one.filters,
        "time_window_days": one.time_window_days,
        "continuous": one.continuous,
        "prompt": one.prompt or None,
        "model_name": one.model_name or None,
    }


def _partition(one: SummaryPartition) -> dict[str, Any]:
    return {
        "view_id": str(one.view_id),
        "group": one.group,
        "summary": one.summary,
        "memory_count": one.memory_count,
        "empty": one.memory_count == 0,
        "empty_reason": one.empty_reason or None,
        "computed_at": one.computed_at,
    }
