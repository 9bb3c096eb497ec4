"""Acme and a session of its own."""

import pytest
from django.utils import timezone

from providers.fake import FakeProvider
from providers.llm import reset_llm
from tenants.models import Job
from tenants.scope import scope
from tests.episodic.conftest import model_away
from tests.recall.left_alone import tell
from tests.recall.summarised import fill
from tests.working.conversation import S, append, reference, turn
from working import memory

__all__ = ["caller", "model_away", "ref"]


@pytest.fixture
def caller(acme):
    """Jobs that wait go with the test: they would ask the language model of another one."""
    yield acme.caller
    with scope(acme.tenant.id):
        Job.objects.filter(tenant_id=acme.tenant.id).delete()


@pytest.fixture
def filled(caller):
    """With records of two people, to be summarised."""
    return fill(caller)


@pytest.fixture
def ref(caller):
    """A session with a turn, a field and an item of the ledger."""
    append(caller, turn("user", "My dog is called Rex"), turn("assistant", "Noted."))
    memory.put_fields(caller=caller, address=S, data={"x": 1}, now=timezone.now())
    tell(caller, "skill:a")
    return reference(caller)


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
