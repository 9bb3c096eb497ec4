"""Observations: saved, read, changed, deleted."""

from functools import partial

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.agentops import answers, parameters, schemas
from api.agentops.reading import read_members
from api.agentops.views import AgentOpsView, number_in_query, observation_number, text_in_query
from api.idempotency import once
from api.views import caller_of
from observations.editing import edit_observation
from observations.models import Observation
from observations.observations import access_observation, recent_observations
from observations.saving import save_observation
from observations.trash import Deleted, delete_observation
from observations.types import Changes, NewObservation, ObservationFilter, Saved


class ObservationsView(AgentOpsView):
    """`/observations`"""

    scopes = {"POST": "write"}

    @extend_schema(
        operation_id="agentops_save_observation",
        summary="Save an observation: over its topic, onto its duplicate, or as a new one",
        request=schemas.AgentOpsNewObservation,
        responses={201: schemas.AgentOpsSaved},
    )
    def post(self, request: Request) -> Response:
        body = read_members(request)
        new = NewObservation(
            session_id=body.text("session_id"),
            type=body.text("type"),
            title=body.text("title"),
            content=body.text("content"),
            project=body.text("project"),
            scope=body.text("scope"),
            topic_key=body.text("topic_key"),
            tags=body.texts("tags") or (),
        )
        save = partial(save_observation, caller=caller_of(request), new=new, now=timezone.now())
        return once(request, Saved, save, lambda done: Response(answers.saved(done), status=201))


class RecentObservationsView(AgentOpsView):
    """`/observations/recent`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="agentops_recent_observations",
        summary="A project's observations, newest first, with the global ones of all projects",
        parameters=[parameters.PROJECT, parameters.TYPE, parameters.SCOPE, parameters.limit(20)],
        responses=schemas.AgentOpsObservation(many=True),
    )
    def get(self, request: Request) -> Response:
        where = ObservationFilter(
            project=text_in_query(request, "project"),
            type=text_in_query(request, "type"),
            scope=text_in_query(request, "scope"),
        )
        limit = number_in_query(request, "limit", 20)
        found = recent_observations(caller=caller_of(request), where=where, limit=limit)
        return Response([answers.observation(one) for one in found])


class ObservationView(AgentOpsView):
    """`/observations/{observation_id}`"""

    scopes = {"GET": "read", "PATCH": "write", "DELETE": "write"}

    @extend_schema(
        operation_id="agentops_observation",
        summary="An observation",
        responses=schemas.AgentOpsObservation,
    )
    def get(self, request: Request, observation_id: str) -> Response:
        number = observation_number(observation_id)
        return Response(
            answers.observation(access_observation(caller=caller_of(request), observation_id=number))
        )

    @extend_schema(
        operation_id="agentops_change_observation",
        summary="Change an observation; what it said before is kept",
        request=schemas.AgentOpsChanges,
        responses=schemas.AgentOpsObservation,
    )
    def patch(self, request: Request, observation_id: str) -> Response:
        number, body = observation_number(observation_id), read_members(request)
        changes = Changes(
            type=body.optional_text("type"),
            title=body.optional_text("title"),
            content=body.optional_text("content"),
            tags=body.texts("tags"),
        )
        edit = partial(
            edit_observation,
            caller=caller_of(request),
            observation_id=number,
            changes=changes,
            now=timezone.now(),
        )
        return once(request, Observation, edit, lambda done: Response(answers.observation(done)))

    @extend_schema(
        operation_id="agentops_delete_observation",
        summary="Move an observation to the trash, or delete it for good",
        parameters=[parameters.HARD],
        responses={204: None, 200: schemas.AgentOpsDeleted},
    )
    def delete(self, request: Request, observation_id: str) -> Response:
        delete = partial(
            delete_observation,
            caller=caller_of(request),
            observation_id=observation_number(observation_id),
            hard=text_in_query(request, "hard") == "true",
            now=timezone.now(),
        )
        return once(request, Deleted, delete, lambda _done: _deleted())


def _deleted() -> Response:
    """There is nothing to tell, but some clients read JSON whatever the status."""
    return Response({"ok": True}) if settings.AGENTOPS_DELETE_BODY else Response(status=204)
