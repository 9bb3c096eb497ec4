"""What every native view shares."""

from collections.abc import Callable
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import views
from api.errors import Problem
from api.native import errors, serializers
from api.views import DialectView
from tenants.errors import Invalid
from working.types import SessionAddress

MOST_RESULTS = 200
ANYWHERE = {"format"}  # which Django REST framework reads itself
# The query parameters of each method, from its first request on.
_documented: dict[Callable[..., Any] | None, frozenset[str]] = {}


class NativeView(DialectView):
    """A view under `/api/v1/`. Refuses query parameters that the method's `extend_schema` does not name: a
    misspelt filter should not be ignored."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if unknown := request.query_params.keys() - self._query_names(request):
            raise ValidationError({name: ["Unknown query parameter."] for name in sorted(unknown)})

    def _query_names(self, request: Request) -> frozenset[str]:
        """The query parameters that the method takes; any that is sent, where the document lacks it."""
        method = getattr(getattr(self, (request.method or "").lower(), None), "__func__", None)
        if method not in _documented:
            schema = getattr(method, "kwargs", {}).get("schema")  # where `extend_schema` leaves it
            if schema is None:
                return frozenset(request.query_params.keys())
            shown = schema()
            shown.view = self
            read = {one.name for one in shown.get_override_parameters() if one.location == "query"}
            _documented[method] = frozenset(read | ANYWHERE)
        return _documented[method]

    def shape(self, problem: Problem) -> Any:
        return errors.shape(problem)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if response.status_code >= 400 and isinstance(response, Response):
            response.content_type = "application/problem+json"
        return super().finalize_response(request, response, *args, **kwargs)


def session_address(request: Request, session_id: str) -> SessionAddress:
    """The session that path and query name. Raises Invalid for an id that ends like a route below it."""
    if session_id.endswith(serializers.ROUTES):
        raise Invalid(f"May not end in {', '.join(serializers.ROUTES)}.", "session_id")
    if session_id in serializers.RESERVED:
        raise Invalid(f"May not be {' or '.join(serializers.RESERVED)}.", "session_id")
    return views.session_address(request, session_id)


def whole_number(
    request: Request, name: str, default: int | None, *, minimum: int = 1, maximum: int = MOST_RESULTS
) -> int | None:
    """A number from the query string. Raises Invalid when it is none or out of range."""
    raw = request.query_params.get(name)
    if raw is None:
        return default
    # Twenty digits hold every maximum; Python refuses to read thousands.
    if not raw.isascii() or not raw.isdecimal() or len(raw) > 20 or not minimum <= int(raw) <= maximum:
        raise Invalid(f"Must be a whole number from {minimum} to {maximum}.", name)
    return int(raw)


def flag(request: Request, name: str) -> bool | None:
    """A yes or no from the query string. Raises Invalid when it is neither."""
    raw = request.query_params.get(name)
    if raw is None:
        return None
    if raw.lower() not in {"true", "false", "1", "0"}:
        raise Invalid("Must be true or false.", name)
    return raw.lower() in {"true", "1"}


def page_size(request: Request) -> int:
    """The `limit` of a list."""
    limit = whole_number(request, "limit", 50)
    assert limit is not None  # noqa: S101  the default is a number
    return limit
