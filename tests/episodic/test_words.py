"""What episodes are found by beside their vectors: kept in step with them, scored as the book has it, and
shown to nobody else."""

import math
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections
from django.utils import timezone

from episodic import word_figures, word_queries
from episodic.editing import edit_episode
from episodic.episodes import build_episode, store_episode
from episodic.inserting import insert_episode
from episodic.keyword import Subject
from episodic.lexemes import corpus_of, mark_of, term
from episodic.models import EpisodeWords
from episodic.retraction import delete_episode, retract_episode
from episodic.types import EpisodeFilter, NewEpisode
from lexical.analysis import analyse, analyse_query
from lexical.matching import match_any, telling
from tenants.privacy.erasure import request_erasure
from tenants.scope import NoTenantScope, scope
from tests.recall.talking import run_jobs

BOOK = ["heron", "river", "bank", "stone", "green", "paint", "door", "night", "train", "dog"]


@pytest.fixture
def caller(acme):
    return acme.caller


def keep(caller, text="The heron stood by the river.", *, user_id="u1", **more):
    """Stored without a vector: words alone find it."""
    new = NewEpisode(text=text, user_id=user_id, **more)
    episode = build_episode(caller=caller, new=new, now=timezone.now())
    with scope(caller.tenant_id):
        insert_episode(episode)
    return episode


def entries(caller, **where):
    with scope(caller.tenant_id):
        return list(EpisodeWords.objects.filter(tenant_id=caller.tenant_id, **where).order_by("id"))


def found(caller, text, **where):
    """Ids and scores of what the words find."""
    with scope(caller.tenant_id):
        subject = Subject.of(caller.tenant_id, EpisodeFilter(**{"user_id": "u1"} | where))
        assert subject is not None
        return match_any(subject, telling(analyse_query(text)), 100)


def test_an_episode_is_found_by_its_words_from_its_commit_on(caller):
    now = timezone.now()
    new = NewEpisode(text="The heron stood there.", user_id="u1", topics=("birds",), entities=("Rhine",))
    stored = store_episode(caller=caller, new=new, now=now)
    for word in ("herons", "standing heron", "BIRD", "rhine"):
        assert list(found(caller, word)) == [stored.id], word
    assert found(caller, "train") == {}


def test_a_verbatim_turn_has_its_place_and_its_speaker(caller):
    for place in (3, 4):
        keep(
            caller, "Ana Maria: Did you see it yesterday?", memory_type="message", session_id="s",
            covers_turns=(place, place),
        )  # fmt: skip
    first, second = entries(caller)
    assert (first.place, first.speaker, first.asks, first.tells_time) == (3, "ana", True, True)
    assert first.thread == second.thread is not None
    keep(caller, "Ana: I did.", memory_type="message", session_id="s", user_id="u2")
    keep(caller, "Note: this is no speaker.", session_id="")
    other, note = entries(caller)[2:]
    assert other.thread != first.thread, "a session of the same name is another user's own"
    assert (note.thread, note.place, note.speaker) == (None, None, "")


def test_an_edit_is_found_by_the_new_words_alone(caller):
    episode = keep(caller)
    edit_episode(
        caller=caller, episode_id=episode.id, changes={"text": "A train at night."}, now=timezone.now()
    )
    assert list(found(caller, "train")) == [episode.id]
    assert found(caller, "heron") == {}


def test_what_holds_no_more_is_found_as_history_alone(caller):
    episode = keep(caller)
    before = timezone.now()
    retract_episode(caller=caller, episode_id=episode.id, now=timezone.now())
    assert found(caller, "heron") == {}
    assert list(found(caller, "heron", history=True)) == [episode.id]
    assert list(found(caller, "heron", as_of=before)) == [episode.id]


@pytest.mark.parametrize("how", ["deleted", "erased"])
def test_what_is_gone_leaves_no_word(caller, how):
    episode = keep(caller)
    if how == "deleted":
        delete_episode(caller=caller, episode_id=episode.id, hard=True, now=timezone.now())
    else:
        request_erasure(caller=caller, user_id="u1", now=timezone.now() + timedelta(seconds=1))
        run_jobs()
    assert entries(caller) == []


