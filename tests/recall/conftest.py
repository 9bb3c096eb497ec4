"""Acme and a session of its own."""

import pytest
from django.utils import timezone

from tests.episodic.conftest import model_away
from tests.recall.left_alone import tell
from tests.working.conversation import S, append, reference, turn
from working import memory

__all__ = ["caller", "model_away", "ref"]


@pytest.fixture
def caller(acme):
    return acme.caller


@pytest.fixture
def ref(caller):
    """A session with a turn, a field and an item of the ledger."""
    append(caller, turn("user", "My dog is called Rex"), turn("assistant", "Noted."))
    memory.put_fields(caller=caller, address=S, data={"x": 1}, now=timezone.now())
    tell(caller, "skill:a")
    return reference(caller)
