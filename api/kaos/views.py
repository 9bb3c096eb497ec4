"""What every view of this dialect shares, and how it reads a request."""

from typing import Any
from urllib.parse import unquote

from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import Problem
from api.kaos import errors, serializers
from api.kaos.errors import NotANumber
from api.views import DialectView, caller_of, checked_id, query_id
from tenants.errors import Invalid
from working.bounded_memory import BoundedMemory
from working.bounded_queries import Narrow

USUAL_EVENTS, MOST_EVENTS = 100, 1_000  # in one answer
AGENT_HEADER = "X-Agent"
MOST_DIGITS = 4_300  # that Python reads


class KaosView(DialectView):
    """A view of this dialect. Unknown fields and query parameters are ignored."""

    place = "body"  # what an error is about

    def shape(self, problem: Problem) -> Any:
        return errors.shape(problem, self.place)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, Invalid):
            self.place = self._place_of(exc.field)
        if isinstance(exc, NotANumber):
            return Response({"detail": [exc.detail]}, status=422)
        return super().handle_exception(exc)

    def _place_of(self, field: str) -> str:
        if field == AGENT_HEADER:
            return "header"
        if field in self.kwargs or field == "path":
            return "path"
        return "query" if field in {"query", *self.request.query_params.keys()} else "body"


def memory_of(request: Request) -> BoundedMemory:
    """The memory that `X-Agent` names, else that of the key's agent, else of all agents in reach."""
    caller, sent = caller_of(request), request.headers.get(AGENT_HEADER)
    return BoundedMemory(caller, caller.confine_agent(_header_text(sent) if sent else None))


def narrow_of(request: Request) -> Narrow:
    """The user, within the key's reach, and the namespace that the query names."""
    user_id = caller_of(request).confine_user(query_id(request, "user_id"))
    return Narrow(user_id, query_id(request, "namespace"))


def known_id(session_id: str) -> str:
    """The id of a session from a path. Raises Invalid for what no session can be called here."""
    if session_id.endswith(("/", *serializers.ROUTES)):
        raise Invalid(f"May not end in /, {' or '.join(serializers.ROUTES)}.", "session_id")
    return checked_id(session_id, "session_id")


def whole_number(raw: str, name: str, *, least: int) -> int:
    """A whole number as FastAPI reads one from the query. Raises NotANumber."""
    digits = raw.strip()
    try:
        number = int(digits) if digits.isascii() and len(digits) <= MOST_DIGITS else None
    except ValueError:
        number = None
    if number is None:
        told = "Input should be a valid integer, unable to parse string as an integer"
        raise NotANumber(name, "int_parsing", told, raw)
    if number < least:
        told = f"Input should be greater than or equal to {least}"
        raise NotANumber(name, "greater_than_equal", told, raw, ge=least)
    return number


def _header_text(sent: str) -> str:
    """The name in a header: beyond ASCII percent-encoded, since servers drop what else they cannot read."""
    try:
        return checked_id(unquote(sent.encode("latin-1").decode(), errors="strict"), AGENT_HEADER)
    except UnicodeError as error:
        raise Invalid("Must be UTF-8.", AGENT_HEADER) from error
