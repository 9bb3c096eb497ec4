"""What memories of any kind say, by the names that the ledger has for them."""

from dataclasses import replace
from uuid import uuid4

import pytest

from episodic.episodes import KEPT_BACK
from episodic.models import MemoryType
from recall.texts import texts_of
from tenants.scope import scope
from tests.console.remembered import episode, slot
from tests.observations.notes import note


@pytest.fixture
def named(acme):
    """An episode, a turn, a slot and an observation of Ann's, by kind and id."""
    caller = acme.caller
    remembered = episode(caller, "Ann lives in Brest.", user_id="ann")
    turn = episode(caller, "I live in Brest.", user_id="ann", memory_type=MemoryType.MESSAGE)
    observation = note(caller, "Brest is in Brittany.", title="Brest", user_id="ann").observation
    return {
        ("episode", str(remembered.id)): "Ann lives in Brest.",
        ("episode", str(turn.id)): "I live in Brest.",
        ("entity", str(slot(caller, "Brest"))): "city: Brest",
        ("observation", str(observation.id)): "Brest\nBrest is in Brittany.",
    }


def texts(caller, named):
    with scope(caller.tenant_id):
        return texts_of(caller=caller, named=list(named))


def test_each_kind_says_its_words(acme, named):
    assert texts(acme.caller, named) == named


def test_a_turn_is_kept_back_from_whoever_is_not_shown_conversations(acme, named):
    viewer = replace(acme.caller, kind="member", scopes=frozenset({"read"}))
    told = {named[name]: text for name, text in texts(viewer, named).items() if name[0] == "episode"}
    assert told == {"Ann lives in Brest.": "Ann lives in Brest.", "I live in Brest.": KEPT_BACK}


def test_others_memories_say_nothing(acme, globex, named):
    assert texts(replace(acme.caller, user_id="ann"), named) == named
    assert texts(replace(acme.caller, user_id="bob"), named) == {}
    assert texts(globex.caller, named) == {}


def test_names_of_nothing_say_nothing(caller):
    nothing = [("episode", str(uuid4())), ("episode", "x"), ("entity", ""), ("observation", "9" * 30)]
    nothing += [("observation", "0"), ("observation", "٣"), ("skill", "x"), ("", "")]
    assert texts(caller, nothing) == {}
