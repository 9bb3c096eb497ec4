"""What every request passes through before Django's own middleware."""

import logging
import re
import secrets
import time
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from memoryproject import tracing
from memoryproject.metrics import count_request
from memoryproject.routes import method_of, route_of
from tenants import log_context
from tenants.router import admin_role

Handler = Callable[[HttpRequest], HttpResponseBase]
log = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


class ObserveRequests:
    """Gives each request an id, a span, a line in the log and its place in the metrics.

    It stands first, so that static files and answers of other middleware count too. The line names the route,
    not the path, which may hold the ids of people.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(16)
        method = method_of(request)
        with log_context.bound(request_id=request_id), tracing.request_span(request.META, method) as span:
            response = self.get_response(request)
            response.headers["X-Request-ID"] = request_id
            seconds = time.perf_counter() - began
            route, status = route_of(request), response.status_code
            count_request(method=method, route=route, status=status, seconds=seconds)
            tracing.finish_request(span, method=method, route=route, status=status)
            told = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 2)}
            told["bytes"] = _size(response)
            level = logging.INFO if status < 500 else logging.ERROR
            log.log(level, "request", extra={"fields": told})
        return response


def _size(response: Any) -> int | None:
    """Bytes of the answer's body; None for a stream of unknown length."""
    if not response.streaming:
        return len(response.content)
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


class AdminPagesUseAdminRole:
    """The admin's pages run as the cross-tenant database role; everything else as the app role.

    Stands before session and login, whose tables only the admin role can read.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith("/admin/"):
            return self.get_response(request)
        with admin_role():
            return self.get_response(request)
