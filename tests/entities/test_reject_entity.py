"""Deciding that what waits for a slot is not so."""

from dataclasses import replace

import pytest
from django.utils import timezone

from episodic.entities import access_entity, confirm_entity
from episodic.rejecting import reject_entity
from tenants.errors import Forbidden, NotFound
from tests.console.remembered import slot, waiting


def reject(caller, key="email"):
    return reject_entity(caller=caller, user_id="ann", key=key, now=timezone.now())


def test_what_held_stays_and_nothing_waits_any_more(acme):
    slot(acme.caller, "old@example.com", key="email")
    value = waiting(acme.caller, "new@example.com")
    rejected = reject(acme.caller)
    assert (rejected.id, rejected.status, rejected.valid_to) == (value, "retracted", rejected.valid_from)
    assert access_entity(caller=acme.caller, user_id="ann", key="email").value == "old@example.com"
    with pytest.raises(NotFound):
        confirm_entity(caller=acme.caller, user_id="ann", key="email", now=timezone.now())


def test_where_nothing_waits_there_is_nothing_to_reject(acme, globex):
    slot(acme.caller, "old@example.com", key="email")
    with pytest.raises(NotFound):
        reject(acme.caller)
    waiting(acme.caller, "new@example.com")
    with pytest.raises(NotFound):
        reject(globex.caller)


def test_an_agent_and_another_persons_key_decide_nothing(acme):
    waiting(acme.caller, "new@example.com")
    for caller in (replace(acme.caller, agent_id="bot"), replace(acme.caller, user_id="bob")):
        with pytest.raises(Forbidden):
            reject(caller)
