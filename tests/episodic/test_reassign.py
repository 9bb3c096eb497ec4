"""Having an episode stand where it belongs: another person's, by an action of its own; another agent's,
project's or type, by an edit. All that stands under the former names goes along, and statements count where
they stand."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.access import flush, note_access
from episodic.editing import edit_episode
from episodic.embedding import embed_pending
from episodic.models import (
    Episode,
    EpisodeAccess,
    EpisodeEmbedding,
    EpisodeRevision,
    EpisodeWords,
)
from episodic.reassigning import reassign_episode
from episodic.search import embed_query, nearest_episodes
from episodic.types import EpisodeFilter
from ledger.cases import NewQuery, add_query
from ledger.models import EvaluationQuery, Feedback, WriteDecision
from recall.feedback import NewFeedback, give_feedback
from recall.recall import recall
from recall.saving_edits import save_edit
from recall.types import RecallQuery
from tenants.audit import list_entries
from tenants.errors import Conflict, Forbidden, Invalid, NotFound, PreconditionFailed, Restricted, TooLarge
from tenants.models import Restriction
from tenants.policy.versions import Level, write_policy
from tenants.scope import scope
from tenants.subjects import pseudonym
from tenants.tombstones import Erased, bury
from tests.episodic.test_supersede import THURSDAY, TUESDAY, holding, state, stored
from webhooks.models import Delivery
from webhooks.webhooks import create_webhook

BESIDE = (EpisodeRevision, EpisodeWords, EpisodeEmbedding, EpisodeAccess, Feedback)
TRAINS = "Likes the slow night train."


@pytest.fixture
def caller(acme):
    return replace(acme.caller, scopes=frozenset({"admin"}))


@pytest.fixture
def anns(caller):
    """An episode of Ann's with all that stands beside one."""
    one = happened(caller, "Likes the night train.", user_id="ann", session_id="s1", covers_turns=(1, 2))
    edit(caller, one, text=TRAINS)
    verdict = NewFeedback("helpful", "", kind="episode", memory_id=str(one.id))
    give_feedback(caller=caller, new=verdict, now=timezone.now())
    note_access(caller=caller, ids=[one.id], now=timezone.now())
    flush()
    return stored(caller, one)


def happened(caller, text, **named):
    return state(caller, text, memory_type=named.pop("memory_type", "episodic"), **named)


def edit(caller, one, **changes):
    return edit_episode(caller=caller, episode_id=one.id, changes=changes, now=timezone.now())


def reassign(caller, one, user="bob", **more):
    return reassign_episode(caller=caller, episode_id=one.id, user_id=user, now=timezone.now(), **more)


def beside(caller, column):
    with scope(caller.tenant_id):
        return {
            table.__name__: set(
                table._default_manager.filter(tenant_id=caller.tenant_id).values_list(column, flat=True)
            )
            for table in BESIDE
            if hasattr(table, column)
        }


def found_by_words(caller, text, **where):
    query = RecallQuery(text, EpisodeFilter(**where), profile="keyword")
    return [hit.episode.text for hit in recall(caller=caller, query=query, now=timezone.now()).hits]


def found_by_meaning(caller, text, **where):
    vector = embed_query(text, tenant_id=caller.tenant_id)
    hits = nearest_episodes(caller=caller, vector=vector, where=EpisodeFilter(**where), limit=9)
    return [hit.episode.text for hit in hits]


def actions(caller):
    return [one.action for one in list_entries(caller=caller, limit=50)]


def test_all_that_stands_beside_it_goes_along(caller, anns):
    assert beside(caller, "user_id") == {table.__name__: {"ann"} for table in BESIDE}
    moved = reassign(caller, anns)
    assert beside(caller, "user_id") == {table.__name__: {"bob"} for table in BESIDE}
    row = stored(caller, anns)
    assert (row.user_id, row.text, row.version) == ("bob", TRAINS, anns.version + 1)
    assert (row.session, row.covers_turns) == ("", None), "the session is Ann's"
    assert moved.version == row.version


