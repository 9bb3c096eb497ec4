from datetime import timedelta

from django.utils import timezone

from episodic.duplicates import content_hash, find_duplicate
from episodic.editing import edit_episode
from episodic.episodes import store_episode
from episodic.retraction import retract_episode
from episodic.types import NewEpisode
from tenants.scope import scope

TEXT = "Ana prefers night trains."


def find(caller, text=TEXT, now=None, **named):
    named = {"user_id": "u1"} | named
    with scope(caller.tenant_id):
        return find_duplicate(tenant_id=caller.tenant_id, text=text, now=now or timezone.now(), **named)


def store(caller, text=TEXT, **named):
    return store_episode(caller=caller, new=NewEpisode(text=text, user_id="u1", **named), now=timezone.now())


def test_case_and_white_space_do_not_count():
    same = {content_hash(text) for text in (TEXT, f" {TEXT}\n", TEXT.upper(), TEXT.replace(" ", " \t\u2003"))}
    assert len(same) == 1
    assert content_hash("Ana prefers night train.") not in same
    assert len(same.pop()) == 64


def test_the_newest_that_says_the_same_and_holds_is_found(acme):
    assert find(acme.caller) is None
    store(acme.caller)
    newest = store(acme.caller, TEXT.upper())
    assert find(acme.caller, "ana  prefers night trains.").id == newest.id


def test_what_another_memory_holds_is_no_duplicate(acme, globex):
    store(acme.caller, agent_id="ada", project="apollo", namespace="n")
    same = {"agent_id": "ada", "project": "apollo", "namespace": "n"}
    assert find(acme.caller, **same) is not None
    for other in ({"user_id": "u2"}, {"agent_id": "bob"}, {"project": ""}, {"namespace": ""}):
        assert find(acme.caller, **same | other) is None
    assert find(globex.caller, **same) is None


def test_what_was_taken_back_or_says_something_else_by_now_is_no_duplicate(acme):
    episode = store(acme.caller)
    retract_episode(caller=acme.caller, episode_id=episode.id, now=timezone.now())
    assert find(acme.caller) is None
    assert find(acme.caller, now=episode.created_at - timedelta(days=1)) is not None  # it held then
    edited = store(acme.caller)
    edit_episode(
        caller=acme.caller, episode_id=edited.id, changes={"text": "Ana prefers buses."}, now=timezone.now()
    )
    assert find(acme.caller) is None
    assert find(acme.caller, "ana prefers buses.").id == edited.id
