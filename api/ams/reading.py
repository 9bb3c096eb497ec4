"""What is read from a request: its body by a model, its query by name, the session that it means."""

from functools import cache
from json import JSONDecodeError
from typing import Annotated, Any, TypeVar, overload

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from rest_framework.request import Request

from api.ams.errors import Refused, refusal, refused
from api.parsers import Malformed, check_text
from api.views import LONGEST_ID, json_body
from tenants.errors import Invalid
from working.types import SessionAddress

Model = TypeVar("Model", bound=BaseModel)
NUMBERS = 2**53  # the largest in a query: no offset is larger
_FLAG: TypeAdapter[bool] = TypeAdapter(bool)


def body_as(request: Request, model: type[Model]) -> Model:
    """The body as the model reads it. Raises Refused, and Invalid for text that cannot be stored."""
    try:
        body = json_body(request)
    except Malformed as error:
        raise _malformed(error) from error
    if body is None:
        raise refusal("Field required", "body", kind="missing")
    try:
        return model.model_validate(body, from_attributes=True)
    except ValidationError as error:
        raise refused(error, "body") from error


def text_in_query(request: Request, name: str) -> str | None:
    """A text from the query, None if it is missing or empty."""
    return named_in_query(request, name) or None


def filled_in_query(request: Request, name: str) -> str | None:
    """A text from the query, None if it is missing. Raises Refused for an empty one: it narrows nothing, and
    may be a variable that was never set."""
    given = named_in_query(request, name)
    if given == "":
        raise refusal("String should have at least 1 character", "query", name,
                      given=given, kind="string_too_short")  # fmt: skip
    return given


def named_in_query(request: Request, name: str) -> str | None:
    """A text from the query, which may be empty; None if it is missing."""
    given = request.query_params.get(name)
    if given is None:
        return None
    if len(given) > LONGEST_ID:
        raise refusal(f"String should have at most {LONGEST_ID} characters", "query", name,
                      given=given, kind="string_too_long")  # fmt: skip
    return _checked(given, "query", name)


@overload
def number_in_query(
    request: Request, name: str, default: int, *, least: int = 1, most: int = NUMBERS
) -> int: ...


@overload
def number_in_query(request: Request, name: str) -> int | None: ...


def number_in_query(
    request: Request, name: str, default: int | None = None, *, least: int = 1, most: int = NUMBERS
) -> int | None:
    """A whole number from the query."""
    given = request.query_params.get(name)
    return default if given is None else _parsed(_number(least, most), given, name)


def flag(request: Request, name: str) -> bool | None:
    """A yes or no from the query."""
    given = request.query_params.get(name)
    return None if given is None else _parsed(_FLAG, given, name)


def session_address(
    request: Request, session_id: str, *, user_id: str | None = None, namespace: str | None = None
) -> SessionAddress:
    """The session that path and query name; where the query lacks a part, the body's."""
    if len(session_id) > LONGEST_ID:
        raise refusal(f"String should have at most {LONGEST_ID} characters", "path", "session_id",
                      given=session_id, kind="string_too_long")  # fmt: skip
    return SessionAddress(
        session_id=_checked(session_id, "path", "session_id"),
        user_id=text_in_query(request, "user_id") or user_id or None,
        namespace=text_in_query(request, "namespace") or namespace or None,
    )


@cache
def _number(least: int, most: int) -> TypeAdapter[int]:
    return TypeAdapter(Annotated[int, Field(ge=least, le=most)])


def _parsed(adapter: TypeAdapter[Any], given: str, name: str) -> Any:
    try:
        return adapter.validate_python(given)
    except ValidationError as error:
        raise refused(error, "query", name) from error


def _checked(text: str, *where: str) -> str:
    try:
        return check_text(text)
    except Invalid as error:
        raise refusal(str(error), *where) from error


def _malformed(error: Malformed) -> Refused:
    cause = error.__cause__
    place, told = (cause.pos, cause.msg) if isinstance(cause, JSONDecodeError) else (0, str(error))
    return Refused(
        [{"type": "json_invalid", "loc": ["body", place], "msg": "JSON decode error", "input": {},
          "ctx": {"error": told}}]
    )  # fmt: skip
