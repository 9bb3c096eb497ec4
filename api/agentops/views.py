"""What every AgentOps view shares."""

import re
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request

from api.agentops import errors
from api.agentops.renderers import GoJSONRenderer
from api.errors import Problem
from api.parsers import check_text, mend_text
from api.views import DialectView
from tenants.errors import Invalid

WHOLE_NUMBER = re.compile(r"[+-]?\d{1,19}", re.ASCII)
LARGEST_ID = 2**63 - 1
MOST = 1_000


class AgentOpsView(DialectView):
    """A view of this dialect: what is not acceptable is 400, and a method that is missing is told in plain
    text."""

    renderer_classes = (GoJSONRenderer,)
    takes_any_query = True  # clients cut a prompt at 500 bytes, within a character too

    def shape(self, problem: Problem) -> Any:
        return errors.shape(problem)

    def handle_exception(self, exc: Exception) -> HttpResponseBase:  # type: ignore[override]
        if isinstance(exc, MethodNotAllowed):
            return HttpResponse(errors.NOT_ALLOWED, status=405, content_type="text/plain; charset=utf-8")
        response = super().handle_exception(exc)
        if response.status_code == 422:
            response.status_code = 400
        return response


def text_in_query(request: Request, name: str) -> str:
    """A text from the query string, empty if it is missing. Raises Invalid for one that cannot be stored."""
    raw = request.query_params.get(name)
    return check_text(raw or "", name)


def free_text_in_query(request: Request, name: str) -> str:
    """Likewise of what people and agents say: U+FFFD stands for what cannot be stored."""
    raw = request.query_params.get(name)
    return mend_text(raw or "")


def number_in_query(request: Request, name: str, default: int, *, most: int = MOST) -> int:
    """A number from the query string, `most` at most; the default for 0 and what is no number."""
    raw = request.query_params.get(name)
    number = int(raw) if raw and WHOLE_NUMBER.fullmatch(raw) else 0
    return min(number, most) if number > 0 else default


def observation_number(text: str) -> int:
    """The number of an observation from the path. Raises Invalid."""
    number = int(text) if WHOLE_NUMBER.fullmatch(text) else LARGEST_ID + 1
    if not -LARGEST_ID <= number <= LARGEST_ID:
        raise Invalid("invalid observation id")
    return number
