"""Errors as every dialect answers them, before it gives them its own shape (`tenants/statuses.py` has the
table of statuses)."""

from dataclasses import dataclass, field

from psycopg.errors import DeadlockDetected, InsufficientPrivilege, ProgramLimitExceeded, SerializationFailure
from rest_framework import exceptions

from tenants import errors
from tenants.statuses import status_of


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
    known = status_of(_named(error))
    if known is None:
        return None
    status, sentence = known
    return Problem(status, sentence, _fields(error), _headers(error, status))


def _named(error: Exception) -> Exception:
    """What a restricted person's row that the database did not take means."""
    if isinstance(error.__cause__, InsufficientPrivilege) and 'policy "restricted"' in str(error):
        return errors.Restricted("This person's memory is restricted.")
    return error


def _fields(error: Exception) -> tuple[FieldProblem, ...]:
    if isinstance(error, errors.Invalid):
        path = tuple(error.field.split(".")) if error.field else ()
        return (FieldProblem(path, str(error)),)
    return ()


def _headers(error: Exception, status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="strata"'}
    if status in {429, 503}:
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
