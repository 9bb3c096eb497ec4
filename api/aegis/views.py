"""AEGIS: working memory, episodic memory, injection ledger."""

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.aegis import answers, errors, schemas, serializers
from api.errors import Problem
from api.idempotency import once
from api.views import DialectView, caller_of, json_body, named_user, query_id, session_address, validated
from episodic.episodes import list_episodes, store_episode
from episodic.models import Episode
from episodic.types import EpisodeFilter, NewEpisode
from ledger import injections
from recall.recall import recall
from recall.types import RecallQuery
from working import memory
from working.types import SessionAddress


class AegisView(DialectView):
    """A view of this dialect."""

    def shape(self, problem: Problem) -> Any:
        return errors.shape(problem)


class WorkingMemoryView(AegisView):
    """`/working-memory/{conversation_id}`"""

    scopes = {"GET": "read", "PUT": "write", "DELETE": "write"}

    @extend_schema(
        summary="All fields of the conversation",
        parameters=[*parameters.SESSION, parameters.ENVELOPE],
        responses={200: schemas.FIELDS_OR_ENVELOPE},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        envelope = request.query_params.get("envelope") == "1"
        found = memory.read_fields(
            caller=caller_of(request),
            address=_address(request, conversation_id),
            now=timezone.now(),
            measure=envelope,
        )
        if envelope:
            return Response(answers.envelope(conversation_id, found))
        return Response(found.data if found else {})

    @extend_schema(
        summary="Merge fields",
        parameters=parameters.SESSION,
        request=serializers.PutWorkingMemory,
        responses=schemas.AegisEnvelope,
    )
    def put(self, request: Request, conversation_id: str) -> Response:
        body = validated(serializers.PutWorkingMemory, json_body(request))
        written = memory.put_fields(
            caller=caller_of(request),
            address=_address(request, conversation_id),
            data=body["data"],
            ttl_seconds=body.get("ttl_seconds"),
            now=timezone.now(),
        )
        return Response(answers.envelope(conversation_id, written))

    @extend_schema(
        summary="Delete fields, or all",
        parameters=[*parameters.SESSION, parameters.FIELDS],
        request=serializers.DeleteFields,
        responses={200: schemas.AegisDeletedFields},
    )
    def delete(self, request: Request, conversation_id: str) -> Response:
        deleted = memory.delete_fields(
            caller=caller_of(request),
            address=_address(request, conversation_id),
            names=_fields_to_delete(request),
            now=timezone.now(),
        )
        return Response({"conversation_id": conversation_id, "deleted": deleted})


class ConversationView(AegisView):
    """`GET /episodic/{conversation_id}`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="The memories of a conversation, oldest first",
        parameters=parameters.SESSION,
        responses=schemas.AegisConversation,
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        address = _address(request, conversation_id)
        where = EpisodeFilter(
            session_id=address.session_id, user_id=address.user_id, namespace=address.namespace
        )
        found = list_episodes(
            caller=caller_of(request), where=where, limit=answers.MOST_MEMORIES, oldest_first=True
        )
        memories = [answers.episode(one) for one in found]
        return Response({"conversation_id": conversation_id, "memories": memories, "total": len(memories)})


@extend_schema_view(get=extend_schema(exclude=True))
class StoreView(ConversationView):
    """`POST /episodic/store`; `GET` is about the conversation of that name."""

    scopes = {"POST": "write", "GET": "read"}

    @extend_schema(
        summary="Store a summary",
        parameters=parameters.USER_OR_NAMESPACE,
        request=serializers.StoreEpisode,
        responses=schemas.AegisEpisode,
    )
    def post(self, request: Request, conversation_id: str) -> Response:
        body = validated(serializers.StoreEpisode, json_body(request))
        new = NewEpisode(
            text=body["summary"],
            agent_id=body["agent_id"],
            user_id=named_user(request, body.get("user_id")),
            namespace=query_id(request, "namespace") or "",
            session_id=body["conversation_id"],
            key_decisions=body.get("key_decisions"),
            entities_mentioned=body.get("entities_mentioned"),
            tools_called=body.get("tools_called"),
        )
        return once(
            request,
            Episode,
            lambda: store_episode(caller=caller_of(request), new=new, now=timezone.now()),
            lambda stored: Response(answers.episode(stored)),
        )


@extend_schema_view(get=extend_schema(exclude=True))
class SearchView(ConversationView):
    """`POST /episodic/search`; `GET` is about the conversation of that name."""

    scopes = {"POST": "read", "GET": "read"}

    @extend_schema(
        summary="Search by meaning",
        parameters=[*parameters.USER_OR_NAMESPACE, parameters.FORMAT],
        request=serializers.SearchEpisodes,
        responses={
            (200, "application/json"): schemas.AegisHits,
            (200, "text/plain"): str,
        },
    )
    def post(self, request: Request, conversation_id: str) -> Response | HttpResponse:
        body = validated(serializers.SearchEpisodes, json_body(request))
        query = RecallQuery(
            text=body["query"],
            where=EpisodeFilter(
                agent_id=body["agent_id"],
                user_id=named_user(request, body.get("user_id")),
                namespace=query_id(request, "namespace"),
            ),
            top_k=body.get("top_k") or body.get("limit") or body.get("k") or 3,
            profile="similarity",
        )
        found = recall(caller=caller_of(request), query=query)
        if request.query_params.get("format") == "text":
            return HttpResponse(answers.text(found.hits), content_type="text/plain; charset=utf-8")
        return Response({"results": [answers.hit(one) for one in found.hits], "total": len(found.hits)})


class LedgerView(AegisView):
    """`/ledger/{conversation_id}`"""

    scopes = {"GET": "read", "DELETE": "write"}

    @extend_schema(
        summary="Everything injected so far",
        parameters=parameters.SESSION,
        responses={200: schemas.LEDGER_ITEMS},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        address = _address(request, conversation_id)
        return Response(injections.read_items(caller=caller_of(request), address=address, now=timezone.now()))

    @extend_schema(
        summary="Forget everything injected",
        parameters=parameters.SESSION,
        responses={200: schemas.AegisDeleted},
    )
    def delete(self, request: Request, conversation_id: str) -> Response:
        address = _address(request, conversation_id)
        clear = partial(
            injections.clear_ledger, caller=caller_of(request), address=address, now=timezone.now()
        )
        told = {"conversation_id": conversation_id}
        return once(request, int, clear, lambda count: Response({**told, "deleted": count}))


class LedgerVerbView(LedgerView):
    """`POST` acts on an item; to `GET` and `DELETE`, the verb is the end of an id with a slash in it."""

    verb = ""

    @extend_schema(exclude=True)
    def get(self, request: Request, conversation_id: str) -> Response:
        return super().get(request, f"{conversation_id}/{self.verb}")

    @extend_schema(exclude=True)
    def delete(self, request: Request, conversation_id: str) -> Response:
        return super().delete(request, f"{conversation_id}/{self.verb}")


class LedgerCheckView(LedgerVerbView):
    """`POST /ledger/{conversation_id}/check`"""

    verb = "check"
    scopes = LedgerView.scopes | {"POST": "read"}

    @extend_schema(
        summary="Was it injected?",
        parameters=parameters.SESSION,
        request=serializers.LedgerItem,
        responses=schemas.LedgerChecked,
    )
    def post(self, request: Request, conversation_id: str) -> Response:
        item_key = validated(serializers.LedgerItem, json_body(request))["item_key"]
        value = injections.check_item(
            caller=caller_of(request),
            address=_address(request, conversation_id),
            item_key=item_key,
            now=timezone.now(),
        )
        known = value is not None
        answer = {"injected": known, "exists": known, "value": value}
        return Response({"conversation_id": conversation_id, "item_key": item_key, **answer})


class LedgerMarkView(LedgerVerbView):
    """`POST /ledger/{conversation_id}/mark`"""

    verb = "mark"
    scopes = LedgerView.scopes | {"POST": "write"}

    @extend_schema(
        summary="It was injected",
        parameters=parameters.SESSION,
        request=serializers.LedgerMark,
        responses=schemas.LedgerMarked,
    )
    def post(self, request: Request, conversation_id: str) -> Response:
        body = validated(serializers.LedgerMark, json_body(request))
        mark = partial(
            injections.mark_item,
            caller=caller_of(request),
            address=_address(request, conversation_id),
            item_key=body["item_key"],
            value=body["value"],
            now=timezone.now(),
        )
        told = {"conversation_id": conversation_id, **body, "marked": True}
        return once(request, bool, mark, lambda created: Response({**told, "created": created}))


class LedgerClaimView(LedgerVerbView):
    """`POST /ledger/{conversation_id}/claim`"""

    verb = "claim"
    scopes = LedgerView.scopes | {"POST": "write"}

    @extend_schema(
        summary="Let one of several inject it",
        parameters=parameters.SESSION,
        request=serializers.LedgerMark,
        responses=schemas.LedgerClaimed,
    )
    def post(self, request: Request, conversation_id: str) -> Response:
        body = validated(serializers.LedgerMark, json_body(request))
        claim = partial(
            injections.claim_item,
            caller=caller_of(request),
            address=_address(request, conversation_id),
            item_key=body["item_key"],
            value=body["value"],
            now=timezone.now(),
        )
        return once(request, bool, claim, lambda claimed: Response({"claimed": claimed}))


class LedgerEvictView(LedgerVerbView):
    """`POST /ledger/{conversation_id}/evict`"""

    verb = "evict"
    scopes = LedgerView.scopes | {"POST": "write"}

    @extend_schema(
        summary="Allow it to be injected again",
        parameters=parameters.SESSION,
        request=serializers.LedgerItem,
        responses=schemas.LedgerEvicted,
    )
    def post(self, request: Request, conversation_id: str) -> Response:
        item_key = validated(serializers.LedgerItem, json_body(request))["item_key"]
        evict = partial(
            injections.evict_item,
            caller=caller_of(request),
            address=_address(request, conversation_id),
            item_key=item_key,
            now=timezone.now(),
        )
        told = {"conversation_id": conversation_id, "item_key": item_key}
        return once(request, bool, evict, lambda evicted: Response({**told, "evicted": evicted}))


def _address(request: Request, conversation_id: str) -> SessionAddress:
    return session_address(request, conversation_id, longest=serializers.LONGEST_ID)


def _fields_to_delete(request: Request) -> list[str] | None:
    """None: all. From the body or, where it names none, from the query: proxies drop the body of a DELETE."""
    body = json_body(request)
    fields = None if body is None else validated(serializers.DeleteFields, body).get("fields")
    return request.query_params.getlist("fields") or None if fields is None else fields
