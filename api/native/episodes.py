"""Episodes and recall."""

from typing import Any

from django.db.models import Model
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import answers, schemas, serializers
from api.native.cursors import page, position_of
from api.native.decision_schemas import Decision
from api.native.decisions import saved_answer
from api.native.episode_schemas import StoredEpisode
from api.native.moments import aware_moment_of
from api.native.views import NativeView, flag, page_size
from api.views import caller_of, json_body, named_user, query_id, validated
from episodic.access import read_episodes
from episodic.models import MemoryType
from episodic.types import EpisodeFilter, NewEpisode
from recall.kinds import recall_kinds
from recall.saving import save_episode
from recall.types import Profile, RecallQuery
from tenants.errors import Invalid

MODES: dict[str, Profile] = {"semantic": "similarity", "keyword": "keyword", "hybrid": "hybrid"}
# The profiles that make something of a number.
KNOBS: dict[str, tuple[Profile, ...]] = {"alpha": ("fused",), "decay": ("fused", "hybrid", "keyword")}


class EpisodesView(NativeView):
    """`/api/v1/episodes`"""

    scopes = {"GET": "read", "POST": "write"}

    @extend_schema(
        operation_id="episodes_list",
        summary="Episodes, newest first",
        parameters=[*parameters.LIST, *parameters.OWNERS, *parameters.OF_EPISODES],
        responses=schemas.EpisodePage,
    )
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        where = EpisodeFilter(
            user_id=query_id(request, "user_id"),
            agent_id=query_id(request, "agent_id"),
            project=query_id(request, "project"),
            session_id=query_id(request, "session_id"),
            namespace=query_id(request, "namespace"),
            memory_types=_memory_types(request),
            **_validity(request),
        )
        found = read_episodes(
            caller=caller_of(request), where=where, limit=limit + 1, before=position_of(request)
        )
        return Response(
            page(found, limit, moment=lambda one: one.episode.created_at, show=answers.read_episode)
        )

    @extend_schema(
        summary="Store an episode",
        parameters=[parameters.BODY_USER],
        request=serializers.NewEpisodeBody,
        responses={201: StoredEpisode, 202: Decision},
    )
    def post(self, request: Request) -> Response:
        body = validated(serializers.NewEpisodeBody, json_body(request))
        new = NewEpisode(
            text=body["text"],
            user_id=named_user(request, body.get("user_id")),
            agent_id=body.get("agent_id"),
            session_id=body.get("session_id") or "",
            memory_type=body.get("memory_type", MemoryType.EPISODIC),
            topics=tuple(body.get("topics", ())),
            entities=tuple(body.get("entities", ())),
            outcome=body.get("outcome", ""),
            event_date=body.get("event_date"),
            valid_from=body.get("valid_from"),
            covers_turns=_span(body.get("covers_turns")),
            metadata=body.get("metadata", {}),
        )
        return once(
            request,
            Model,
            lambda: save_episode(caller=caller_of(request), new=new, now=timezone.now()),
            saved_answer,
        )


class RecallView(NativeView):
    """`POST /api/v1/recall`"""

    scopes = {"POST": "read"}

    @extend_schema(
        summary="What is remembered about this?",
        parameters=[parameters.BODY_USER],
        request=serializers.RecallBody,
        responses=schemas.RecallAnswer,
    )
    def post(self, request: Request) -> Response:
        body = validated(serializers.RecallBody, json_body(request))
        where = EpisodeFilter(
            user_id=named_user(request, body.get("user_id")),
            agent_id=body.get("agent_id"),
            project=body.get("project"),
            session_id=body.get("session_id"),
            memory_types=tuple(body.get("memory_type", ())),
            topics=tuple(body.get("topics", ())),
            since=body.get("since"),
            until=body.get("until"),
            as_of=body.get("as_of"),
        )
        query = RecallQuery(
            text=body["query"],
            where=where,
            top_k=body.get("top_k"),
            profile=_profile(body),
            alpha=body.get("alpha"),
            decay=body.get("decay"),
            mmr=body.get("mmr"),
        )
        kinds = body.get("kinds", ["episode"])
        found = recall_kinds(
            caller=caller_of(request),
            query=query,
            kinds=kinds,
            now=timezone.now(),
            counted=body.get("count_access", True),
        )
        return Response(answers.recalled(found, explain=body.get("explain", False)))


def _span(turns: list[int] | None) -> tuple[int, int] | None:
    return None if turns is None else (turns[0], turns[1])


def _profile(body: dict[str, Any]) -> Profile | None:
    """`alpha` is a weight of the fused ranking: who sets it asks for that. Raises Invalid for two names, and
    for a number that the named ranking does without."""
    profile: Profile | None = body.get("profile")
    mode = MODES.get(body.get("mode", ""))
    if profile and mode and profile != mode:
        raise Invalid("Names another ranking than the profile.", "mode")
    named = profile or mode
    for number, knowing in KNOBS.items():
        if named and named not in knowing and body.get(number) is not None:
            raise Invalid(f"Is none of the profile {named}: it has no {number}.", number)
    return named or ("fused" if body.get("alpha") is not None else None)


def _validity(request: Request) -> dict[str, Any]:
    """The moment that is asked about, or whether all that ever held are."""
    as_of, history = aware_moment_of(query_id(request, "as_of"), "as_of"), bool(flag(request, "history"))
    if as_of is not None and history:
        raise Invalid("Either what held then, or all that ever held.", "history")
    return {"as_of": as_of, "history": history}


def _memory_types(request: Request) -> tuple[str, ...]:
    given = tuple(request.query_params.getlist("memory_type"))
    unknown = set(given) - set(MemoryType.values)
    if unknown:
        raise Invalid(f"Must be one of {', '.join(MemoryType.values)}.", "memory_type")
    return given
