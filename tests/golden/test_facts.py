"""Golden sessions: what people say of themselves, kept, corrected and not mixed up."""

import pytest
from django.utils import timezone

from tests.golden.conversation import Conversation


@pytest.fixture
def talk(acme):
    return Conversation(acme, "ada", "monday")


def test_remember_my_name_after_twenty_turns(talk):
    talk.turn("Hi, my name is Ada.", "Nice to meet you.")
    talk.chat(20)
    prompt = talk.prompt("What is my name?")
    assert "my name is Ada" not in str([one for one in prompt["messages"] if one["role"] == "user"])
    assert "Ada" in talk.told("What is my name?", dedupe=False)
    assert talk.slots()["name"] == "Ada"


def test_remember_my_name_in_the_next_session(talk, acme):
    talk.turn("My name is Ada.")
    talk.end()
    assert "Ada" in Conversation(acme, "ada", "tuesday").told("What is my name?")


def test_a_changed_address_is_the_current_one_and_the_former_stays_in_the_history(talk):
    talk.turn("I live in Berlin.")
    between = timezone.now().isoformat()
    talk.chat(2)
    talk.turn("I moved to Lisbon last week.")
    assert talk.slots()["home_city"] == "Lisbon"
    assert talk.slots(as_of=between)["home_city"] == "Berlin"
    history = talk.call("GET", "/entities/ada/home_city/history")["results"]
    assert {one["value"]: one["valid_to"] is None for one in history} == {"Lisbon": True, "Berlin": False}
    told = talk.told("Where do I live?", dedupe=False)
    assert "Lisbon" in told
    assert "Berlin" not in told


def test_a_preference_that_is_reversed_counts_as_it_was_last_said(talk):
    first = talk.turn("I prefer tea over coffee.")
    key = first["written"][0]["key"]
    talk.chat(2)
    talk.turn("I prefer coffee over tea now.")
    assert "coffee" in str(talk.slots()[key]).lower()
    assert "tea" not in str(talk.slots()[key]).lower().split(" over ")[0]


def test_two_people_of_one_name_are_not_mixed_up(acme):
    one, other = Conversation(acme, "ann-1", "s1"), Conversation(acme, "ann-2", "s2")
    one.turn("My name is Ann and I live in Oslo.")
    other.turn("My name is Ann and I live in Madrid.")
    assert (one.slots()["name"], other.slots()["name"]) == ("Ann", "Ann")
    assert (one.slots()["home_city"], other.slots()["home_city"]) == ("Oslo", "Madrid")
    assert "Madrid" not in one.told("Where do I live?")
    assert "Oslo" not in other.told("Where do I live?")


def test_an_email_address_waits_until_the_person_confirms_it(talk, acme):
    talk.turn("My email is ada@example.org.")
    assert "email" not in talk.slots()
    assert talk.slots(status="pending")["email"] == "ada@example.org"
    ada = Conversation(acme.with_key(user_id="ada"), "ada", "monday")
    ada.call("POST", "/entities/ada/email/confirm")
    assert talk.slots()["email"] == "ada@example.org"


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Paris, I would walk more.",
        "My colleague prefers dark mode.",
        "Do I live in Rome?",
        'He said "my name is Bob".',
    ],
)
def test_what_is_not_said_of_oneself_is_not_remembered(talk, text):
    assert talk.turn(text)["written"] == []
    assert talk.slots() == {}


def test_another_tenants_ada_knows_nothing(talk, globex):
    talk.turn("My name is Ada.")
    assert Conversation(globex, "ada", "monday").slots() == {}
