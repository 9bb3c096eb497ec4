"""What was in flight when a person was erased cannot come back as a slot; and nothing of them stays."""

import pytest
from django.utils import timezone

from episodic import entities
from episodic.entities import confirm_entity, pin_entity
from tenants.privacy.handlers import Subject
from tenants.privacy.registry import handlers
from tenants.scope import scope
from tenants.tombstones import Erased, bury
from tests.entities.facts import KIM, embedded, rows, say
from tests.privacy import people
from tests.working.conversation import at_once


@pytest.mark.parametrize("extracted", [False, True])
def test_a_write_that_was_begun_before_the_erasure_is_refused(acme, extracted):
    began = timezone.now()
    people.erase(acme, KIM)
    with pytest.raises(Erased):
        say(acme.caller, "Turin", extracted=extracted, now=began)
    assert rows(acme.caller) == []
    assert say(acme.caller, "Turin", extracted=extracted).action == "created", (
        "a returning person starts anew"
    )


def test_one_who_is_erased_while_the_model_is_asked_leaves_nothing(acme, monkeypatch):
    def erase_meanwhile(*_args, **_named):
        people.erase(acme, KIM)

    monkeypatch.setattr(entities, "try_embed", erase_meanwhile)
    with pytest.raises(Erased):
        say(acme.caller, "Turin")
    assert rows(acme.caller) == []


def test_changes_that_were_begun_before_it_are_refused(acme):
    say(acme.caller, "a@x", key="email")
    say(acme.caller, "b@x", key="email", extracted=True)
    began = timezone.now()
    with scope(acme.tenant.id):  # a tombstone alone: the rows are still there, as they are for a moment
        bury(tenant_id=acme.tenant.id, user_id=KIM, requested_by="test", now=timezone.now())
    for change in (confirm_entity, pin_entity):
        with pytest.raises(Erased):
            change(caller=acme.caller, user_id=KIM, key="email", now=began)


def test_an_erasure_takes_slots_their_history_and_their_vectors(acme):
    for city in ("Turin", "Oslo"):
        say(acme.caller, city)
    say(acme.caller, "kim@x", key="email", extracted=True)
    say(acme.caller, "Bern", user_id="lee")
    receipt = people.erase(acme, KIM).receipt
    assert (receipt["erased"]["entity"], receipt["erased"]["entity_embedding"]) == (3, 1)
    assert not any(people.belongings(acme.tenant.id, KIM).values())
    assert embedded(acme.caller) == {"Bern"}


def test_an_export_tells_every_value_and_no_vector(acme):
    say(acme.caller, {"a": [None, 1.5]}, source="form", session_id="s", turn=3)
    say(acme.caller, None)
    subject = Subject(acme.tenant.id, KIM, timezone.now())
    told = [record for name in ("entity", "entity_embedding") for record in handlers()[name].export(subject)]
    assert [(one["value"], one["status"], one["source"]) for one in told] == [
        ({"a": [None, 1.5]}, "superseded", "form"), (None, "current", "api"),
    ]  # fmt: skip
    assert "embed_pending" not in told[0]


def test_writers_racing_with_the_erasure_leave_nothing_from_before_it(acme, monkeypatch):
    monkeypatch.setattr(entities, "try_embed", lambda *_args, **_named: None)

    def write(n):
        try:
            say(acme.caller, n, key=f"k{n % 3}")
        except Erased:
            return

    results = at_once(*(lambda n=n: write(n) for n in range(12)), lambda: people.erase(acme, KIM))
    left = [row for key in ("k0", "k1", "k2") for row in rows(acme.caller, key)]
    assert all(row.created_at > results[-1].erased_at for row in left)
