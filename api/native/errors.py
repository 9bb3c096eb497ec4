"""Errors as `application/problem+json` (RFC 9457)."""

from http import HTTPStatus
from typing import Any

from api.errors import Problem


def shape(problem: Problem) -> dict[str, Any]:
    """The body of a native error."""
    return {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "errors": [
            {"field": ".".join(map(str, one.path)), "message": one.message, "code": one.code}
            for one in problem.fields
        ],
    }
