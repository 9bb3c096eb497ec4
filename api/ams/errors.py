"""Errors as FastAPI answers them: `{"detail": …}`, a list of pydantic's errors for what is not valid."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from api.errors import FieldProblem, Problem

MOST_TOLD = 100  # errors in one answer: each repeats what was sent
NO_KEY, WRONG_KEY = "Missing authorization header", "Invalid token"
NOT_ALLOWED, NOT_FOUND = "Method Not Allowed", "Not Found"
FAULT = "Internal Server Error"  # as plain text


class Refused(Exception):
    """What was sent is not valid; each detail has `type`, `loc`, `msg` and `input`, and some have a `ctx`."""

    def __init__(self, details: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("The request is not valid.")
        self.details = list(details)


class BadRequest(Exception):
    """What was sent is valid, and still cannot be done: 400 with a sentence."""


def refused(error: ValidationError, *where: str) -> Refused:
    """pydantic's error about what stood `where`: in the body, or under which name in the query."""
    found = error.errors(include_url=False)[:MOST_TOLD]
    return Refused([_detail(one, where) for one in found])


def refusal(message: str, *where: str | int, given: Any = None, kind: str = "value_error") -> Refused:
    """One error of our own."""
    return Refused([{"type": kind, "loc": list(where), "msg": message, "input": given}])


def shape(problem: Problem) -> dict[str, Any]:
    """The body of an error."""
    if problem.status == 405:
        return {"detail": NOT_ALLOWED}
    if problem.status != 422:
        return {"detail": problem.detail}
    fields = problem.fields or (FieldProblem((), problem.detail),)
    return {
        "detail": [
            {"type": one.code, "loc": ["body", *one.path], "msg": one.message, "input": None}
            for one in fields
        ]
    }


def is_ours(path: str) -> bool:
    """Whether a path belongs to this dialect, also one that leads nowhere."""
    return path.startswith("/v1/")


def _detail(error: Mapping[str, Any], where: Sequence[str]) -> dict[str, Any]:
    detail = {name: error[name] for name in ("type", "msg", "input")} | {"loc": [*where, *error["loc"]]}
    if context := error.get("ctx"):
        # As FastAPI writes it: an exception has no JSON form but an empty object.
        detail["ctx"] = {name: {} if isinstance(one, Exception) else one for name, one in context.items()}
    return detail
