"""A turn's messages, with what is remembered."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import assembling_schemas as schemas
from api.native.views import NativeView
from api.views import caller_of, json_body, named_user, query_id, validated
from recall.assembly.assemble import assemble
from recall.assembly.types import PARTS, Assembled, AssembleQuery, Item
from working.types import SessionAddress


class AssembleView(NativeView):
    """`POST /api/v1/assemble`"""

    scopes = {"POST": "read"}  # and `write`, unless nothing is included that is entered in the ledger

    @extend_schema(
        summary="The messages of a turn for a chat API, with what is remembered; nothing is told twice",
        parameters=parameters.USER_OR_NAMESPACE,
        request=schemas.AssembleBody,
        responses=schemas.Assembled,
    )
    def post(self, request: Request) -> Response:
        body = validated(schemas.AssembleBody, json_body(request))
        user_id = named_user(request, body.get("user_id"))
        query = AssembleQuery(
            address=SessionAddress(body["session_id"], user_id, query_id(request, "namespace")),
            text=body["query"],
            agent_id=body.get("agent_id"),
            system=body.get("system"),
            token_budget=body.get("token_budget"),
            dedupe=body.get("dedupe", True),
            include=frozenset(body.get("include", PARTS)),
            environment=body.get("environment"),
            procedures=tuple(body.get("procedures", ())),
        )
        return once(
            request,
            Assembled,
            lambda: assemble(caller=caller_of(request), query=query, now=timezone.now()),
            lambda done: Response(_shown(done)),
        )


def _shown(done: Assembled) -> dict[str, Any]:
    return {
        "messages": done.messages,
        "items": [_item(one) for one in done.items],
        "tokens": done.tokens,
        "stages": [{"name": one.name, "ms": one.ms, "status": one.status} for one in done.stages],
        "query_used": done.query_used,
    }


def _item(one: Item) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "id": one.id,
        "score": one.score,
        "tokens": one.tokens,
        "why": one.why,
        "ledger": one.ledger,
        "included": one.included,
        "count": one.count,
    }
