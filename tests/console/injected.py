"""Writes that wait, jobs that failed, and what webhooks were told, as the pages about them show them."""

from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from episodic.types import NewEpisode
from ledger.decisions import Refused, note_decision
from ledger.models import WriteDecision
from recall.holding import hold_episode
from tenants.caller import Caller
from tenants.models import Job
from tenants.scope import scope
from tests.isolation.tables import store
from webhooks.models import Delivery, Webhook
from webhooks.webhooks import create_webhook

HOOK = "https://93.184.215.14/hook?token=4711"


def held_write(caller: Caller, text: str, *, outcome: str = "held", reason: str = "secret") -> WriteDecision:
    """An episode of Ann that was held back, or skipped for a reason that keeps its text."""
    held = hold_episode(NewEpisode(text=text, user_id="ann"))
    refused = Refused(kind="episode", reason=reason, text=text, held=held, outcome=outcome)  # type: ignore[arg-type]
    with scope(caller.tenant_id):
        return note_decision(
            caller=caller, session_id="talk", user_id="ann", agent_id="bot", project="", refused=refused,
            now=timezone.now(),
        )  # fmt: skip


def job(tenant_id: UUID, *, state: str = "failed", kind: str = "session.index", **named: Any) -> Job:
    now = timezone.now()
    named = {"error": "ValueError: off schema", "attempts": 12, "max_attempts": 12} | named
    return store(Job(tenant_id=tenant_id, kind=kind, state=state, run_at=now, created_at=now, **named))


def webhook(caller: Caller, **named: Any) -> Webhook:
    return create_webhook(caller=caller, new={"url": HOOK, **named}, now=timezone.now())


def delivered(caller: Caller, data: Any, *, hook: Webhook | None = None, **named: Any) -> Delivery:
    """Nothing is sent: it is as if the receiver had refused it for good."""
    one, now = hook or webhook(caller), timezone.now()
    named = {"state": "failed", "attempts": 9, "last_status": 500, "latency_ms": 41} | named
    row = Delivery(
        tenant_id=caller.tenant_id, webhook_id=one.id, event_id=uuid4(), event="memory.created",
        data=data, due_at=now, created_at=now, **named,
    )  # fmt: skip
    return store(row)
