"""What is remembered: search, context, timeline, figures."""

from typing import Any, get_args

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.agentops import answers, errors, parameters, schemas
from api.agentops.views import LARGEST_ID, AgentOpsView, free_text_in_query, number_in_query, text_in_query
from api.errors import Problem
from api.views import caller_of, checked_id
from observations.figures import read_figures
from observations.search import search_observations
from observations.timeline import read_timeline
from observations.types import MatchMode, ObservationFilter
from recall.context import ContextQuery, fetch_context
from tenants.errors import Invalid

MATCH_MODES: dict[str, MatchMode] = {mode: mode for mode in get_args(MatchMode)}


class SearchView(AgentOpsView):
    """`/search`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="Observations that answer to words or a question, best first",
        parameters=[
            parameters.Q,
            parameters.PROJECT,
            parameters.TYPE,
            parameters.SCOPE,
            parameters.limit(10),
            parameters.MATCH_MODE,
        ],
        responses=schemas.AgentOpsHit(many=True),
    )
    def get(self, request: Request) -> Response:
        where = ObservationFilter(
            project=text_in_query(request, "project"),
            type=text_in_query(request, "type"),
            scope=text_in_query(request, "scope"),
        )
        found = search_observations(
            caller=caller_of(request),
            text=free_text_in_query(request, "q"),
            where=where,
            limit=number_in_query(request, "limit", 10),
            mode=_match_mode(request),
        )
        return Response([answers.hit(one) for one in found])


class ContextView(AgentOpsView):
    """`/context`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="What an agent should know at its next turn",
        parameters=[
            parameters.PROJECT,
            parameters.SCOPE,
            parameters.QUERY,
            parameters.CONTEXT_LIMIT,
            parameters.SESSION_ID,
            parameters.DEDUPE,
            parameters.FORMAT,
        ],
        responses={(200, "application/json"): schemas.AgentOpsContext, (200, "text/plain"): str},
    )
    def get(self, request: Request) -> Response | HttpResponse:
        session_id = text_in_query(request, "session_id")
        query = ContextQuery(
            project=text_in_query(request, "project"),
            text=free_text_in_query(request, "query"),
            scope=text_in_query(request, "scope") or None,
            limit=number_in_query(request, "limit", 0) or None,
            session_id=checked_id(session_id, "session_id") if session_id else None,
            dedupe=text_in_query(request, "dedupe") == "true",
        )
        found = fetch_context(caller=caller_of(request), query=query, now=timezone.now())
        if text_in_query(request, "format") == "text":
            return HttpResponse(found.render(), content_type="text/plain; charset=utf-8")
        return Response(answers.context(found))


class TimelineView(AgentOpsView):
    """`/timeline`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="What was noted before and after an observation, oldest first",
        parameters=[parameters.OBSERVATION_ID, parameters.BEFORE, parameters.AFTER],
        responses=schemas.AgentOpsNeighbour(many=True),
    )
    def get(self, request: Request) -> Response:
        found = read_timeline(
            caller=caller_of(request),
            observation_id=_anchor(request),
            before=number_in_query(request, "before", 3),
            after=number_in_query(request, "after", 3),
        )
        return Response([answers.neighbour(one) for one in found])

    def shape(self, problem: Problem) -> Any:
        if problem.status != 404:
            return errors.shape(problem)
        # The sentence of the original, which names its store: clients may look for it.
        return {"error": f"observation {_anchor(self.request)} not found: sql: no rows in result set"}


class StatsView(AgentOpsView):
    """`/stats`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="How many sessions and observations there are, and every project",
        parameters=[parameters.PROJECT],
        responses=schemas.AgentOpsStats,
    )
    def get(self, request: Request) -> Response:
        found = read_figures(caller=caller_of(request), project=text_in_query(request, "project"))
        return Response(
            {
                "total_sessions": found.sessions,
                "total_observations": found.observations,
                "projects": found.projects,
            }
        )


def _match_mode(request: Request) -> MatchMode | None:
    given = text_in_query(request, "match_mode")
    if given and given not in MATCH_MODES:
        raise Invalid(f"Must be one of {', '.join(MATCH_MODES)}.", "match_mode")
    return MATCH_MODES.get(given)


def _anchor(request: Request) -> int:
    number = number_in_query(request, "observation_id", 0, most=LARGEST_ID + 1)
    if not 0 < number <= LARGEST_ID:
        raise Invalid("observation_id required")
    return number
