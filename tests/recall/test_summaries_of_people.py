"""Whom summaries tell of: never of what was erased, is restricted, or has been taken by retention."""

import pytest
from django.utils import timezone

from episodic.models import SummaryPartition
from episodic.record_tests import FieldTest
from episodic.retention import enqueue_retention
from episodic.summary_partitions import ChangedMeanwhile, save_partition
from recall import digesting, partitions
from tenants.errors import NotFound, Restricted
from tenants.restrictions import lift_restriction, restrict_subject
from tenants.scope import scope
from tests.privacy.people import erase, export, run_jobs
from tests.recall.summarised import make, run, save, shown, view_of
from tests.retention.old import expire, remembered
from tests.retention.test_expire_memory import decide


def test_what_retention_takes_leaves_the_summaries_with_it(filled, acme):
    remembered(acme, "Ana lost her keys.", 91, user_id="ana")
    remembered(acme, "Bob waits for a letter.", 60, user_id="bob")
    view, other = view_of(filled, "user_id"), view_of(filled)
    for one in (view, other):
        run(filled, one)
    before = {one.group["user_id"]: one for one in shown(filled, view)}
    assert "keys" in before["ana"].summary
    expire(acme)
    assert [one.group["user_id"] for one in shown(filled, view)] == ["bob"]
    assert shown(filled, other) == []
    run_jobs()
    after = {one.group["user_id"]: one for one in shown(filled, view)}
    assert after["bob"] == before["bob"]
    assert (after["ana"].memory_count, "keys" in after["ana"].summary) == (2, False)
    assert "keys" not in shown(filled, other)[0].summary
    assert shown(filled, other)[0].memory_count == 4
    made = [one.id for one in shown(filled, other)]
    expire(acme)
    run_jobs()
    assert [one.id for one in shown(filled, other)] == made


def test_retention_comes_for_a_summary_that_outlived_its_records(filled, acme):
    episode = remembered(acme, "Ana lost her keys.", 91, user_id="ana")
    view = view_of(filled, "user_id")
    run(filled, view)
    with scope(filled.tenant_id):
        episode.delete()
    assert enqueue_retention(now=timezone.now(), tenants=[filled.tenant_id]) == 1
    run_jobs()
    assert "keys" not in str([one.summary for one in shown(filled, view)])
    assert enqueue_retention(now=timezone.now(), tenants=[filled.tenant_id]) == 0


def test_each_agents_retention_counts(filled, acme):
    decide(acme, {"retention": {"episodes_days": 365}}, agent_id="keeper")
    remembered(acme, "The keeper saw a fox.", 91, user_id="ana", agent_id="keeper")
    view = view_of(filled, "user_id")
    run(filled, view)
    before = shown(filled, view)
    assert "fox" in str([one.summary for one in before])
    expire(acme)
    assert shown(filled, view) == before


def test_an_erasure_takes_every_summary_that_the_person_is_part_of(filled, acme):
    one = FieldTest("user_id", "eq", "ana")
    two = FieldTest("user_id", "any", ("ana", "bob"))
    by_user, of_all = view_of(filled, "user_id"), view_of(filled)
    of_ana = view_of(filled, filters={"user_id": "ana"}, tests=(one,))
    of_two = view_of(filled, "user_id", filters={"user_id": ["ana", "bob"]}, tests=(two,))
    own = view_of(acme.with_key(user_id="ana").caller, "namespace")
    for view in (by_user, of_all, of_ana, of_two, own):
        run(filled, view)
    receipt = erase(acme, "ana").receipt
    assert receipt["residue"] == {}
    assert receipt["erased"]["summary_partition"] == 5
    assert receipt["erased"]["summary_partition_of_several"] == 1
    assert [one.group for one in shown(filled, by_user)] == [{"user_id": "bob"}]
    assert [(one.users, one.memory_count) for one in shown(filled, of_all)] == [(["bob"], 1)]  # made again
    for gone in (of_ana, own):
        with pytest.raises(NotFound):
            shown(filled, gone)
    with scope(filled.tenant_id):
        of_two.refresh_from_db()
    assert of_two.filters == {"user_id": ["bob"]}


def test_an_erasure_has_nothing_made_again_that_is_called_like_the_person(filled, acme):
    save(filled, "of bob", "Bob waters the flowers of Ana.", "bob", namespace="ana")
    save(filled, "of ana", "Ana has flowers.", "ana", namespace="ana")
    view = view_of(filled, "namespace")
    run(filled, view)
    assert erase(acme, "ana").receipt["residue"].keys() <= {"agent_episodes.namespace"}
    assert [one.group for one in shown(filled, view)] == [{"namespace": ""}]


def test_what_is_read_during_an_erasure_is_not_stored_after_it(filled, acme):
    view = view_of(filled)
    read = partitions.records_of(view=view, group={}, now=timezone.now())
    new = partitions._built(view, {}, read, digesting.Digest("Ana likes tea."), "")
    erase(acme, "ana")
    with pytest.raises(ChangedMeanwhile):
        save_partition(new=new, records=read)
    assert shown(filled, view) == []


def test_an_export_has_the_persons_own_summaries(filled, acme):
    by_user, of_all = view_of(filled, "user_id"), view_of(filled)
    for view in (by_user, of_all):
        run(filled, view)
    found = [one for one in export(acme, "ana") if one["kind"] == "summary_partition"]
    assert [one["group"] for one in found] == [{"user_id": "ana"}]
    assert "green tea" in found[0]["summary"]


def test_summaries_of_a_restricted_person_are_hidden_and_made_without(filled):
    by_user, of_all = view_of(filled, "user_id"), view_of(filled)
    for view in (by_user, of_all):
        run(filled, view)
    restrict_subject(caller=filled, user_id="ana", reason="", now=timezone.now())
    assert [one.group for one in shown(filled, by_user)] == [{"user_id": "bob"}]
    assert shown(filled, of_all) == []
    with pytest.raises(Restricted):
        make(filled, by_user, user_id="ana")
    for view in (by_user, of_all):
        run(filled, view)
    assert [one.users for one in shown(filled, of_all)] == [["bob"]]
    lift_restriction(caller=filled, user_id="ana", now=timezone.now())
    assert {one.group["user_id"] for one in shown(filled, by_user)} == {"ana", "bob"}
    (newest,) = shown(filled, of_all)
    assert newest.users == ["bob"]
    run(filled, of_all)
    assert [one.users for one in shown(filled, of_all)] == [["ana", "bob"]]
    with scope(filled.tenant_id):
        assert SummaryPartition.objects.filter(view_id=of_all.id).count() == 1
