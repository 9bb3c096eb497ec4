"""One table from domain error to status. Each dialect gives it its own shape."""

from dataclasses import dataclass, field

from django.core.exceptions import RequestDataTooBig
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404
from psycopg.errors import DeadlockDetected, ProgramLimitExceeded, SerializationFailure
from rest_framework import exceptions

from tenants import errors
from tenants.idempotency import AnsweredMeanwhile
from tenants.tombstones import Erased

STATUS: dict[type[Exception], int] = {
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    AnsweredMeanwhile: 409,  # only when that answer has gone since
    Erased: 409,  # not 410: what is begun after the erasure is welcome
    errors.PreconditionFailed: 412,
    errors.TooLarge: 413,
    errors.Invalid: 422,
    errors.Unavailable: 503,
    RequestDataTooBig: 413,
    Http404: 404,
    DataError: 422,  # a value that PostgreSQL cannot hold; the last line of defence, not the first
    OperationalError: 503,
    InterfaceError: 503,
}
SENTENCES: dict[type[Exception], str] = {
    DataError: "A value cannot be stored.",
    OperationalError: "PostgreSQL is away.",
    InterfaceError: "PostgreSQL is away.",
    Http404: "Not found.",
}


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one part of the request; `path` leads to it from the root of the body."""

    path: tuple[str | int, ...]
    message: str
    code: str = "value_error"


@dataclass(frozen=True, slots=True)
class Problem:
    """An error before a dialect shapes it."""

    status: int
    detail: str
    fields: tuple[FieldProblem, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)


def problem_of(error: Exception) -> Problem | None:
    """The problem behind an exception; None for what is a fault of ours and belongs in the log as a 500."""
    if isinstance(error, exceptions.ValidationError):
        problems = tuple(_flatten(error.get_full_details(), ()))
        return Problem(422, "The request is not valid.", problems)
    if isinstance(error, exceptions.APIException):
        return Problem(error.status_code, str(error.detail))
    if isinstance(error.__cause__, ProgramLimitExceeded):
        return Problem(422, "The ids are too long: PostgreSQL cannot index them together.")
    if isinstance(error.__cause__, DeadlockDetected | SerializationFailure):
        return Problem(503, "Try again.", headers={"Retry-After": "1"})  # whoever won is through by then
    for kind, status in STATUS.items():
        if isinstance(error, kind):
            return Problem(status, SENTENCES.get(kind, str(error)), _fields(error), _headers(error, status))
    return None


def _fields(error: Exception) -> tuple[FieldProblem, ...]:
    if isinstance(error, errors.Invalid):
        path = tuple(error.field.split(".")) if error.field else ()
        return (FieldProblem(path, str(error)),)
    return ()


def _headers(error: Exception, status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="strata"'}
    if status == 503:
        return {"Retry-After": str(getattr(error, "retry_after", errors.Unavailable.retry_after))}
    return {}


def _flatten(details: object, path: tuple[str | int, ...]) -> list[FieldProblem]:
    """DRF's nested error details as a flat list."""
    if isinstance(details, dict) and set(details) == {"message", "code"}:
        return [FieldProblem(path, str(details["message"]), str(details["code"]))]
    if isinstance(details, dict):
        parts = [(() if key == "non_field_errors" else (key,), value) for key, value in details.items()]
    elif isinstance(details, list):
        is_leaf = all(isinstance(item, dict) and set(item) == {"message", "code"} for item in details)
        parts = [(() if is_leaf else (position,), item) for position, item in enumerate(details)]
    else:
        return []
    return [problem for step, value in parts for problem in _flatten(value, path + step)]
