"""What is done with memories, told as spans under the names of the AgentOps contract (§3.3).

It stands this low because the domain tells what it does; where spans go is none of its business. Until
`trace_with` names a tracer, all of it does nothing and loads nothing.

Strings that somebody wrote (`CONTENT`) are told only to who has asked for them: a collector keeps what it is
sent, and no erasure reaches it.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from django.core.exceptions import ObjectDoesNotExist
from django.db import DataError, IntegrityError, OperationalError
from psycopg.errors import DeadlockDetected, LockNotAvailable, SerializationFailure

from tenants.errors import Conflict, Forbidden, Invalid, NotFound, PreconditionFailed, TooLarge

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

Operation = Literal[
    "create_session", "end_session", "recent_sessions", "add_observation", "recent_observations",
    "get_observation", "update_observation", "delete_observation", "search", "fetch_context", "timeline",
    "stats", "export", "import",
]  # fmt: skip
StoreOperation = Literal["add_observation", "search", "fetch_context"]
Happening = Literal[
    "context.injected", "search.result", "hook.memory_saved", "hook.memory_save_skipped",
    "hook.context_injected", "hook.context_inject_empty", "hook.context_inject_skipped", "hook.audit_saved",
]  # fmt: skip
Value = str | int | float | None
A = TypeVar("A")
B = TypeVar("B")
ErrorType = Literal[
    "not_found", "db_locked", "constraint_violation", "validation_error", "invalid_input", "error"
]

RETRIEVAL = ("search", "fetch_context")  # operations that OpenTelemetry's conventions call so
QUERY_TEXT, DOCUMENTS = "gen_ai.retrieval.query.text", "gen_ai.retrieval.document_count"
# What the domain calls it, and its names in a span.
NAMES: dict[str, tuple[str, ...]] = {
    "operation": ("memory.operation",),
    "project": ("memory.project",),
    "context_query": ("memory.query", QUERY_TEXT),
    "context_results": ("memory.context.result_count", DOCUMENTS),
    "query_used": ("memory.context.query_used",),
    "search_query": ("memory.search.query", QUERY_TEXT),
    "search_results": ("memory.search.result_count", DOCUMENTS),
    "action": ("memory.observation.action",),
    "type": ("memory.observation.type",),
    "observation_id": ("memory.observation.id",),
    "hard_delete": ("memory.observation.hard_delete",),
    "session_id": ("memory.session.id",),
    "message_count": ("memory.session.message_count",),
    "imported_sessions": ("memory.import.sessions",),
    "imported_observations": ("memory.import.observations",),
    "retrieval": ("gen_ai.operation.name",),
    "error_type": ("error.type",),
}
_FOUND = {name: f"memory.injected.{name}" for name in ("observation_id", "type", "title", "rank", "method")}
_HOOK = {name: name for name in ("tool", "query", "results", "reason")}
CONTENT = {"context_query": 500, "search_query": 200, "query": 200, "title": 100}  # the longest, in bytes
LONGEST = 255  # bytes of any other string
MOST_EVENTS = 100  # of a span: exporters keep the last 128, of results the worst ones
ATTRIBUTES = frozenset(name for names in NAMES.values() for name in names)
EVENT_ATTRIBUTES = frozenset({*_FOUND.values(), *_HOOK.values()})
EVENTS = frozenset(get_args(Happening))

_ERRORS: tuple[tuple[tuple[type[Exception], ...], ErrorType], ...] = (
    ((NotFound, ObjectDoesNotExist), "not_found"),
    ((Conflict, PreconditionFailed, IntegrityError), "constraint_violation"),
    ((Invalid,), "validation_error"),
    ((Forbidden, TooLarge, DataError), "invalid_input"),
)
_LOCKED = (DeadlockDetected, LockNotAvailable, SerializationFailure)


class _Here:
    """Where this process's spans go."""

    tracer: "Tracer | None" = None
    content = False


# How deep in spans of ours the work is: 1 in an operation, 2 in its store.
_depth: ContextVar[int] = ContextVar("memory_span_depth", default=0)


def trace_with(tracer: "Tracer | None", *, content: bool) -> None:
    """Has spans made from now on, or no more; `content`: with what people wrote."""
    _Here.tracer, _Here.content = tracer, content


