"""Editing a record by its client's id."""

import pytest
from django.utils import timezone

from episodic.editing import list_revisions
from episodic.models import EpisodeEmbedding, EpisodeWords
from episodic.records import access_record, edit_record
from episodic.search import embed_query, nearest_episodes
from episodic.types import EpisodeFilter
from tenants.audit import list_entries
from tenants.errors import Conflict, Forbidden, Invalid, NotFound
from tenants.scope import scope
from tests.records.saving import holding, record, save, stored
from tests.records.stored import day, put

OSLO = "Ana lives in Oslo."


def edit(caller, record_id="r", **changes):
    return edit_record(caller=caller, record_id=record_id, changes=changes, now=timezone.now())


def test_what_is_given_changes_and_what_it_said_before_stays_in_its_history(acme):
    save(acme.caller, record(OSLO, id="r", topics=("home",)))
    done = edit(
        acme.caller, text="Ana lives in Bergen.", topics=("town",), entities=("Ana",), memory_type="episodic",
        namespace="n", session_id="s", event_date=day(1), pinned=True,
    )  # fmt: skip
    one = stored(acme.caller, done)
    assert (one.text, one.topics, one.entities, one.memory_type) == (
        "Ana lives in Bergen.", ["town"], ["Ana"], "episodic"
    )  # fmt: skip
    assert (one.namespace, one.session, one.event_date) == ("n", "s", day(1))
    assert (one.pinned_at is not None, one.version, one.external_id) == (True, 2, "r")
    (revision,) = list_revisions(caller=acme.caller, episode_id=one.id, limit=9)
    assert (revision.text, revision.topics) == (OSLO, ["home"])
    vector = embed_query("Ana lives in Bergen.", tenant_id=acme.tenant.id)
    (near,) = nearest_episodes(caller=acme.caller, vector=vector, where=EpisodeFilter(namespace="n"), limit=2)
    assert near.cosine > 0.99


def test_what_changes_nothing_leaves_no_trace(acme):
    (saved,) = save(acme.caller, record(OSLO, id="r", topics=("home",)))
    edit(acme.caller, text=OSLO, topics=("home",), pinned=False, user_id="alice")
    assert stored(acme.caller, saved.episode).version == 1
    edit(acme.caller, pinned=True)
    assert list_revisions(caller=acme.caller, episode_id=saved.episode.id, limit=9) == []
    edit(acme.caller, pinned=False)
    assert stored(acme.caller, saved.episode).pinned_at is None


def test_it_closes_nothing_that_it_contradicts(acme):
    save(acme.caller, "The deploy window is Tuesday.", record("The deploy window is Monday noon.", id="r"))
    edit(acme.caller, text="The deploy window is Thursday.")
    assert len(holding(acme.caller)) == 2


def test_of_another_user_it_goes_with_all_that_stands_beside_it_and_the_log_tells(acme):
    (saved,) = save(acme.caller, record(OSLO, id="r", last_accessed=None, access_count=2))
    edit(acme.caller, text="Ana lives in Bergen.")
    edit(acme.caller, user_id="bob")
    assert holding(acme.caller, user_id="alice") == []
    assert holding(acme.caller, user_id="bob") == ["Ana lives in Bergen."]
    with scope(acme.tenant.id):
        assert EpisodeEmbedding.objects.get(episode_id=saved.episode.id).user_id == "bob"
        assert EpisodeWords.objects.get(id=saved.episode.id).user_id == "bob"
    (entry,) = list_entries(caller=acme.caller, limit=9, action="memory.reassign")
    assert entry.target == str(saved.episode.id)
    assert {"subject", "former_subject"} <= set(entry.details)


def test_a_bound_key_gives_it_to_nobody_else_and_edits_nobody_else_s(acme):
    save(acme.caller, record(OSLO, id="r"))
    alice, bob = (acme.with_key(user_id=one).caller for one in ("alice", "bob"))
    with pytest.raises(Forbidden):
        edit(alice, user_id="bob")
    with pytest.raises(NotFound):
        edit(bob, text="Mine.")
    assert edit(alice, text="Ana lives in Bergen.").user_id == "alice"


def test_where_its_id_is_taken_it_cannot_go(acme):
    (first, _other) = save(acme.caller, record(OSLO, id="r"), record("Else.", id="r", namespace="n"))
    with pytest.raises(Conflict):
        edit(acme.caller, str(first.episode.id), namespace="n")


@pytest.mark.parametrize("wrong", [
    {"memory_type": "other"}, {"memory_type": "message"}, {"namespace": "x" * 256}, {"user_id": "a\x00"},
])  # fmt: skip
def test_what_may_not_be_is_refused(acme, wrong):
    save(acme.caller, record(OSLO, id="r"))
    with pytest.raises(Invalid):
        edit(acme.caller, **wrong)


def test_a_turn_of_a_session_stays_with_its_conversation(acme):
    (turn,) = put(acme.caller, {"memory_type": "message", "origin": "session", "session": "s"})
    for change in ({"user_id": "bob"}, {"session_id": "t"}, {"namespace": "n"}, {"memory_type": "semantic"}):
        with pytest.raises(Invalid):
            edit(acme.caller, str(turn.id), **change)


def test_a_source_s_id_edits_what_it_became(acme):
    save(acme.caller, record("User likes tea.", id="a"), record("User likes tea, especially green.", id="b"))
    edit(acme.caller, "a", text="User likes black tea.")
    assert access_record(caller=acme.caller, record_id="b").text == "User likes black tea."
