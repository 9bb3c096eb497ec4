"""What saving tells webhooks, and that nobody who was erased or is restricted is written about."""

import pytest
from django.utils import timezone

from episodic.compacting import compact_records
from episodic.models import Episode
from episodic.records import delete_records, edit_record, save_records
from episodic.unmerging import unmerge
from tenants.errors import Restricted
from tenants.scope import restricted_shown, scope
from tenants.tombstones import Erased, bury
from tests.privacy import people
from tests.records.saving import holding, record, save
from tests.restrictions.people import restrict
from tests.webhooks.receiver import hook
from tests.webhooks.test_announce import HOOK, told

FOOD, MORE = "User likes Italian food.", "User likes Italian food, and pizza."


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]


def test_each_deed_is_told_once(acme):
    hook(acme, HOOK)
    (first,) = save(acme.caller, record(FOOD, id="a"))
    one = ("episode", str(first.episode.id))
    assert told(acme) == [("created", *one)]
    save(acme.caller, record(FOOD, id="a"))  # says nothing new
    save(acme.caller, record(FOOD, id="b"))  # is dropped
    save(acme.caller, record("User likes Greek food.", id="a"))
    delete_records(caller=acme.caller, record_ids=["a"], now=timezone.now())
    assert told(acme) == [("created", *one), ("updated", *one), ("erased", *one)]


def test_of_a_merge_it_is_told_what_holds_now_and_what_does_not(acme):
    (first,) = save(acme.caller, record(FOOD, id="a"))
    hook(acme, HOOK)
    (last,) = save(acme.caller, record(MORE, id="b"))
    assert told(acme) == [
        ("retracted", "episode", str(first.episode.id)), ("created", "episode", str(last.episode.id))
    ]  # fmt: skip
    unmerge(caller=acme.caller, episode_id=last.episode.id, now=timezone.now())
    deeds = sorted(deed for deed, _kind, _id in told(acme)[2:])
    assert deeds == ["created", "created", "retracted"]


def test_what_began_before_an_erasure_is_not_saved_after_it(acme):
    began = timezone.now()
    with scope(acme.tenant.id):
        bury(tenant_id=acme.tenant.id, user_id="alice", requested_by="test", now=began)
    both = [record(FOOD), record(FOOD, user_id="bob")]
    with pytest.raises(Erased):
        save_records(caller=acme.caller, records=both, deduplicate=True, now=began)
    assert holding(acme.caller) == []
    save(acme.caller, FOOD)  # a person who comes back
    assert holding(acme.caller) == [FOOD]


def test_a_record_cannot_escape_an_erasure_by_becoming_another_s(acme):
    save(acme.caller, record(FOOD, id="a"), record(MORE, id="b"), deduplicate=False)
    with scope(acme.tenant.id):
        bury(tenant_id=acme.tenant.id, user_id="alice", requested_by="test", now=timezone.now())
    with pytest.raises(Erased):
        edit_record(caller=acme.caller, record_id="a", changes={"user_id": "bob"}, now=timezone.now())


def test_nothing_of_an_erased_person_s_records_remains(acme):
    save(acme.caller, record(FOOD, id="a"), record(MORE, id="b"))
    save(acme.caller, record("Bob likes tea.", id="a", user_id="bob"))
    people.erase(acme, "alice")
    with scope(acme.tenant.id):
        assert [one.user_id for one in Episode.objects.all()] == ["bob"]


def test_a_restricted_person_s_records_are_neither_read_nor_changed(acme):
    save(acme.caller, record(FOOD, id="a"), record(FOOD, id="c"), deduplicate=False)
    restrict(acme, "alice")
    with pytest.raises(Restricted):
        save(acme.caller, record(MORE, id="b"))
    assert holding(acme.caller) == []
    assert delete_records(caller=acme.caller, record_ids=["a"], now=timezone.now()) == 0
    assert compact_records(caller=acme.caller, now=timezone.now()).remaining == 0
    with restricted_shown():
        assert holding(acme.caller) == [FOOD, FOOD]
