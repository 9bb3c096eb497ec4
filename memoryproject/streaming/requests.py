"""From an ASGI request to the same checks and answers as on the main port."""

import io
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import Resolver404, re_path, resolve

from api.errors import Problem
from api.native import errors, frames
from api.native.streaming import PATH, Asked, StreamView
from memoryproject.health import HealthView
from memoryproject.middleware import ObserveRequests
from memoryproject.streaming.places import Take
from working.live import Page

TAKE = "strata.take_place"  # where a request has what takes a place for it


class Accepted(HttpResponse):
    """The beginning of a stream: its headers, and the first page of what it tells."""

    def __init__(self, asked: Asked, page: Page) -> None:
        super().__init__(content_type=frames.MEDIA_TYPE, headers=frames.HEADERS)
        self.asked, self.page = asked, page


class LongStreamView(StreamView):
    """`/api/v1/events/stream`, for as long as the client likes."""

    def answer(self, asked: Asked) -> HttpResponse:
        self.request.META[TAKE](asked.caller)
        return Accepted(asked, asked.read_on(asked.after))


class _Urls:
    urlpatterns = (
        re_path(rf"^{PATH.removeprefix('/')}/?\Z", LongStreamView.as_view()),
        re_path(r"^health/?\Z", HealthView.as_view()),
    )


def request_of(scope: dict[str, Any]) -> WSGIRequest:
    """The request as a WSGI server would have made it (PEP 3333), without its body: no route here reads
    one."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}", value.decode("latin-1")
        headers[key] = f"{headers[key]},{text}" if key in headers else text
    path = scope["path"].encode(errors="surrogateescape").decode("latin-1")
    return WSGIRequest(
        {
            **headers,
            "REQUEST_METHOD": scope["method"],
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "strata.path": path,
            "QUERY_STRING": scope["query_string"].decode("latin-1"),
            "SERVER_NAME": (scope.get("server") or ("localhost", 0))[0],
            "SERVER_PORT": str((scope.get("server") or ("localhost", 0))[1]),
            "REMOTE_ADDR": (scope.get("client") or ("", 0))[0],
            "wsgi.url_scheme": scope["scheme"],
            "wsgi.input": io.BytesIO(),
        }
    )


def answer(request: HttpRequest, take: Take) -> HttpResponseBase:
    """The whole answer, or an `Accepted`, for which a place has been taken. In a thread."""
    request.META[TAKE] = take
    return ObserveRequests(_answer)(request)


def _answer(request: HttpRequest) -> HttpResponseBase:
    try:
        match = resolve(request.path_info, urlconf=_Urls)  # type: ignore[arg-type]  # it looks for patterns only
    except Resolver404:
        shape = errors.shape(Problem(404, "Here are live events alone."))
        return JsonResponse(shape, status=404, content_type="application/problem+json")
    request.resolver_match = match
    response: HttpResponse = match.func(request)
    render = getattr(response, "render", None)
    return render() if render else response
