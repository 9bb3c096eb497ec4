"""Doing a write once, however often it is sent: its answer is kept in the commit of its effect.

A client that got no answer sends the write again with the same `Idempotency-Key`. If the first one was
committed, so was its answer, and the second gets that; if it was not, the second does the work. Nothing is in
between, because there is only the one commit. Three writes consist of several and keep their answer in the
last: what was cut off before that is done again. The start of a session finds it there already, the clean-up
of sessions counts only what was still left, and the lookup before a tool runs is logged a second time.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from uuid_utils.compat import uuid7

from tenants.errors import Conflict, DomainError
from tenants.models import StoredAnswer
from tenants.scope import scope

INSERT = """
INSERT INTO tenants_storedanswer (id, tenant_id, principal, key, digest, user_id, status, body, headers,
                                  created_at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s)
ON CONFLICT (tenant_id, principal, key) DO NOTHING
"""


NOT_KEPT = (
    409  # the status of a write whose answer was too long, or named an erased person; refusals have no row
)


class AnsweredMeanwhile(DomainError):
    """The same write was committed by another request at the same time: this one is rolled back."""


@dataclass(frozen=True, slots=True)
class Write:
    """A write as its sender names it: two with the same key are one if their digest is the same."""

    tenant_id: UUID
    principal: str
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the write was answered."""

    status: int
    body: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Expected:
    write: Write
    result: type
    render: Callable[..., Answer]
    now: datetime


_expected: ContextVar[_Expected | None] = ContextVar("expected_answer", default=None)


def find_answer(write: Write) -> Answer | None:
    """What the write was answered before. Raises Conflict when the key stands for another write, or the
    answer is not kept."""
    with scope(write.tenant_id):
        found = StoredAnswer.objects.filter(
            tenant_id=write.tenant_id, principal=write.principal, key=write.key
        ).first()
    if found is None:
        return None
    if found.digest != write.digest:
        raise Conflict("This Idempotency-Key was used for another request.")
    if found.status == NOT_KEPT:
        raise Conflict("This was done before; its answer is not kept. Ask without the key.")
    return Answer(found.status, found.body, found.headers)


@contextmanager
def expecting(write: Write, *, result: type, render: Callable[..., Answer], now: datetime) -> Iterator[None]:
    """Within the block, the first `keep` of a `result` stores what `render` makes of it."""
    token = _expected.set(_Expected(write, result, render, now))
    try:
        yield
    finally:
        _expected.reset(token)


def keep(result: object, *, user_id: str, longest: int | None = None) -> None:
    """Called by a domain function in the scope of its effect, with what it is going to answer about the user.
    Of an answer with more than `longest` characters only that there was one is kept.

    Does nothing unless the request carries a key. Raises AnsweredMeanwhile, which rolls the effect back.
    """
    expected = _expected.get()
    if expected is None or not isinstance(result, expected.result):
        return
    transaction.on_commit(lambda: _expected.set(None))  # what the write does beside is not its answer
    write, answer = expected.write, expected.render(result)
    if longest is not None and len(answer.body) > longest:
        answer = Answer(NOT_KEPT, "", {})
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT,
            [
                uuid7(),
                write.tenant_id,
                write.principal,
                write.key,
                write.digest,
                user_id,
                answer.status,
                answer.body,
                json.dumps(dict(answer.headers)),
                expected.now,
            ],
        )
        if not cursor.rowcount:
            raise AnsweredMeanwhile("The same write was answered meanwhile.")
