"""Errors as `{"error": …}`."""

from typing import Any

from api.errors import Problem

NOT_FOUND = "404 page not found\n"
NOT_ALLOWED = "Method Not Allowed\n"
PATHS = (
    "/sessions", "/observations", "/search", "/context", "/timeline", "/stats", "/export", "/import",
)  # fmt: skip


def shape(problem: Problem) -> dict[str, Any]:
    """The body of an error; the field is named where one alone is wrong."""
    named = [".".join(map(str, one.path)) for one in problem.fields if one.path]
    return {"error": f"{named[0]}: {problem.detail}" if named else problem.detail}


def is_ours(path: str) -> bool:
    """Whether a path belongs to this dialect, also one that leads nowhere."""
    return path.startswith(tuple(f"{one}/" for one in PATHS)) or path in PATHS