@pytest.mark.parametrize("found", [found_by_words, found_by_meaning])
def test_it_is_found_for_the_other_person_alone_at_once(caller, anns, found):
    assert found(caller, "night train", user_id="ann") == [TRAINS]
    reassign(caller, anns)
    assert {user: found(caller, "night train", user_id=user) for user in ("ann", "bob")} == {
        "ann": [], "bob": [TRAINS],
    }  # fmt: skip
    reassign(caller, anns, "")
    assert found(caller, "night train", user_id="bob") == []


def test_one_that_has_no_vector_yet_gets_it_as_the_other_persons(caller, anns):
    with scope(caller.tenant_id):
        EpisodeEmbedding.objects.filter(episode_id=anns.id).delete()
        Episode.objects.filter(id=anns.id).update(embed_pending=True)
    reassign(caller, anns)
    embed_pending()
    assert found_by_meaning(caller, "night train", user_id="bob") == [TRAINS]


def test_both_people_are_in_the_audit_log_by_their_pseudonyms(caller, anns):
    reassign(caller, anns)
    (entry,) = [one for one in list_entries(caller=caller, limit=50) if one.action == "memory.reassign"]
    ann, bob = (pseudonym(tenant_id=caller.tenant_id, user_id=user) for user in ("ann", "bob"))
    assert (entry.target, entry.details) == (
        str(anns.id), {"kind": "episode", "subject": bob, "former_subject": ann},
    )  # fmt: skip
    reassign(caller, anns)  # is his already: nothing happens
    assert actions(caller).count("memory.reassign") == 1


def test_webhooks_are_told_that_one_is_gone_and_one_is_there(caller, anns):
    create_webhook(caller=caller, new={"url": "https://93.184.215.14/hook"}, now=timezone.now())
    reassign(caller, anns)
    with scope(caller.tenant_id):
        told = Delivery.objects.filter(tenant_id=caller.tenant_id).order_by("created_at", "id")
        assert list(told.values_list("event", flat=True)) == ["memory.retracted", "memory.created"]


def test_what_was_told_as_the_former_persons_says_no_more_what_it_is(caller):
    new = {"url": "https://93.184.215.14/hook", "include_text": True}
    create_webhook(caller=caller, new=new, now=timezone.now())
    one = happened(caller, TRAINS, user_id="ann")
    edit(caller, one, agent_id="pilot")
    reassign(caller, one)
    with scope(caller.tenant_id):
        told = Delivery.objects.filter(tenant_id=caller.tenant_id).order_by("created_at", "id")
        assert [(row.event.split(".")[1], row.user_id, row.data.get("text")) for row in told] == [
            ("created", "ann", None), ("updated", "ann", None), ("retracted", "ann", None),
            ("created", "bob", TRAINS),
        ]  # fmt: skip


def test_another_agent_leaves_what_was_told_as_it_is(caller):
    new = {"url": "https://93.184.215.14/hook", "include_text": True}
    create_webhook(caller=caller, new=new, now=timezone.now())
    edit(caller, happened(caller, TRAINS, user_id="ann"), agent_id="pilot")
    with scope(caller.tenant_id):
        assert {row.data.get("text") for row in Delivery.objects.all()} == {TRAINS}


def test_a_statement_gives_back_what_it_closed_and_closes_what_it_contradicts(caller):
    tuesday = state(caller, TUESDAY, user_id="ann")
    bobs = state(caller, "The deploy window is Monday.", user_id="bob")
    thursday = state(caller, THURSDAY, user_id="ann")
    assert holding(caller, user_id="ann") == [THURSDAY]
    moved = reassign(caller, thursday)
    assert moved.supersedes == (bobs.id,)
    assert (holding(caller, user_id="ann"), holding(caller, user_id="bob")) == ([TUESDAY], [THURSDAY])
    assert stored(caller, tuesday).superseded_by is None
    for found in (found_by_words, found_by_meaning):
        assert found(caller, "deploy window", user_id="ann") == [TUESDAY]
        assert found(caller, "deploy window", user_id="bob") == [THURSDAY]


