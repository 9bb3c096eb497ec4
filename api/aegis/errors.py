"""Errors as FastAPI answers them: `{"detail": …}`, a list for what is not valid."""

from typing import Any

from api.errors import Problem


def shape(problem: Problem) -> dict[str, Any]:
    """The body of an AEGIS error."""
    if problem.status != 422 or not problem.fields:
        return {"detail": problem.detail}
    return {
        "detail": [
            {"loc": ["body", *one.path], "msg": one.message, "type": one.code} for one in problem.fields
        ]
    }
