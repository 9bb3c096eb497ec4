"""Telling a tenant's webhooks what happens to memories: deliveries are written in the commit of what they
tell.

What is rolled back was never told. A tenant without webhooks pays a look into this process's memory, and
every few seconds one look-up.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from tenants.jobs.queue import enqueue
from tenants.scope import scope
from webhooks.models import Delivery, Event, Webhook
from webhooks.querysets import forget_text
from webhooks.types import LONGEST_TEXT, Memory

DELIVER = "webhook.deliver"  # the kind of the job that sends
KNOWN_SECONDS = 5.0
MOST_TENANTS = 10_000  # whose webhooks a process knows


@dataclass(frozen=True, slots=True)
class _Known:
    """What a process remembers of a webhook."""

    id: UUID
    is_active: bool
    events: frozenset[str]
    kinds: frozenset[str]
    agent_id: str
    project: str
    include_text: bool

    def wants(self, memory: Memory) -> bool:
        return (
            (not self.kinds or memory.kind in self.kinds)
            and (not self.agent_id or memory.agent_id == self.agent_id)
            and (not self.project or memory.project == self.project)
        )


_known: dict[UUID, tuple[float, list[_Known]]] = {}


def announce(
    *, tenant_id: UUID, event: Event, memories: Iterable[Memory] | Callable[[], Iterable[Memory]]
) -> None:
    """Has each webhook that wants to know told of the memories, in the open scope, once it is committed.
    `memories` are only looked at, or asked for, if there is one."""
    webhooks = _webhooks_of(tenant_id)
    if not webhooks:
        return
    told = [one for one in webhooks if one.is_active and event in one.events]
    if not told and event != Event.ERASED:
        return
    happened = list(memories() if callable(memories) else memories)
    if event == Event.ERASED:
        _forget_texts(tenant_id, happened)
    _insert(tenant_id, list(_deliveries(tenant_id, told, event, happened)))


def is_anyone_told(tenant_id: UUID) -> bool:
    """Whether the tenant has webhooks, in the open scope: for whoever would have to look up what to tell."""
    return bool(_webhooks_of(tenant_id))


def announce_erased_subject(tenant_id: UUID, subject: str, erased_at: datetime) -> None:
    """Has webhooks told that everything of a person was erased, whom the HMAC `subject` stands for, in the
    open scope."""
    data = {"subject": subject, "erased_at": erased_at.astimezone(UTC).isoformat().replace("+00:00", "Z")}
    _tell_of_subject(tenant_id, Event.SUBJECT_ERASED, data)


def announce_exported_subject(tenant_id: UUID, user_id: str, job_id: UUID) -> None:
    """Has webhooks told that an export of a person is ready, in the open scope. It names the person, as what
    is told of their memories does, and goes with them."""
    data = {"user_id": user_id, "job_id": str(job_id), "url": f"/api/v1/jobs/{job_id}"}
    _tell_of_subject(tenant_id, Event.SUBJECT_EXPORTED, data)


def _tell_of_subject(tenant_id: UUID, event: Event, data: Mapping[str, Any]) -> None:
    told = [one for one in _webhooks_of(tenant_id) if one.is_active and event in one.events]
    event_id = uuid7()
    rows = [_row(tenant_id, one.id, event, event_id, data) for one in told]
    for row in rows:
        row.user_id = data.get("user_id", "")
    _insert(tenant_id, rows)


def insert_test(webhook: Webhook) -> Delivery:
    """One that tells nothing, for whoever tries the webhook, in the open scope."""
    row = _row(webhook.tenant_id, webhook.id, Event.TEST, uuid7(), {"message": "This is a test."})
    row.save(force_insert=True)
    ask_to_deliver(webhook.tenant_id, [webhook.id])
    return row


def ask_to_deliver(tenant_id: UUID, webhook_ids: Iterable[UUID]) -> None:
    """Has the deliveries of these webhooks sent once the open scope is committed. What is lost on the way is
    found by the sweeper."""
    # After the commit: two writers that record the same job would wait for each other's end.
    transaction.on_commit(partial(_enqueue, tenant_id, sorted(set(webhook_ids))), robust=True)


def forget(tenant_id: UUID) -> None:
    """Has this process look up the tenant's webhooks anew; others do within `KNOWN_SECONDS`."""
    _known.pop(tenant_id, None)


def _enqueue(tenant_id: UUID, webhook_ids: list[UUID]) -> None:
    with scope(tenant_id):
        for one in webhook_ids:
            enqueue(DELIVER, payload={"webhook": str(one)}, dedup_key=one.hex, now=timezone.now())


def _webhooks_of(tenant_id: UUID) -> list[_Known]:
    known = _known.get(tenant_id)
    if known is not None and time.monotonic() < known[0]:
        return known[1]
    columns = ("id", "is_active", "events", "kinds", "agent_id", "project", "include_text")
    found = [
        _Known(one_id, active, frozenset(events), frozenset(kinds), agent_id, project, include_text)
        for one_id, active, events, kinds, agent_id, project, include_text in Webhook.objects.filter(
            tenant_id=tenant_id
        ).values_list(*columns)
    ]
    if len(_known) >= MOST_TENANTS:
        _known.clear()
    _known[tenant_id] = (time.monotonic() + KNOWN_SECONDS, found)
    return found


def _deliveries(
    tenant_id: UUID, webhooks: list[_Known], event: Event, memories: list[Memory]
) -> Iterator[Delivery]:
    for memory in memories:
        event_id = uuid7()
        for one in webhooks:
            if one.wants(memory):
                text = memory.text[:LONGEST_TEXT] if one.include_text and event != Event.ERASED else ""
                data = _told(memory) | ({"text": text} if text else {})
                yield _row(tenant_id, one.id, event, event_id, data, memory)


def _told(memory: Memory) -> dict[str, Any]:
    return {
        "kind": memory.kind,
        "id": memory.id or None,
        "ids": [memory.id] if memory.id else list(memory.ids),
        "user_id": memory.user_id or None,
        "agent_id": memory.agent_id or None,
        "project": memory.project or None,
        "session_id": memory.session_id or None,
        "url": memory.url or None,
    }


def _row(
    tenant_id: UUID,
    webhook_id: UUID,
    event: Event,
    event_id: UUID,
    data: Mapping[str, Any],
    memory: Memory | None = None,
) -> Delivery:
    now = timezone.now()
    return Delivery(
        tenant_id=tenant_id,
        webhook_id=webhook_id,
        event_id=event_id,
        event=event,
        kind=memory.kind if memory else "",
        memory_id=memory.id if memory else "",
        user_id=memory.user_id if memory else "",
        names=list(memory.names) if memory and memory.names else None,
        data=data,
        has_text="text" in data,
        due_at=now,
        created_at=now,
    )


def _insert(tenant_id: UUID, rows: list[Delivery]) -> None:
    if rows:
        Delivery.objects.bulk_create(rows, batch_size=1_000)
        ask_to_deliver(tenant_id, [one.webhook_id for one in rows])


def _forget_texts(tenant_id: UUID, memories: list[Memory]) -> None:
    for kind in {one.kind for one in memories}:
        ids = [i for one in memories if one.kind == kind for i in ([one.id] if one.id else one.ids)]
        forget_text(tenant_id=tenant_id, kind=kind, memory_ids=ids)
