"""`Idempotency-Key`: a write that is sent again is answered again, not done again."""

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.renderers import JSONRenderer
from api.views import body_of, caller_of, checked_id
from tenants.idempotency import Answer, AnsweredMeanwhile, Write, expecting, find_answer

T = TypeVar("T")
HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEPT_HEADERS = ("ETag", "Location")
PRECONDITIONS = ("If-Match", "If-None-Match")


def once(
    request: Request, result: type[T], write: Callable[[], T], answer: Callable[[T], Response]
) -> Response:
    """What `answer` makes of what `write` does; with a key, of what it did the first time.

    `write` is one domain function that calls `tenants.idempotency.keep` with its `result`. The same key with
    another method, path, query, precondition or body is a Conflict. Refusals are not kept: they changed
    nothing.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return answer(write())
    named = _write_of(request, checked_id(key, HEADER))
    if (found := find_answer(named)) is not None:
        return _replayed(found)
    try:
        with expecting(named, result=result, render=lambda done: _rendered(answer(done)), now=timezone.now()):
            return answer(write())
    except AnsweredMeanwhile:
        found = find_answer(named)
        if found is None:  # it was cleared or erased in this moment
            raise
        return _replayed(found)


def _write_of(request: Request, key: str) -> Write:
    """An HMAC, since a path may name a person, and whoever could guess it could tell. What the caller is
    bound to is part of it: an answer is not for one of the same name who reaches less."""
    caller = caller_of(request)
    digest = hmac.new(settings.SECRET_KEY.encode(), digestmod=hashlib.sha256)
    bindings = (caller.user_id, caller.agent_id, caller.project, *sorted(caller.scopes))
    path, query = request.META.get("strata.path", request.path), request.META.get("QUERY_STRING", "")
    preconditions = (request.headers.get(name, "") for name in PRECONDITIONS)
    for part in (json.dumps(bindings), str(request.method), path, query, *preconditions):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\n")
    digest.update(body_of(request))
    return Write(caller.tenant_id, caller.principal, key, digest.hexdigest())


def _rendered(response: Response) -> Answer:
    body = b"" if response.data is None else JSONRenderer().render(response.data)
    headers = {name: response[name] for name in KEPT_HEADERS if name in response}
    return Answer(response.status_code, body.decode(), headers)


def _replayed(answer: Answer) -> Response:
    data = json.loads(answer.body) if answer.body else None
    return Response(data, status=answer.status, headers={**answer.headers, REPLAYED: "true"})
