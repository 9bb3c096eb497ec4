"""What a language model may do instead of answering, and what comes after."""

import time
from typing import Any

import pytest
from django.conf import settings as in_force
from django.utils import timezone

from providers.fake import FakeProvider
from providers.llm import reset_llm
from tenants.caller import Caller
from tenants.jobs import runner
from tenants.models import Job
from tenants.scope import scope

CHAT = "/v1/chat/completions"
AWAY: dict[str, dict[str, Any]] = {
    "hung": {"hung": -1},
    "slow": {"slow": 30.0},
    "byte by byte": {"slow_byte": 0.5},
    "dead": {"dead": -1},
    "429": {"rate_limited": -1},
    "500": {"wrong": -1},
    "garbage": {"wrong": -1, "wrong_kind": "garbage"},
}
WRONG: dict[str, dict[str, Any]] = {
    "no JSON": {"says": "I live in Oslo, too!"},
    "off the schema": {"off_schema": -1},
    "cut off": {"truncated": -1},
    "refusal": {"refusal": -1},
    "filtered": {"filtered": -1},
}
FAULTS = AWAY | WRONG


@pytest.fixture
def impatient(llm: FakeProvider, settings: Any) -> FakeProvider:
    """A model that is waited for shortly."""
    settings.PROVIDER_TIMEOUT_SECONDS = 1
    reset_llm()
    return llm


def recover(llm: FakeProvider, *, says: str) -> None:
    """The model is well and waited for as ever, and the breaker that has opened is a new one."""
    in_force.PROVIDER_TIMEOUT_SECONDS = 60
    llm.reset()
    llm.control(says=says)
    reset_llm()


def jobs_of(caller: Caller, kind: str) -> list[Job]:
    with scope(caller.tenant_id):
        return list(Job.objects.filter(tenant_id=caller.tenant_id, kind=kind).order_by("id"))


def try_again(caller: Caller, kind: str, *, attempts: int | None = None) -> None:
    """Does what waits at once; as if it had been tried so often before."""
    with scope(caller.tenant_id):
        waiting = Job.objects.filter(tenant_id=caller.tenant_id, kind=kind, state="queued")
        waiting.update(run_at=timezone.now(), **({} if attempts is None else {"attempts": attempts}))
    run_due(caller, kind)


def run_due(caller: Caller, kind: str) -> None:
    """Does what is due."""
    until = time.monotonic() + 120
    while any(one.state == "queued" and one.run_at <= timezone.now() for one in jobs_of(caller, kind)):
        assert time.monotonic() < until
        runner.run_jobs(slow=True)
