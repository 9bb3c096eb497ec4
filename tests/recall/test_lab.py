"""The workbench: parts that add up to each score, two settings side by side, and why a memory is missing."""

import math
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from episodic.access import flush
from episodic.entities import put_entity
from episodic.episodes import store_episode
from episodic.models import EpisodeAccess
from episodic.retraction import retract_episode
from episodic.slots import NewEntity
from episodic.types import EpisodeFilter, NewEpisode
from ledger.cases import NewQuery, access_query
from observations.trash import delete_observation
from recall.absence import find_in_ranking
from recall.case_runs import run_queries
from recall.kinds import KINDS
from recall.lab import settled, try_recall
from recall.saving_queries import save_query
from recall.types import PROFILES, RecallQuery
from tenants.errors import Invalid, NotFound
from tenants.policy.versions import Level, write_policy
from tenants.scope import scope
from tests.observations.notes import note
from tests.recall.talking import decide

FACTS = (
    "Ann drinks green tea in the morning.",
    "Ann has a dog called Rex.",
    "Ann lives in Oslo.",
    "Ann drinks coffee after lunch, never tea.",
    "Ann bakes bread in a shop on Mill Street.",
    "Rex the dog chased a cat across the garden.",
)


@pytest.fixture
def known(caller):
    """Ids of what is known of Ann."""
    return [remember(caller, text) for text in FACTS]


def remember(caller, text, user="ann", days=0):
    now = timezone.now() - timedelta(days=days)
    return store_episode(caller=caller, new=NewEpisode(text=text, user_id=user), now=now).id


def query(text="What tea does Ann drink?", user="ann", **named):
    return RecallQuery(text=text, where=EpisodeFilter(user_id=user), **named)


def tried(caller, **named):
    return try_recall(caller=caller, query=query(**named), kinds=["episode"], now=timezone.now())[0]