class MemorySpan:
    """A span that takes what the domain knows by the domain's names for it; None stays away."""

    __slots__ = ("_events", "_span")

    def __init__(self, span: "Span | None") -> None:
        self._span = span
        self._events = 0

    def set(self, **attributes: Value) -> None:
        """Adds what has become known, by the keys of `NAMES`."""
        if self._span is None:
            return
        for key, value in _told(attributes).items():
            for name in NAMES[key]:
                self._span.set_attribute(name, value)

    def event(self, name: Happening, **attributes: Value) -> None:
        """Adds one thing that happened; the first `MOST_EVENTS` of a span."""
        if self._span is None or self._events >= MOST_EVENTS:
            return
        self._events += 1
        names = _HOOK if name.startswith("hook.") else _FOUND
        self._span.add_event(name, {names[key]: value for key, value in _told(attributes).items()})

    def fail(self, error: Exception) -> None:
        """Marks it as failed, by the kind of error alone: what it says may quote a memory."""
        if self._span is None:
            return
        from opentelemetry.trace import StatusCode

        self.set(error_type=error_type(error))
        self._span.set_status(StatusCode.ERROR)


_OFF = MemorySpan(None)
_NOWHERE = nullcontext(_OFF)


def memory_span(operation: Operation, **attributes: Value) -> AbstractContextManager[MemorySpan]:
    """The span `memory.<operation>` around a call of the domain. One within another is part of that: a call
    has one."""
    tracer = _Here.tracer
    if tracer is None or _depth.get():
        return _NOWHERE
    about: dict[str, Value] = {"operation": operation, **attributes}
    if operation in RETRIEVAL:
        about["retrieval"] = "retrieval"
    return _opened(tracer, f"memory.{operation}", 1, about)


def store_span(operation: StoreOperation, **attributes: Value) -> AbstractContextManager[MemorySpan]:
    """The span `store.<operation>` around the part of an operation that asks PostgreSQL."""
    tracer = _Here.tracer
    if tracer is None or _depth.get() != 1:
        return _NOWHERE
    return _opened(tracer, f"store.{operation}", 2, {"operation": operation, **attributes})


def span_while_read(
    operation: Operation, first: Iterator[A], last: Iterator[B], **attributes: Value
) -> tuple[Iterator[A], Iterator[B]]:
    """The same rows, with one span `memory.<operation>` from now until the last one is read or the reader
    gives up. The reader may be at work when the request's own span has ended."""
    tracer = _Here.tracer
    if tracer is None or _depth.get():
        return first, last
    span = tracer.start_span(f"memory.{operation}")
    MemorySpan(span).set(operation=operation, **attributes)
    return _read_within(span, first, ends=False), _read_within(span, last, ends=True)


def breadcrumb(name: Happening, **attributes: Value) -> None:
    """Adds an event to the span in which the work happens, that of the request or task."""
    if _Here.tracer is None:
        return
    from opentelemetry.trace import get_current_span

    MemorySpan(get_current_span()).event(name, **attributes)


def error_type(error: Exception) -> ErrorType:
    """The contract's word for what went wrong."""
    for kinds, name in _ERRORS:
        if isinstance(error, kinds):
            return name
    if isinstance(error, OperationalError) and isinstance(error.__cause__, _LOCKED):
        return "db_locked"
    return "error"


@contextmanager
def _opened(tracer: "Tracer", name: str, depth: int, attributes: dict[str, Value]) -> Iterator[MemorySpan]:
    token = _depth.set(depth)
    try:
        with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as one:
            span = MemorySpan(one)
            span.set(**attributes)
            try:
                yield span
            except Exception as error:  # only to tell its kind
                span.fail(error)
                raise
    finally:
        _depth.reset(token)


def _read_within(span: "Span", rows: Iterator[A], *, ends: bool) -> Iterator[A]:
    from opentelemetry.trace import use_span

    ended = False
    try:
        while not ended:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                row = list(islice(rows, 1))
            ended = not row
            yield from row
    except Exception as error:  # only to tell its kind
        MemorySpan(span).fail(error)
        raise
    finally:
        if ends or not ended:
            span.end()


def _told(attributes: dict[str, Value]) -> dict[str, str | int | float]:
    """What of it may be told, as exporters can send it."""
    return {
        key: _sendable(key, value)
        for key, value in attributes.items()
        if value is not None and (_Here.content or key not in CONTENT)
    }


def _sendable(key: str, value: str | int | float) -> str | int | float:
    if isinstance(value, str):  # half a surrogate pair, or half a character, would lose the whole batch
        longest = CONTENT.get(key, LONGEST)
        return value.encode(errors="replace")[:longest].decode(errors="ignore")
    return float(value) if isinstance(value, float) else value  # of numpy's, a plain one
