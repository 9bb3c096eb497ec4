"""What the isolation self-test tries over HTTP: requests with a key of the testing tenant, through all of the
middleware, to the server's own application, in this thread and transaction."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest

from tenants.walls.attempts import Attempt
from tenants.walls.pass_key import pass_key
from tenants.walls.registry import Door
from tenants.walls.stage import Ask, Planted, Refused, Stage

REST, MCP = "HTTP API", "MCP tools"
KEY = "api.walls.key"
# Paths, by what they ask for; `{…}` is a thing of whom they reach for, or one of its names.
GETS = {
    "an episode": "/api/v1/episodes/{episode}",
    "the episodes of a person": "/api/v1/episodes?user_id={user_id}",
    "a slot": "/api/v1/entities/{user_id}/keeps.ladder",
    "a slot's history": "/api/v1/entities/{user_id}/keeps.ladder/history",
    "the slots of a person": "/api/v1/entities?user_id={user_id}",
    "an observation": "/api/v1/observations/{observation}",
    "the observations of a project": "/api/v1/observations?project={project}",
    "an observation, as AgentOps asks": "/observations/{observation}",
    "recent observations, as AgentOps asks": "/observations/recent?project={project}",
    "search, as AgentOps asks": "/search?q={word}&project={project}",
    "a session's log": "/api/v1/sessions/{own}/events?user_id={user_id}",
    "a session's window": "/api/v1/sessions/{own}/window?user_id={user_id}",
    "the data of a session, as AEGIS asks": "/working-memory/{own}?user_id={user_id}",
    "the data of a session of our name": "/working-memory/{session_id}?user_id={user_id}",
    "a session as a whole": "/v1/working-memory/{own}?user_id={user_id}",
    "an episode, as a record": "/v1/long-term-memory/{episode}",
    "a document": "/api/v1/documents/{document}",
    "the documents of a project": "/api/v1/documents?project={project}",
    "what a person was told": "/api/v1/injections?user_id={user_id}",
}
POSTS: dict[str, tuple[str, dict[str, str]]] = {
    "recall": ("/api/v1/recall", {"query": "{query}", "user_id": "{user_id}"}),
    "search among records": ("/v1/long-term-memory/search", {"text": "{query}"}),
    "a prompt": ("/v1/memory/prompt", {"query": "{query}", "long_term_search": "true"}),
    "search in documents": ("/api/v1/documents/search", {"query": "{query}"}),
}
TOOLS = {
    "mem_search": {"query": "{query}"},
    "mem_context": {},
    "search_docs": {"query": "{query}"},
}


def http_door() -> Door:
    """Requests for what the decoy has."""
    about = "A key of this tenant, which lives as long as the test, asks the API for what the decoy has."
    return Door(REST, about, _requests, around=_with_key)


def mcp_door() -> Door:
    """The tools that read."""
    about = "The same key calls the tools that read, in a project of the decoy's name."
    return Door(MCP, about, _calls)


@contextmanager
def _with_key(stage: Stage) -> Iterator[None]:
    with pass_key(tenant_id=stage.ours.tenant_id, now=stage.ours.now) as key:
        stage.kept[KEY] = key
        yield


def _requests(stage: Stage) -> Iterator[Attempt]:
    for target, path in GETS.items():
        yield stage.tried(REST, target, f"GET {path.partition('?')[0]}", _getting(stage, path), by_twin=True)
    for target, (path, body) in POSTS.items():
        yield stage.tried(REST, target, f"POST {path}", _posting(stage, path, body), by_twin=True)


def _calls(stage: Stage) -> Iterator[Attempt]:
    for name, arguments in TOOLS.items():
        yield stage.tried(MCP, name, "call it over /mcp", _calling(stage, name, arguments), by_twin=True)


def _getting(stage: Stage, path: str) -> Ask:
    def ask(asker: Planted, owner: Planted) -> object:
        return _sent(stage, "GET", path.format_map(_quoted(owner)))

    return ask


def _posting(stage: Stage, path: str, body: dict[str, str]) -> Ask:
    def ask(asker: Planted, owner: Planted) -> object:
        return _sent(stage, "POST", path, _filled(body, owner))

    return ask


def _calling(stage: Stage, name: str, arguments: dict[str, str]) -> Ask:
    def ask(asker: Planted, owner: Planted) -> object:
        call = {"name": name, "arguments": _filled(arguments, owner)}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        return _sent(stage, "POST", f"/mcp?{urlencode({'project': owner.project})}", message)

    return ask


def _filled(body: dict[str, str], owner: Planted) -> dict[str, str]:
    return {name: value.format_map(_names(owner)) for name, value in body.items()}


def _quoted(owner: Planted) -> dict[str, str]:
    return {name: quote(value, safe="") for name, value in _names(owner).items()}


def _names(owner: Planted) -> dict[str, str]:
    names = {
        name: getattr(owner, name) for name in ("own", "word", "query", "user_id", "project", "session_id")
    }
    return names | owner.things


def _sent(stage: Stage, method: str, address: str, body: object = None) -> str:
    """The body of the answer. Raises Refused for a status of failure. Runs in a copy of the context:
    middleware must not change ours."""
    environ = _environ(stage.kept[KEY], method, address, body)
    status, text = copy_context().run(_answer, environ)
    if status >= 400:
        raise Refused(str(status), text, is_fault=status >= 500)
    return text


def _environ(key: str, method: str, address: str, body: object) -> dict[str, Any]:
    """As a WSGI server makes it (PEP 3333)."""
    path, _, query = address.partition("?")
    raw = b"" if body is None else json.dumps(body).encode()
    named = next((host for host in settings.ALLOWED_HOSTS if host[:1] not in "*."), "localhost")
    plain = unquote_to_bytes(path).decode("latin-1")
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": plain,
        "strata.path": plain,
        "QUERY_STRING": query,
        "SERVER_NAME": named,
        "SERVER_PORT": "443",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": named,
        "HTTP_AUTHORIZATION": f"Bearer {key}",
        "HTTP_ACCEPT": "application/json, text/event-stream",
        "CONTENT_TYPE": "application/json" if raw else "",
        "CONTENT_LENGTH": str(len(raw)) if raw else "",
        "wsgi.url_scheme": "https",
        "wsgi.input": io.BytesIO(raw),
        "wsgi.errors": io.StringIO(),
    }


def _answer(environ: dict[str, Any]) -> tuple[int, str]:
    """Like WSGIHandler, but for the signals of a request's beginning and end: upon these, Django would close
    the connection that the rehearsal is in."""
    request = WSGIRequest(environ)
    try:
        response: Any = _handler().get_response(request)
        return response.status_code, b"".join(response).decode(errors="replace")
    finally:
        request.close()


@cache
def _handler() -> BaseHandler:
    """The middleware is built once in a process."""
    handler = BaseHandler()
    handler.load_middleware()
    return handler
