"""A question with what is remembered around it, as messages for a language model."""

from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.ams import parameters, record_answers, schemas
from api.ams.errors import BadRequest
from api.ams.long_term import DISABLED
from api.ams.reading import body_as, flag
from api.ams.search_bodies import Prompt, PromptSession
from api.ams.views import AmsView
from api.views import caller_of
from recall.long_term import RecordQuery
from recall.long_term_prompt import PromptMessage, SessionPart, memory_prompt
from recall.working_memory import WindowSize
from working.types import SessionAddress

NOTHING = "Either session or long_term_search must be provided"


class PromptView(AmsView):
    """`/v1/memory/prompt`"""

    scopes = {"POST": "read"}

    @extend_schema(
        operation_id="v1_memory_prompt",
        summary="A question with what is remembered around it, as messages for a language model",
        parameters=[parameters.OPTIMIZE],
        request=Prompt,
        responses=schemas.Prompted,
    )
    def post(self, request: Request) -> Response:
        body = body_as(request, Prompt)
        session, search = _session(body.session), _search(body, optimize=flag(request, "optimize_query"))
        if session is None and search is None:
            raise BadRequest(NOTHING)
        found = memory_prompt(
            caller=caller_of(request), query=body.query, session=session, search=search, now=timezone.now()
        )
        told = found.long_term_memories
        return Response(
            {
                "messages": [_message(one) for one in found.messages],
                "long_term_memories": None if told is None else [record_answers.result(one) for one in told],
            }
        )


def _session(sent: PromptSession | None) -> SessionPart | None:
    if sent is None:
        return None
    return SessionPart(
        address=SessionAddress(sent.session_id, sent.user_id or None, sent.namespace or None),
        window=WindowSize(sent.model_name or None, sent.context_window_max),
    )


def _search(sent: Prompt, *, optimize: bool | None) -> RecordQuery | None:
    if sent.long_term_search is None:
        return None
    if not settings.LONG_TERM_MEMORY:
        raise BadRequest(DISABLED)
    return sent.long_term_search.query(optimize=bool(optimize))


def _message(one: PromptMessage) -> dict[str, Any]:
    content = {"type": "text", "text": one.text, "annotations": None, "_meta": None}
    return {"role": one.role, "content": content}