@pytest.mark.parametrize(("where", "count"), [
    ({}, 8), ({"agent_id": "ada"}, 4), ({"project": "p"}, 1), ({"session_id": "s"}, 1),
    ({"namespace": "n"}, 1),
    ({"memory_types": ("semantic",)}, 1), ({"topics": ("t", "x")}, 1), ({"user_id": "u2"}, 1),
    ({"user_id": None, "agent_id": "ada"}, 5), ({"user_id": None}, 9),
    ({"since": timezone.now() + timedelta(days=1)}, 1), ({"until": timezone.now() - timedelta(days=1)}, 1),
])  # fmt: skip
def test_filters_hold_for_words_too(caller, where, count):
    far = timedelta(days=3)
    for more in (
        {}, {"agent_id": "ada", "project": "p"}, {"agent_id": "ada", "session_id": "s"},
        {"agent_id": "ada", "namespace": "n"}, {"agent_id": "ada", "memory_type": "semantic"},
        {"topics": ("t",)}, {"event_date": timezone.now() + far}, {"event_date": timezone.now() - far},
    ):  # fmt: skip
        keep(caller, **more)
    keep(caller, user_id="u2", agent_id="ada")
    assert len(found(caller, "heron", **where)) == count


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_book(caller, seed):
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(BOOK, k=draw.randint(2, 30))) for _ in range(120)]
    kept = {keep(caller, text).id: Counter(analyse(text)) for text in texts}
    mean = sum(sum(one.values()) for one in kept.values()) / len(kept)
    for _ in range(10):
        words = analyse(" ".join(draw.sample(BOOK, 3)))
        expected = {one: score for one, counts in kept.items() if (score := _bm25(counts, words, kept, mean))}
        told = found(caller, " ".join(words))
        best = sorted(expected.values(), reverse=True)[:100]
        assert list(told.values()) == pytest.approx(best, rel=1e-5)
        assert all(expected[one] == pytest.approx(score, rel=1e-5) for one, score in told.items())


def _bm25(counts, words, kept, mean):
    total = 0.0
    for word in words:
        holders = sum(word in one for one in kept.values())
        weight = math.log(1 + (len(kept) - holders + 0.5) / (holders + 0.5))
        norm = 1.2 * (0.25 + 0.75 * sum(counts.values()) / mean)
        total += weight * counts[word] * 2.2 / (counts[word] + norm)
    return total


def test_another_tenants_words_are_not_there(acme, globex):
    keep(globex.caller)
    wanted = term("heron", mark_of(globex.tenant.id, corpus_of("u1", "")))
    named = {
        "wanted": wanted, "terms": [wanted], "weights": [1.0], "mean_length": 3.0, "marks": 1, "most": 10,
    }  # fmt: skip
    for where in (EpisodeFilter(), EpisodeFilter(user_id="u1"), EpisodeFilter(history=True)):
        counts = []
        for member in (acme, globex):
            with scope(member.caller.tenant_id):
                counts.append(len(word_queries.find(where=where, **named)))
                counts += word_queries.count(terms=[wanted], where=where)
        assert counts == [0, 0, 1, 1], "there is something to be found"


@pytest.mark.parametrize("whose", ["agent_id", "project"])
@pytest.mark.parametrize("first", ["all", "bound"])
def test_figures_within_an_agent_or_project_tell_of_nothing_else(caller, monkeypatch, whose, first):
    """Neither counted anew nor kept from somebody who may read more."""
    monkeypatch.setattr(word_figures, "SMALL", 0)
    keep(caller, "Ana: a heron, in 1999", memory_type="message", event_date=datetime(1999, 5, 1, tzinfo=UTC))
    keep(caller, "The heron left.")
    keep(caller, "The heron and the river", **{whose: "spy"})
    everything = EpisodeFilter(user_id="u1")
    bound = EpisodeFilter(user_id="u1", **{whose: "spy"})
    seen = {}
    with scope(caller.tenant_id):
        for where in (everything, bound) if first == "all" else (bound, everything):
            subject = Subject.of(caller.tenant_id, where)
            figures, counts = subject.figures(), subject.statistics(["heron", "river"]).frequencies
            seen[where] = (figures.documents, figures.years[0], len(figures.speakers), counts["heron"])
    assert seen[everything] == (3, 1999, 1, 3)
    assert seen[bound] == (1, timezone.now().year, 0, 1)


def test_without_a_tenant_nothing_is_told(caller):
    keep(caller)
    wanted = term("heron", mark_of(caller.tenant_id, corpus_of("u1", "")))
    count = "SELECT n FROM episodes_count(ARRAY[%s]::tsquery[], NULL, NULL, NULL) n"
    with pytest.raises(NoTenantScope), connection.cursor() as cursor:
        cursor.execute(count, [wanted])
    with psycopg.connect(settings.DATABASE_URLS["default"]) as raw:
        assert raw.execute(count, [wanted]).fetchall() == [(0,)]


def test_two_users_whose_marks_are_the_same_are_told_apart(caller, monkeypatch):
    for module in ("episodic.indexing", "episodic.keyword"):
        monkeypatch.setattr(f"{module}.mark_of", lambda *_named: "same")
    mine = keep(caller)
    keep(caller, user_id="u2")
    assert list(found(caller, "heron")) == [mine.id]


def test_only_the_app_may_call_the_functions():
    statement = "SELECT has_function_privilege(%s, oid, 'EXECUTE') FROM pg_proc WHERE proname = %s"
    with connections["owner"].cursor() as cursor:
        for function in ("episodes_find", "episodes_count"):
            for role, may in (("strata_app", True), ("public", False)):
                cursor.execute(statement, [role, function])
                assert cursor.fetchall() == [(may,)], (role, function)
