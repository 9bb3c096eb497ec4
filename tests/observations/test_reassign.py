"""Correcting whose an observation is: all that stands under the former person's name goes along, and nobody
escapes an erasure or a restriction by it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from ledger.models import Feedback
from observations.models import ObservationEmbedding, ObservationRevision, SearchEntry
from observations.reassigning import Owner, reassign_observation
from recall.feedback import NewFeedback, give_feedback
from tenants.audit import list_entries
from tenants.errors import Conflict, Forbidden, NotFound, PreconditionFailed, Restricted
from tenants.models import Restriction
from tenants.scope import scope
from tenants.subjects import pseudonym
from tenants.tombstones import Erased, bury
from tests.observations.notes import delete, edit, embed, note, row_of, search, titles
from webhooks.models import Delivery
from webhooks.webhooks import create_webhook

BESIDE = (ObservationRevision, SearchEntry, ObservationEmbedding, Feedback)


@pytest.fixture
def caller(acme):
    return replace(acme.caller, scopes=frozenset({"admin"}))


@pytest.fixture
def anns(caller):
    """An observation of Ann's with all that stands beside one."""
    one = note(caller, "Likes the night train.", title="Trains", user_id="ann", topic_key="t").observation
    edit(caller, one.id, content="Likes the slow night train.")
    embed(caller)
    verdict = NewFeedback("helpful", "", kind="observation", memory_id=str(one.id))
    give_feedback(caller=caller, new=verdict, now=timezone.now())
    return row_of(caller, one.id)


def reassign(caller, one, user="bob", agent="", **more):
    return reassign_observation(
        caller=caller, observation_id=one.id, owner=Owner(user, agent), now=timezone.now(), **more
    )


def people_beside(caller):
    with scope(caller.tenant_id):
        return {
            table.__name__: set(
                table._default_manager.filter(tenant_id=caller.tenant_id).values_list("user_id", flat=True)
            )
            for table in BESIDE
        }


def test_all_that_stands_beside_it_goes_along(caller, anns):
    assert people_beside(caller) == {table.__name__: {"ann"} for table in BESIDE}
    reassign(caller, anns, agent="pilot")
    embed(caller)
    row = row_of(caller, anns.id)
    assert (row.user_id, row.agent_id, row.content) == ("bob", "pilot", anns.content)
    assert people_beside(caller) == {table.__name__: {"bob"} for table in BESIDE}


def test_it_is_found_for_the_other_person_alone_at_once(caller, anns):
    reassign(caller, anns)
    for mode in ("any", "hybrid"):
        found = {
            user: titles(search(caller, "night train", user_id=user, mode=mode)) for user in ("ann", "bob")
        }
        assert found == {"ann": [], "bob": ["Trains"]}, mode


def test_both_people_are_in_the_audit_log_by_their_pseudonyms(caller, anns):
    reassign(caller, anns)
    (entry,) = [one for one in list_entries(caller=caller, limit=50) if one.action == "memory.reassign"]
    ann, bob = (pseudonym(tenant_id=caller.tenant_id, user_id=user) for user in ("ann", "bob"))
    assert entry.target == str(anns.id)
    assert (entry.details["subject"], entry.details["former_subject"]) == (bob, ann)
    reassign(caller, anns)  # is his already: nothing happens
    assert len([one for one in list_entries(caller=caller, limit=50) if one.action == entry.action]) == 1


def test_webhooks_are_told_that_one_is_gone_and_one_is_there(caller, anns):
    new = {"url": "https://93.184.215.14/hook"}
    create_webhook(caller=caller, new=new, now=timezone.now())
    reassign(caller, anns)
    with scope(caller.tenant_id):
        told = Delivery.objects.filter(tenant_id=caller.tenant_id).order_by("created_at", "id")
        assert list(told.values_list("event", flat=True)) == ["memory.retracted", "memory.created"]


def test_what_was_told_as_the_former_persons_says_no_more_what_it_is(caller):
    new = {"url": "https://93.184.215.14/hook", "include_text": True}
    create_webhook(caller=caller, new=new, now=timezone.now())
    one = row_of(caller, note(caller, "Likes trains.", title="Trains", user_id="ann").observation.id)
    reassign(caller, one)
    with scope(caller.tenant_id):
        told = Delivery.objects.filter(tenant_id=caller.tenant_id).order_by("created_at", "id")
        assert [(row.event.split(".")[1], row.user_id, row.data.get("text")) for row in told] == [
            ("created", "ann", None), ("retracted", "ann", None),
            ("created", "bob", "Trains\n\nLikes trains."),
        ]  # fmt: skip


@pytest.mark.parametrize("whose", ["ann", "bob"])
def test_an_erasure_of_either_is_neither_escaped_nor_undone(caller, anns, whose):
    with scope(caller.tenant_id):
        bury(tenant_id=caller.tenant_id, user_id=whose, requested_by="test", now=timezone.now())
    with pytest.raises(Erased):
        reassign(caller, anns)
    assert row_of(caller, anns.id).user_id == "ann"


def test_an_erasure_before_it_was_written_does_not_matter(caller):
    with scope(caller.tenant_id):
        long_ago = timezone.now() - timedelta(days=1)
        bury(tenant_id=caller.tenant_id, user_id="bob", requested_by="test", now=long_ago)
    assert reassign(caller, note(caller, user_id="ann").observation).user_id == "bob"


@pytest.mark.parametrize(("whose", "error"), [("ann", NotFound), ("bob", Restricted)])
def test_a_restricted_person_neither_loses_nor_gains(caller, anns, whose, error):
    with scope(caller.tenant_id):
        Restriction.objects.create(
            tenant_id=caller.tenant_id, user_id=whose, requested_by="test", since=timezone.now()
        )
    with pytest.raises(error):
        reassign(caller, anns)


def test_a_topic_that_the_other_has_is_a_conflict(caller, anns):
    note(caller, "Bob's own.", user_id="bob", topic_key="t")
    with pytest.raises(Conflict):
        reassign(caller, anns)
    assert row_of(caller, anns.id).user_id == "ann"


def test_it_takes_scope_admin_and_stays_within_the_keys_reach(caller, globex, anns):
    writer = frozenset({"read", "write"})
    for key in (replace(caller, scopes=writer), replace(caller, user_id="ann")):
        with pytest.raises(Forbidden):
            reassign(key, anns)
    with pytest.raises(Forbidden):
        reassign(replace(caller, user_id="ann"), anns, user="")
    with pytest.raises(NotFound):
        reassign(replace(globex.caller, scopes=caller.scopes), anns)


def test_what_was_changed_since_it_was_seen_stays(caller, anns):
    edit(caller, anns.id, content="Likes buses.")
    with pytest.raises(PreconditionFailed):
        reassign(caller, anns, expected=anns.updated_at)
    delete(caller, anns.id)
    with pytest.raises(NotFound):
        reassign(caller, anns)
