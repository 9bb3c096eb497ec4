"""What stands around a memory in its session counts as far as it may be read: neither it nor its weight in a
score tells of another agent's, another project's or of conversations."""

from dataclasses import replace

import pytest
from django.utils import timezone

from episodic.embedding import embed_pending
from episodic.models import Episode
from episodic.types import EpisodeFilter
from recall.hybrid import candidates_for
from recall.recall import recall
from recall.types import PROFILES, RecallQuery
from tenants.scope import scope
from tests.recall.test_hybrid import say, texts

MINE, THEIRS = "Ana: The boat is green.", "Bo: Is the PIN of the boat in the drawer?"
BINDINGS = [{"agent_id": "ada"}, {"project": "harbour"}, {"agent_id": "ada", "project": "harbour"}]
OTHERS = {"agent_id": "bob", "project": "bank"}
WHOSE = ["u1", None]  # a session of nobody's is the same for every agent


def ask(caller, now, profile="hybrid", **where):
    query = RecallQuery("green boat", EpisodeFilter(**where), 5, profile)
    return recall(caller=caller, query=query, now=now, counted=False)


def scores(found):
    return {hit.episode.text: (hit.score, hit.added, hit.signals) for hit in found.hits}


@pytest.mark.parametrize("binding", BINDINGS, ids=["agent", "project", "both"])
@pytest.mark.parametrize("others", [OTHERS, {}], ids=["another's", "nobody's"])
@pytest.mark.parametrize("user_id", WHOSE, ids=["of a user", "of nobody"])
@pytest.mark.parametrize("profile", PROFILES)
def test_a_bound_key_hears_nothing_of_the_turns_of_others(caller, binding, others, user_id, profile):
    bound = replace(caller, **binding)
    say(caller, MINE, first=2, user_id=user_id, **binding)
    embed_pending()
    now = timezone.now()
    before = ask(bound, now, profile, user_id=user_id)
    assert texts(before) == [MINE]
    for place in (1, 3):
        say(caller, THEIRS, first=place, user_id=user_id, **{name: others.get(name) for name in binding})
    embed_pending()
    assert scores(ask(bound, now, profile, user_id=user_id)) == scores(before)


@pytest.mark.parametrize("binding", BINDINGS, ids=["agent", "project", "both"])
def test_who_names_an_agent_or_a_project_is_answered_of_these(caller, binding):
    say(caller, MINE, first=2, **binding)
    say(caller, THEIRS, **OTHERS)
    embed_pending()
    found = candidates_for(
        caller=caller, text="boat", where=EpisodeFilter(user_id="u1", **binding), now=timezone.now()
    )
    assert len(found.ids) == 1
    assert texts(ask(caller, timezone.now(), user_id="u1", **binding)) == [MINE]


@pytest.mark.parametrize("binding", BINDINGS, ids=["agent", "project", "both"])
def test_a_bound_key_is_lent_its_own_turns(caller, binding):
    say(caller, "Bo: Which colour is the boat?", "Ana: Dark green.", **binding)
    embed_pending()
    query = RecallQuery("Which colour did the boat have?", EpisodeFilter())
    found = recall(caller=replace(caller, **binding), query=query)
    (answer,) = (hit for hit in found.hits if hit.episode.text == "Ana: Dark green.")
    assert answer.added["answers"] > 0


def test_turns_around_lend_nothing_to_whoever_is_not_shown_conversations(caller):
    """What was a turn and is a statement now stands where it stood."""
    reader = replace(caller, kind="member", scopes=frozenset({"read"}))
    (mine, _theirs) = say(caller, MINE, THEIRS)
    with scope(caller.tenant_id):
        Episode.objects.filter(id=mine.id).update(memory_type="semantic")
    embed_pending()
    asked = {"text": "boat", "where": EpisodeFilter(user_id="u1"), "now": timezone.now()}
    assert len(candidates_for(caller=caller, **asked).ids) == 2
    assert candidates_for(caller=reader, **asked).ids == (mine.id,)
