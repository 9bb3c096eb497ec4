"""A person who tells, and what memory has of it afterwards."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from episodic.entities import current_slots
from episodic.models import Entity, Episode
from ledger.models import WriteDecision
from providers.fake import FakeProvider
from providers.llm import reset_llm
from recall.remember.remember import Remembered, remember
from tenants.caller import Caller
from tenants.policy import reading
from tenants.policy.versions import Level, write_policy
from tenants.scope import scope
from tests.working.conversation import append, turn
from working.types import SessionAddress


@dataclass
class Person:
    """One user in one session."""

    caller: Caller
    user_id: str = "ann"
    session_id: str = "s"

    @property
    def address(self) -> SessionAddress:
        return SessionAddress(self.session_id, self.user_id)

    def tell(self, message: str, reply: str | None = None, **more: Any) -> Remembered:
        more = {"now": timezone.now()} | more
        return remember(
            caller=self.caller,
            address=self.address,
            user_message=message,
            assistant_message=reply,
            **more,
        )

    def say(self, *texts: str) -> None:
        """Into the log alone."""
        append(self.caller, *(turn("user", text) for text in texts), address=self.address)

    def slots(self) -> dict[str, Any]:
        return {one.key: one.value for one in current_slots(caller=self.caller, user_id=self.user_id)}

    def rows(self) -> list[Entity]:
        with scope(self.caller.tenant_id):
            mine = Entity.objects.filter(tenant_id=self.caller.tenant_id, user_id=self.user_id)
            return list(mine.order_by("created_at", "id"))

    def episodes(self) -> list[Episode]:
        with scope(self.caller.tenant_id):
            mine = Episode.objects.filter(tenant_id=self.caller.tenant_id, user_id=self.user_id)
            return list(mine.order_by("created_at", "id"))

    def decisions(self) -> list[WriteDecision]:
        with scope(self.caller.tenant_id):
            mine = WriteDecision.objects.filter(tenant_id=self.caller.tenant_id, user_id=self.user_id)
            return list(mine.order_by("created_at", "id"))

    def decide(self, **document: Any) -> None:
        """Has the tenant's policy say so."""
        write_policy(level=Level(self.caller.tenant_id, ""), actor="test", changes=document)
        reading.forget(self.caller.tenant_id)


@pytest.fixture
def ann(acme):
    return Person(acme.caller)


@pytest.fixture
def llm(settings):
    """A fake language model, which the settings name."""
    with FakeProvider() as provider:
        settings.LLM_PROVIDER, settings.LLM_MODEL = "openai", "gpt-4.1-mini"
        settings.LLM_BASE_URL, settings.LLM_API_KEY = provider.base_url, "k"
        settings.PROVIDER_RETRIES = 0
        reset_llm()
        yield provider
    reset_llm()


def found(*facts: tuple[str, str, float], summary: str | None = None, **more: Any) -> str:
    """A good answer of the model."""
    named = [{"key": key, "value": value, "confidence": sure} for key, value, sure in facts]
    kind = "episodic" if summary else "entity"
    answer = {"should_persist": True, "memory_type": kind, "facts": named, "summary": summary}
    return json.dumps(answer | more)


def reasons(done: Remembered) -> list[str]:
    return [one.reason for one in done.skipped]