def adds_up(hit, tolerance=1e-9):
    """Whether its parts add up to its score, and their differences to what it is above the average one."""
    return (
        math.isclose(sum(part.added for part in hit.parts), hit.score, abs_tol=tolerance)
        and math.isclose(sum(part.more for part in hit.parts), hit.score - hit.usual, abs_tol=tolerance)
        and math.isclose(hit.risen + hit.lowered, hit.more, abs_tol=tolerance)
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_the_parts_of_each_hit_add_up_to_its_score(profile, caller, known):
    decide(caller, recall={"feedback_weight": 0.1})
    found = tried(caller, profile=profile, top_k=6)
    assert found.results
    for hit in found.results:
        assert adds_up(hit)
        for part in hit.parts:
            assert math.isclose(part.value * (part.weight or 1), part.added)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_average_score_is_that_of_all_candidates(profile, caller, known):
    found = tried(caller, profile=profile, top_k=len(FACTS))
    scores = [hit.score for hit in found.results]
    assert {hit.candidates for hit in found.results} == {len(scores)}
    for hit in found.results:
        assert math.isclose(hit.usual, sum(scores) / len(scores), abs_tol=1e-9)
        assert math.isclose(hit.more, hit.score - sum(scores) / len(scores), abs_tol=1e-9)
    assert found.results[0].more > 0 > found.results[-1].more


def test_what_is_the_same_for_all_tells_no_one_apart(caller):
    for word in ("tea", "rye", "oak"):
        remember(caller, f"Ann likes {word} best.")
    found = tried(caller, text="Who likes tea?", top_k=3)
    assert len(found.results) == 3
    for hit in found.results:
        (length,) = [part for part in hit.parts if part.name == "length"]
        assert length.added > 1 > 1e-9 > abs(length.more)
    assert found.results[0].parts[0].name == "words"
    (lacked,) = [part for part in found.results[-1].parts if part.name == "words"]
    assert lacked.more < 0, "what others have and it lacks pulls it down"


def test_fewer_answers_are_compared_with_as_many_candidates(caller, known):
    few, many = (tried(caller, top_k=top_k).results[0] for top_k in (1, 6))
    assert few.candidates == many.candidates == len(FACTS)
    assert math.isclose(few.more, many.more, abs_tol=1e-6)


def test_what_the_policy_leaves_is_named(caller, known):
    decide(caller, recall={"top_k": 3, "alpha": 0.6, "profile": "fused"})
    found = tried(caller)
    assert (found.query.top_k, found.query.alpha, found.query.profile) == (3, 0.6, "fused")
    assert found.formula.startswith("score = 0.6 · cosine + 0.4 · recency")
    assert settled(caller=caller, query=query(alpha=0.9)).alpha == 0.9


def test_trying_is_no_access(caller, known):
    tried(caller)
    flush()
    with scope(caller.tenant_id):
        assert not EpisodeAccess.objects.filter(id__in=known).exists()


def test_two_settings_tell_how_far_each_hit_moved(caller):
    old, new = remember(caller, FACTS[0], days=90), remember(caller, "The ship sails to Bergen.")
    first, second = try_recall(
        caller=caller,
        query=query(profile="fused", alpha=1.0, top_k=2),
        second=query(profile="fused", alpha=0.0, top_k=2),
        kinds=["episode"],
        now=timezone.now(),
    )
    assert [hit.id for hit in first.results] == [str(old), str(new)]
    assert [hit.moved for hit in first.results] == [1, -1]
    assert [hit.moved for hit in second.results] == [1, -1]
    only = try_recall(
        caller=caller, query=query(top_k=2), second=query(profile="fused", alpha=0.0, top_k=1),
        kinds=["episode"], now=timezone.now(),
    )  # fmt: skip
    assert None in [hit.moved for hit in only[0].results]


def test_whoever_is_no_admin_must_say_whose_memory_is_asked(acme, known):
    reader = acme.with_key(scopes=("read",)).caller
    with pytest.raises(Invalid, match="whose memory"):
        try_recall(caller=reader, query=RecallQuery("tea", EpisodeFilter()), now=timezone.now())


def where(caller, memory_id, kind="episode", kinds=("episode",), **named):
    return find_in_ranking(
        caller=caller,
        query=query(**named),
        kind=kind,
        memory_id=str(memory_id),
        kinds=kinds,
        now=timezone.now(),
    )


@pytest.fixture
def noted(caller):
    """Observations of a project, about tea and other things."""
    texts = ("Green tea is what Ann drinks.", "Tea stands in the cupboard.", "The build takes long.")
    return [
        note(caller, text, title=text.split()[0], user_id="ann", project="kitchen").observation.id
        for text in texts
    ]


def slot(caller, key, value, user="ann"):
    new = NewEntity(user_id=user, key=key, value=value)
    return put_entity(caller=caller, new=new, now=timezone.now()).entity.id


def test_the_parts_of_every_kind_add_up_to_the_score(caller, known, noted):
    slot(caller, "favourite_tea", "green")
    (found,) = try_recall(caller=caller, query=query(top_k=9), now=timezone.now())
    assert {hit.kind for hit in found.results} == {"episode", "entity", "observation"}
    for hit in found.results:
        assert adds_up(hit, tolerance=1e-5)
        for part in hit.parts:
            assert math.isclose(part.value * (1 if part.weight is None else part.weight), part.added)
    notes = [hit for hit in found.results if hit.kind == "observation"]
    assert notes[0].more > 0
    best = next(hit for hit in found.results if hit.kind == "observation")
    assert {part.name: part.weight for part in best.parts} == pytest.approx({"bm25": 0.7, "cosine": 0.3})
    lone = next(hit for hit in found.results if hit.kind == "entity")
    assert [part.name for part in lone.parts] == ["cosine"]


def slots_for(caller, text):
    (found,) = try_recall(caller=caller, query=query(text), kinds=["entity"], now=timezone.now())
    return found.results


def test_a_slot_says_that_the_query_names_it(caller):
    for key, value in (("favourite_colour", "teal"), ("favourite_tea", "green"), ("home", "Oslo")):
        slot(caller, key, value)
    first, *others = slots_for(caller, "What is my favourite colour?")
    assert (first.text, first.is_named) == ("favourite_colour: teal", True)
    parts = {part.name: part for part in first.parts}
    assert (parts["entity"].added, parts["entity"].weight) == (0.2, None)
    assert parts["entity"].more == pytest.approx(0.2 * 2 / 3)
    assert adds_up(first)
    assert [one.is_named for one in others] == [False, False]
    assert all(adds_up(one) for one in others)
    assert [part.more < 0 for one in others for part in one.parts if part.name == "entity"] == [True, True]
    decide(caller, recall={"entity_boost": 0})
    assert not any(one.is_named for one in slots_for(caller, "favourite colour"))


def test_a_slot_that_is_named_is_found_before_nearer_ones(caller):
    for key, value in (("name", "Ann Berg"), ("pet_name", "Rex")):
        slot(caller, key, value)
    first, second = slots_for(caller, "What's my name?")
    assert (first.text, first.is_named, second.is_named) == ("name: Ann Berg", True, False)
    nearness = [part.value for one in (first, second) for part in one.parts if part.name == "cosine"]
    assert nearness[0] < nearness[1]


def test_kinds_that_the_filter_does_not_know_are_left_out_and_named(caller, known):
    here = EpisodeFilter(user_id="ann", project="kitchen")
    (found,) = try_recall(caller=caller, query=RecallQuery("tea", here), now=timezone.now())
    assert dict(found.left_out) == {"entity": "Memories of kind entity cannot be chosen by it."}
    with pytest.raises(Invalid):
        try_recall(caller=caller, query=RecallQuery("tea", here), kinds=["entity"], now=timezone.now())


def test_an_observation_has_its_place_or_what_keeps_it_out(caller, known, noted):
    named = {"kind": "observation", "kinds": KINDS, "top_k": 2}
    first, second = (where(caller, one, **named) for one in noted[:2])
    assert first.found.place == 1
    assert second.found.place == 2
    assert (second.is_answered, second.answered, first.is_answered) == (False, 1, True)
    assert second.lacks
    other = note(caller, "Ben drinks tea.", title="Ben", user_id="ben", project="kitchen").observation.id
    assert "user “ann”" in where(caller, other, **named).reasons[0]
    delete_observation(caller=caller, observation_id=noted[0], hard=False, now=timezone.now())
    assert "It is in the trash." in where(caller, noted[0], **named).reasons
    assert "not asked for" in where(caller, noted[1], kind="observation").reasons[0]


def test_a_slot_has_its_place_or_what_keeps_it_out(caller, known):
    named = {"kind": "entity", "kinds": KINDS}
    old = slot(caller, "favourite_tea", "black")
    assert where(caller, old, **named).is_answered
    slot(caller, "favourite_tea", "green")
    assert "superseded" in where(caller, old, **named).reasons[0]
    assert "user “ann”" in where(caller, slot(caller, "tea", "mint", user="ben"), **named).reasons[0]
    for kind in KINDS:
        with pytest.raises(NotFound):
            where(caller, "x", **(named | {"kind": kind}))


def test_a_memory_that_was_not_recalled_has_its_place_and_what_it_lacks(caller, known):
    top_k = 2
    found = where(caller, known[4], top_k=top_k)
    assert not found.is_answered
    assert found.found.place > top_k
    assert found.last.place == top_k
    assert found.lacks
    short = sum(one.short for one in found.lacks)
    assert short >= found.last.score - found.found.score > 0
    assert found.reasons == ()
    assert where(caller, known[0], top_k=top_k).is_answered


def test_what_keeps_a_memory_out_is_said(caller, known):
    stranger = remember(caller, "Ben drinks tea.", user="ben")
    assert "user “ann”" in where(caller, stranger).reasons[0]
    retract_episode(caller=caller, episode_id=known[0], now=timezone.now())
    assert "It holds no more." in where(caller, known[0]).reasons
    assert any("a word" in one for one in where(caller, known[2], text="tea", profile="keyword").reasons)
    old = remember(caller, "Ann had a cat.", days=90)
    decide(caller, recall={"session_recency_days": 30})
    assert any("older than 30 days" in one for one in where(caller, old).reasons)
    first = EpisodeFilter(user_id="ann", as_of=datetime(1, 1, 2, tzinfo=UTC))
    reasons = find_in_ranking(
        caller=caller, query=RecallQuery("tea", first), memory_id=str(old), now=timezone.now()
    ).reasons
    assert "It did not hold yet at the moment that is asked about." in reasons


def test_what_keeps_it_out_is_said_by_the_settings_of_the_key_s_agent(acme):
    now = timezone.now() - timedelta(days=90)
    coder = acme.with_key(agent_id="coder").caller
    old = store_episode(caller=coder, new=NewEpisode(text=FACTS[0], user_id="ann"), now=now).id
    level = Level(acme.tenant.id, "coder")
    write_policy(level=level, actor="test", changes={"recall": {"session_recency_days": 30}})
    assert any("older than 30 days" in one for one in where(coder, old).reasons)


def test_a_neighbours_memory_is_not_to_be_found(caller, globex):
    theirs = remember(globex.caller, FACTS[0])
    for episode_id in (theirs, uuid4()):
        with pytest.raises(NotFound):
            where(caller, episode_id)


def test_a_saved_query_passes_until_what_it_should_find_is_gone(caller, known):
    now = timezone.now()
    saved = save_query(
        caller=caller, new=NewQuery("What tea does Ann drink?", "ann", relevant=(known[0],)), now=now
    )
    (run,) = run_queries(caller=caller, now=now, query_id=saved.id)
    assert run.has_passed
    assert run.recall == 1.0
    retract_episode(caller=caller, episode_id=known[0], now=timezone.now())
    runs = run_queries(caller=caller, now=timezone.now())
    assert [(one.has_passed, one.places) for one in runs if one.query.id == saved.id] == [(False, (None,))]
    kept = access_query(caller=caller, query_id=saved.id)
    assert (kept.first_run["passed"], kept.last_run["passed"]) == (True, False)
    assert kept.last_run["places"] == [None]


def test_a_neighbour_runs_no_query_of_ours(caller, known, globex):
    new = NewQuery("What tea?", "ann", relevant=(known[0],))
    saved = save_query(caller=caller, new=new, now=timezone.now())
    with pytest.raises(NotFound):
        run_queries(caller=globex.caller, now=timezone.now(), query_id=saved.id)