def test_what_it_closed_stays_closed_where_something_later_contradicts_it(caller):
    tuesday, thursday = state(caller, TUESDAY, user_id="ann"), state(caller, THURSDAY, user_id="ann")
    friday = state(caller, "The deploy window is Friday.", user_id="ann")
    reassign(caller, thursday)
    assert holding(caller, user_id="ann") == ["The deploy window is Friday."]
    assert stored(caller, tuesday).superseded_by == friday.id
    assert holding(caller, user_id="bob") == [THURSDAY], "nothing of Bob's took its place"


def test_one_that_was_taken_back_stays_taken_back(caller):
    one = state(caller, TUESDAY, user_id="ann")
    with scope(caller.tenant_id):
        Episode.objects.filter(id=one.id).update(valid_to=timezone.now())
    reassign(caller, one)
    assert holding(caller, user_id="bob") == []
    assert holding(caller, user_id="bob", history=True) == [TUESDAY]


def test_a_saved_query_for_the_former_persons_memories_is_not_answered_by_it(caller, anns):
    asked = [
        add_query(
            caller=caller, new=NewQuery("train?", user_id=user, relevant=(anns.id,)), now=timezone.now()
        )
        for user in ("ann", "bob", "")
    ]
    reassign(caller, anns)
    with scope(caller.tenant_id):
        labels = {one.id: one.relevant for one in EvaluationQuery.objects.filter(tenant_id=caller.tenant_id)}
    assert [labels[one.id] for one in asked] == [[], [anns.id], [anns.id]]


@pytest.mark.parametrize("whose", ["ann", "bob"])
def test_an_erasure_of_either_is_neither_escaped_nor_undone(caller, anns, whose):
    with scope(caller.tenant_id):
        bury(tenant_id=caller.tenant_id, user_id=whose, requested_by="test", now=timezone.now())
    with pytest.raises(Erased):
        reassign(caller, anns)
    assert stored(caller, anns).user_id == "ann"


def test_an_erasure_before_it_was_written_does_not_matter(caller):
    with scope(caller.tenant_id):
        long_ago = timezone.now() - timedelta(days=1)
        bury(tenant_id=caller.tenant_id, user_id="bob", requested_by="test", now=long_ago)
    assert reassign(caller, happened(caller, TRAINS, user_id="ann")).user_id == "bob"


@pytest.mark.parametrize(("whose", "error"), [("ann", NotFound), ("bob", Restricted)])
def test_a_restricted_person_neither_loses_nor_gains(caller, anns, whose, error):
    with scope(caller.tenant_id):
        Restriction.objects.create(
            tenant_id=caller.tenant_id, user_id=whose, requested_by="test", since=timezone.now()
        )
    with pytest.raises(error):
        reassign(caller, anns)


def test_it_takes_scope_admin_and_stays_within_the_keys_reach(caller, globex, anns):
    for key in (replace(caller, scopes=frozenset({"read", "write"})), replace(caller, user_id="ann")):
        for user in ("bob", ""):
            with pytest.raises(Forbidden):
                reassign(key, anns, user)
    for key in (replace(globex.caller, scopes=caller.scopes), replace(caller, agent_id="other")):
        with pytest.raises(NotFound):
            reassign(key, anns)
    for user in ("x" * 256, "a\x00b"):
        with pytest.raises(Invalid):
            reassign(caller, anns, user)


def test_what_was_changed_since_it_was_seen_stays(caller, anns):
    edit(caller, anns, text="Likes buses.")
    with pytest.raises(PreconditionFailed):
        reassign(caller, anns, match={anns.version})
    assert reassign(caller, anns, match={anns.version + 1}).user_id == "bob"


def test_a_turn_of_a_session_is_moved_and_changed_with_it_alone(caller):
    turn = happened(caller, "Ann: Hello.", user_id="ann", memory_type="message", origin="session")
    with pytest.raises(Conflict):
        reassign(caller, turn)
    for changes in ({"agent_id": "a"}, {"project": "p"}, {"memory_type": "episodic"}):
        with pytest.raises(Invalid):
            edit(caller, turn, **changes)
    saved = happened(caller, "Ann: Hello.", user_id="ann", memory_type="message")
    assert reassign(caller, saved).user_id == "bob"
    assert edit(caller, saved, agent_id="a").agent_id == "a"


