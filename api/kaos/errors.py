"""Errors as FastAPI answers them: `{"detail": …}`, a list for what is not valid."""

from typing import Any

from api.errors import Problem

NOT_ALLOWED, NOT_FOUND = "Method Not Allowed", "Not Found"


class NotANumber(Exception):
    """A number in the query that is none, or out of range: what FastAPI tells of it."""

    def __init__(self, name: str, kind: str, message: str, given: str, **context: int) -> None:
        super().__init__(message)
        self.detail: dict[str, Any] = {
            "type": kind, "loc": ["query", name], "msg": message, "input": given,
            **({"ctx": context} if context else {}),
        }  # fmt: skip


def shape(problem: Problem, place: str) -> dict[str, Any]:
    """The body of an error; `place` is what of the request its fields stand in."""
    if problem.status == 405:
        return {"detail": NOT_ALLOWED}
    if problem.status != 422 or not problem.fields:
        return {"detail": problem.detail}
    return {
        "detail": [
            {"type": one.code, "loc": [place, *one.path], "msg": one.message, "input": None}
            for one in problem.fields
        ]
    }


def is_ours(path: str) -> bool:
    """Whether a path belongs to this dialect, also one that leads nowhere."""
    return path.startswith("/memory/")
