"""A slot that was removed with its history stays away, whatever was said before and is written after."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.entities import delete_entity
from ledger.expiry import expire_removals
from ledger.models import SlotRemoval
from ledger.removals import was_removed
from tenants.errors import NotFound
from tenants.jobs.queue import enqueue
from tenants.models import Job
from tenants.scope import scope
from tests.entities.facts import KIM, at, rows, say, told
from tests.privacy import people

MONTH = timedelta(days=31)


def remove(caller, *, key="city", user_id=KIM, now=None):
    delete_entity(caller=caller, user_id=user_id, key=key, hard=True, now=now or timezone.now())


def removals(caller):
    with scope(caller.tenant_id):
        return list(SlotRemoval.objects.filter(tenant_id=caller.tenant_id))


def late(caller, value="Oslo", **named):
    """What was said at three and is written at nine."""
    return say(caller, value, extracted=True, **{"valid_from": at(3), "now": at(9)} | named)


def test_what_was_said_before_does_not_bring_it_back(caller):
    say(caller, "Turin", now=at(0))
    remove(caller, key="City", now=at(5))
    done = late(caller)
    assert (done.entity, done.action, done.reason) == (None, "skipped", "outdated")
    assert rows(caller) == []


def test_though_there_was_nothing_yet_to_be_removed(caller):
    with pytest.raises(NotFound):
        remove(caller, now=at(5))
    assert late(caller).reason == "outdated"
    assert rows(caller) == []


@pytest.mark.parametrize("write", [
    lambda caller: late(caller, valid_from=at(6)), lambda caller: say(caller, "Oslo", now=at(9)),
    lambda caller: late(caller, key="country"), lambda caller: late(caller, user_id="lee"),
    lambda caller: say(caller, "Oslo", valid_from=at(3), now=at(9)),
], ids=["said later", "sent", "another slot", "another user", "sent by who knows since when"])  # fmt: skip
def test_what_is_said_since_or_of_another_is_written(caller, write):
    say(caller, "Turin", now=at(0))
    remove(caller, now=at(5))
    assert write(caller).action == "created"


def test_another_tenant_is_not_meant(acme, globex):
    say(acme.caller, "Turin", now=at(0))
    remove(acme.caller, now=at(5))
    assert late(globex.caller).action == "created"


def test_what_was_only_taken_back_is_history(caller):
    say(caller, "Turin", now=at(0))
    delete_entity(caller=caller, user_id=KIM, key="city", hard=False, now=at(5))
    assert late(caller).action == "created"
    assert told(caller) == [("Turin", "superseded"), ("Oslo", "retracted")]


def test_the_last_removal_counts_and_is_one_row(caller):
    for hours in (5, 7, 6):
        say(caller, "Turin", now=at(0))
        remove(caller, now=at(hours))
    (kept,) = removals(caller)
    assert kept.removed_at == at(7)
    with scope(caller.tenant_id):
        assert was_removed(tenant_id=caller.tenant_id, user_id=KIM, key="city", since=at(7))
        assert not was_removed(tenant_id=caller.tenant_id, user_id=KIM, key="city", since=at(7.1))


def test_it_tells_neither_the_person_nor_the_key(acme, globex, settings):
    for member in (acme, globex):
        say(member.caller, "Turin")
        remove(member.caller)
    (mine,), (theirs,) = removals(acme.caller), removals(globex.caller)
    columns = " ".join(str(getattr(mine, field.attname)) for field in SlotRemoval._meta.concrete_fields)
    assert KIM not in columns
    assert "city" not in columns
    assert mine.slot != theirs.slot
    settings.SECRET_KEY = "another"  # who has the table alone cannot try names
    with scope(acme.tenant.id):
        assert not was_removed(tenant_id=acme.tenant.id, user_id=KIM, key="city", since=at(0))


def test_an_erasure_of_the_person_takes_it(acme):
    for user in (KIM, "lee"):
        say(acme.caller, "Turin", user_id=user)
        remove(acme.caller, user_id=user)
    receipt = people.erase(acme, KIM).receipt
    assert receipt["erased"]["slot_removal"] == 1
    assert len(removals(acme.caller)) == 1


def test_it_is_forgotten_after_a_month(acme, globex):
    now = timezone.now()
    for member, age in ((acme, MONTH), (globex, MONTH / 2)):
        say(member.caller, "Turin", now=at(0))
        remove(member.caller, now=now - age)
    expire_removals(now=now)
    assert (removals(acme.caller), len(removals(globex.caller))) == ([], 1)


@pytest.mark.parametrize(("state", "age", "stays"), [
    ("queued", MONTH + timedelta(days=1), True), ("failed", MONTH + timedelta(days=1), True),
    ("done", MONTH + timedelta(days=1), False), ("queued", MONTH - timedelta(days=1), False),
])  # fmt: skip
def test_not_while_a_job_from_before_may_still_bring_it_back(acme, state, age, stays):
    now = timezone.now()
    say(acme.caller, "Turin", now=at(0))
    remove(acme.caller, now=now - MONTH)
    with scope(acme.tenant.id):
        asked = {"payload": {}, "user_id": KIM, "run_at": now + MONTH}
        job_id = enqueue("session.remember", now=now - age, **asked)
        Job.objects.filter(id=job_id).update(state=state)
    expire_removals(now=now)
    assert len(removals(acme.caller)) == stays