def test_another_agent_and_project_take_all_along_and_find_it_at_once(caller, anns):
    edit(caller, anns, agent_id="pilot", project="apollo")
    assert beside(caller, "agent_id") == {
        table.__name__: {"pilot"} for table in BESIDE if hasattr(table, "agent_id")
    }
    assert found_by_words(caller, "night train", agent_id="pilot") == [TRAINS]
    assert found_by_meaning(caller, "night train", agent_id="pilot", project="apollo") == [TRAINS]
    row = stored(caller, anns)
    assert (row.session, row.project, row.version) == ("s1", "apollo", anns.version + 1)
    with scope(caller.tenant_id):
        assert EpisodeRevision.objects.filter(episode_id=anns.id).count() == 1, "it says what it said"
    entry = next(one for one in list_entries(caller=caller, limit=9) if one.action == "episode.move")
    assert (entry.target, entry.details) == (str(anns.id), {"fields": ["agent_id", "project"]})


def test_nobodys_is_found_by_the_words_of_its_agent(caller):
    one = happened(caller, TRAINS, user_id="", agent_id="old")
    edit(caller, one, agent_id="new")
    assert found_by_words(caller, "night train", agent_id="old") == []
    assert found_by_words(caller, "night train", agent_id="new") == [TRAINS]


def test_what_becomes_a_statement_counts_as_one_and_what_is_none_any_more_does_not(caller):
    state(caller, TUESDAY, user_id="ann")
    one = happened(caller, THURSDAY, user_id="ann")
    assert holding(caller, user_id="ann") == [THURSDAY, TUESDAY]
    edit(caller, one, memory_type="semantic")
    assert holding(caller, user_id="ann") == [THURSDAY]
    edit(caller, one, memory_type="episodic")
    assert holding(caller, user_id="ann") == [THURSDAY, TUESDAY]


def test_a_statement_in_other_words_and_another_project_is_compared_there_by_what_it_says_now(caller):
    state(caller, TUESDAY, user_id="ann", project="apollo")
    one = state(caller, "Ann likes tea.", user_id="ann")
    edit(caller, one, text=THURSDAY, project="apollo")
    assert holding(caller, user_id="ann", project="apollo") == [THURSDAY]


@pytest.mark.parametrize("changes", [
    {"agent_id": "x" * 256}, {"project": "x" * 201}, {"project": "\x00"}, {"memory_type": "dream"},
    {"memory_type": "message"},
])  # fmt: skip
def test_what_cannot_be_is_refused(caller, anns, changes):
    with pytest.raises(Invalid):
        edit(caller, anns, **changes)
    assert stored(caller, anns).version == anns.version


@pytest.mark.parametrize("bound", [{"agent_id": "a"}, {"project": "p"}])
def test_a_bound_key_moves_nothing_out_of_its_reach(acme, caller, bound):
    key = acme.with_key(**bound).caller
    one = happened(key, TRAINS, user_id="ann")
    for changes in (dict.fromkeys(bound, ""), dict.fromkeys(bound, "other")):
        with pytest.raises(Forbidden):
            edit(key, one, **changes)
    assert edit(key, one, **bound, text="Likes buses.").text == "Likes buses."


def test_another_agents_policy_judges_what_comes_to_it(caller):
    one = happened(caller, "Likes the slow night train to Vienna. " * 30, user_id="ann")
    level = Level(caller.tenant_id, agent_id="short")
    write_policy(level=level, actor="test", changes={"limits": {"episode_chars": 1_000}}, note="")
    with pytest.raises(TooLarge):
        edit(caller, one, agent_id="short")
    secret = happened(
        caller, "The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH", user_id="ann"
    )
    done = save_edit(caller=caller, episode_id=secret.id, changes={"agent_id": "other"}, now=timezone.now())
    assert isinstance(done, WriteDecision)
    assert stored(caller, secret).agent_id == ""
