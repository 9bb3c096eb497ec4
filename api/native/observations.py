"""Observations: found by what they are, with their history and the trash."""

from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import observation_schemas
from api.native.cursors import numbered_position_of, page
from api.native.moments import moment_of
from api.native.views import NativeView, page_size, whole_number
from api.views import caller_of, checked_id, query_id
from observations.editing import list_revisions
from observations.models import Observation, ObservationRevision
from observations.observations import access_observation, list_observations
from observations.trash import restore_observation
from observations.types import ObservationFilter
from tenants.errors import Invalid, NotFound

LARGEST_ID = 2**63 - 1
LARGEST_REVISION = 2**31 - 1
STATES = ("live", "trash")

TYPE = OpenApiParameter("type", parameters.LONGEST, description="Only of this type.")
SCOPE = OpenApiParameter(
    "scope", parameters.LONGEST, description="Only of this scope: `project`, `global` or another."
)
PROJECT = OpenApiParameter(
    "project", parameters.LONGEST, description="Only of this project, in any case, or global."
)
TAG = OpenApiParameter("tag", str, many=True, description="Only with this tag; repeated, with all of them.")
SINCE = OpenApiParameter("since", datetime, description="Only those made then or later.")
UNTIL = OpenApiParameter("until", datetime, description="Only those made then or earlier.")
STATE = OpenApiParameter(
    "state", str, enum=STATES, default="live", description="`trash`: deleted ones, those deleted last first."
)
REVISION_CURSOR = OpenApiParameter(
    "cursor",
    {"type": "integer", "minimum": 1, "maximum": LARGEST_REVISION},
    description="Only revisions before this number: `next` of the answer before.",
)
FILTERS = [PROJECT, TYPE, SCOPE, parameters.USER, parameters.OF_SESSION, TAG, SINCE, UNTIL, STATE]


class ObservationsView(NativeView):
    """`/api/v1/observations`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="observations_list",
        summary="Observations, newest first",
        parameters=[*parameters.LIST, *FILTERS],
        responses=observation_schemas.ObservationPage,
    )
    def get(self, request: Request) -> Response:
        limit, trashed = page_size(request), _is_trash(request)
        found = list_observations(
            caller=caller_of(request),
            where=_filter(request),
            limit=limit + 1,
            before=numbered_position_of(request),
            trashed=trashed,
        )
        moment = _deleted_at if trashed else _created_at
        return Response(page(found, limit, moment=moment, show=_shown))


class ObservationView(NativeView):
    """`/api/v1/observations/{observation_id}`"""

    scopes = {"GET": "read"}

    @extend_schema(summary="An observation", responses=observation_schemas.Observation)
    def get(self, request: Request, observation_id: str) -> Response:
        number = _named(observation_id)
        return Response(_shown(access_observation(caller=caller_of(request), observation_id=number)))


class RevisionsView(NativeView):
    """`/api/v1/observations/{observation_id}/revisions`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="What an observation said before each change, newest first",
        parameters=[parameters.LIMIT, REVISION_CURSOR],
        responses=observation_schemas.ObservationRevisionPage,
    )
    def get(self, request: Request, observation_id: str) -> Response:
        limit = page_size(request)
        found = list_revisions(
            caller=caller_of(request),
            observation_id=_named(observation_id),
            limit=limit + 1,
            before=whole_number(request, "cursor", None, maximum=LARGEST_REVISION),
        )
        following = str(found[limit - 1].number) if len(found) > limit else None
        return Response({"results": [_revision(one) for one in found[:limit]], "next": following})


class RestoreView(NativeView):
    """`/api/v1/observations/{observation_id}/restore`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Bring an observation back from the trash",
        request=None,
        responses=observation_schemas.Observation,
    )
    def post(self, request: Request, observation_id: str) -> Response:
        restore = partial(
            restore_observation,
            caller=caller_of(request),
            observation_id=_named(observation_id),
            now=timezone.now(),
        )
        return once(request, Observation, restore, lambda done: Response(_shown(done)))


def _filter(request: Request) -> ObservationFilter:
    return ObservationFilter(
        project=query_id(request, "project"),
        type=query_id(request, "type"),
        scope=query_id(request, "scope"),
        user_id=query_id(request, "user_id"),
        session_id=query_id(request, "session_id"),
        tags=tuple(checked_id(tag, "tag") for tag in request.query_params.getlist("tag")),
        since=moment_of(query_id(request, "since"), "since"),
        until=moment_of(query_id(request, "until"), "until"),
    )


def _is_trash(request: Request) -> bool:
    state = request.query_params.get("state")
    if state is not None and state not in STATES:
        raise Invalid(f"Must be one of {', '.join(STATES)}.", "state")
    return state == "trash"


def _named(observation_id: str) -> int:
    """The number in the path. Raises NotFound for what cannot be one."""
    is_number = observation_id.isascii() and observation_id.isdecimal() and len(observation_id) <= 19
    if not is_number or int(observation_id) > LARGEST_ID:
        raise NotFound("observation not found")
    return int(observation_id)


def _created_at(one: Observation) -> datetime:
    return one.created_at


def _deleted_at(one: Observation) -> datetime:
    return one.deleted_at or one.created_at  # in the trash, it has one


def _shown(one: Observation) -> dict[str, Any]:
    return {
        "id": one.id,
        "user_id": one.user_id or None,
        "agent_id": one.agent_id or None,
        "project": one.project,
        "session_id": one.session or None,
        "scope": one.scope,
        "type": one.type,
        "title": one.title,
        "content": one.content,
        "tags": one.tags,
        "topic_key": one.topic_key or None,
        "revision_count": one.revision_count,
        "duplicate_count": one.duplicate_count,
        "last_seen_at": one.last_seen_at,
        "promoted_to": one.promoted_to or None,
        "embedded": not one.embed_pending,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "deleted_at": one.deleted_at,
    }


def _revision(one: ObservationRevision) -> dict[str, Any]:
    return {
        "number": one.number,
        "type": one.type,
        "title": one.title,
        "content": one.content,
        "tags": one.tags,
        "replaced_at": one.replaced_at,
        "replaced_by": one.replaced_by,
    }
