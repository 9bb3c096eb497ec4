"""A call before it is sent: which operation, with what. Pure; what sends it is in `sending`."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Generic, TypeAlias, TypeVar, get_args
from urllib.parse import quote, urlencode

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from .errors import InvalidAnswer
from .misfits import misfit

T = TypeVar("T")
KEY = "Idempotency-Key"
LONGEST_TARGET = 60_000  # characters of a path and its query; an HTTP client sends no more of them
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"([!-~]([ -~\t]*[!-~])?)?")  # RFC 9110 §5.5, without what is beyond ASCII


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
# A parameter whose None means something: null in a change, nobody where the client has a user or an agent.
Maybe: TypeAlias = T | Unset | None


@dataclass(frozen=True, slots=True)
class Received:
    """What was answered: a body, and the entity tag that names its version."""

    body: bytes
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Tagged(Generic[T]):
    """A value as it was read, and its version: what is written with `if_match=etag` replaces this one."""

    value: T
    etag: str


@dataclass(frozen=True, slots=True)
class Operation(Generic[T]):
    """One method of one route.

    `nulls` are the fields of the body in which None is sent as null; in all others None is left out.
    `is_write` says that it carries an Idempotency-Key, `is_kept` that a buffer may keep it, `is_tagged` that
    the answer is what is in the body along with its entity tag. `complete` says the fields of the body that
    are meant by those that are given.
    """

    method: str
    path: str
    answer: Any = None
    nulls: frozenset[str] = frozenset()
    is_write: bool = False
    is_kept: bool = False
    is_tagged: bool = False
    complete: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    def read(self, received: Received) -> T:
        """The answer in its type. Raises InvalidAnswer."""
        if self.answer is None:
            if received.body:
                raise InvalidAnswer(f"The answer to {self.method} {self.path} has a body; Strata's has none.")
            return None  # type: ignore[return-value]  # the generated operation says Operation[None]
        value = self._value(received.body)
        if not self.is_tagged:
            return value
        if received.etag is None:
            raise InvalidAnswer(f"The answer to {self.method} {self.path} does not tell its version.")
        return Tagged(value, received.etag)  # type: ignore[return-value]  # likewise

    def _value(self, body: bytes) -> T:
        try:
            read: T = _reader(self.answer).validate_json(body)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            told = f"{first['msg']} at {place!r}" if place else first["msg"]
            raise InvalidAnswer(
                f"The answer to {self.method} {self.path} is not what Strata answers: {told}."
            ) from None
        return read


@lru_cache(maxsize=512)
def _reader(answer: Any) -> TypeAdapter[Any]:
    """To make one takes a fifth of a millisecond: longer than to read what most calls answer."""
    return TypeAdapter(answer)


@dataclass(frozen=True, slots=True)
class Call:
    """A request, byte for byte as it is sent each time; the server tells repeated writes by the bytes.

    `needs` are the fields that an answer has at the least, of each of the kinds that it may be; without a
    kind, it has no body. None: only who reads the answer knows.
    """

    method: str
    target: str  # path and query
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_write: bool = False
    is_kept: bool = False
    needs: Sequence[Sequence[str]] | None = None

    def check(self, received: Received) -> None:
        """Raises InvalidAnswer for what cannot be the answer, whoever gave it: the write may not be done."""
        if self.needs is None:
            return
        if not self.needs:
            fits = not received.body
        else:
            try:
                told = json.loads(received.body)
            except (ValueError, RecursionError):
                told = None
            fits = isinstance(told, dict) and any(told.keys() >= set(kind) for kind in self.needs)
        if not fits:
            needed = " or ".join(", ".join(kind) for kind in self.needs) or "no body"
            raise InvalidAnswer(
                f"The answer to {self.method} {self.target} is not what Strata answers: that has {needed}."
            )


def build(
    operation: Operation[Any],
    *,
    path: Sequence[str] = (),
    query: Mapping[str, Any] | None = None,
    body: Any = UNSET,
    form: Mapping[str, Any] | None = None,
    headers: Mapping[str, str | None] | None = None,
    defaults: Mapping[str, str | None] | None = None,
) -> Call:
    """The call. `defaults` fill what was left `UNSET`. Raises ValueError for what cannot be sent: an empty
    part of a path, a path and query beyond `LONGEST_TARGET`, a header that HTTP does not know, a number that
    JSON lacks; TypeError for what is no JSON and becomes none. Both name the place: `turns[0].content`."""
    known = {name: value for name, value in (defaults or {}).items() if value is not None}
    asked = _query(
        {name: known.get(name) if value is UNSET else value for name, value in (query or {}).items()}
    )
    sent = {name: value for name, value in (headers or {}).items() if value is not None}
    content = b""
    if form is not None:
        content, sent["Content-Type"] = _form(form)
    elif body is not UNSET:
        name = "" if isinstance(body, Fields) else "value"
        content, sent["Content-Type"] = _json(_fields(operation, body, known), name), "application/json"
    target = _filled(operation.path, path) + (f"?{asked}" if asked else "")
    _make_sure_it_can_be_sent(operation, target, sent)
    needs = _needs(operation.answer) if operation.is_kept else None
    return Call(operation.method, target, content, sent, operation.is_write, operation.is_kept, needs)


def _make_sure_it_can_be_sent(operation: Operation[Any], target: str, headers: Mapping[str, str]) -> None:
    if len(target) > LONGEST_TARGET:
        raise ValueError(f"What {operation.path} is asked takes {len(target)} characters of the address.")
    for name, value in headers.items():
        if not (HEADER_NAME.fullmatch(name) and HEADER_VALUE.fullmatch(value)):
            raise ValueError(f"{name!r} is a header with characters that no header has.")


@lru_cache(maxsize=512)
def _needs(answer: Any) -> tuple[tuple[str, ...], ...]:
    """The required fields of each model that an answer may be."""
    kinds = [one for one in get_args(answer) or [answer] if one is not None]
    return tuple(_required(kind) for kind in kinds)


def _required(kind: type[BaseModel]) -> tuple[str, ...]:
    return tuple(name for name, one in kind.model_fields.items() if one.is_required())


@dataclass(frozen=True, slots=True)
class Fields:
    """The body of a call by its fields."""

    named: Mapping[str, Any]


def _fields(operation: Operation[Any], body: Any, known: Mapping[str, str]) -> Any:
    if not isinstance(body, Fields):
        return body
    given = {name: known.get(name, UNSET) if value is UNSET else value for name, value in body.named.items()}
    sent = {
        name: value
        for name, value in given.items()
        if value is not UNSET and (value is not None or name in operation.nulls)
    }
    return sent if operation.complete is None else operation.complete(sent)


def _filled(path: str, values: Sequence[str]) -> str:
    """Dots too are quoted: clients resolve `.` and `..` in a path before they send it."""
    for value in values:
        if value == "":
            raise ValueError(f"Every part of {path} needs a value; one is empty.")
        head, _, tail = path.partition("{")
        part = quote(str(value), safe="", errors="replace").replace(".", "%2E")
        path = head + part + tail.partition("}")[2]
    return path


def _query(values: Mapping[str, Any]) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if value is None:
            continue
        several = value if isinstance(value, list | tuple | set | frozenset) else [value]
        pairs += [(name, _word(name, one)) for one in several]
    return urlencode(pairs, errors="replace")


def _word(name: str, value: Any) -> str:
    try:
        plain = to_jsonable_python(value)
    except ValueError:
        raise misfit(name, value, translate=to_jsonable_python) from None
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def _json(value: Any, name: str = "value") -> bytes:
    """Strict JSON. Raises TypeError and ValueError for what JSON does not know, which call it `name`."""
    try:
        text = json.dumps(
            value, default=to_jsonable_python, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
    except (TypeError, ValueError, RecursionError):
        raise misfit(name, value, translate=to_jsonable_python) from None
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates: JSON can name it, UTF-8 cannot
        return json.dumps(value, default=to_jsonable_python, separators=(",", ":")).encode()


def _form(values: Mapping[str, Any]) -> tuple[bytes, str]:
    given = {name: value for name, value in values.items() if value is not None}
    file = given.pop("file")
    data = {
        name: value if isinstance(value, str) else _json(value, name).decode()
        for name, value in given.items()
    }
    request = httpx.Request("POST", "http://form", data=data, files={"file": file})
    return request.read(), request.headers["Content-Type"]


def seconds(timeout: float) -> float:
    """A timeout that can be kept. Raises ValueError."""
    if not (timeout > 0 and math.isfinite(timeout)):
        raise ValueError("A timeout is a number of seconds above zero.")
    return float(timeout)
