"""Golden sessions: what was going on, taken up again."""

import pytest
from django_redis import get_redis_connection

from tests.golden.conversation import Conversation
from tests.privacy import people


@pytest.fixture
def talk(acme):
    return Conversation(acme, "ada", "monday")


def test_what_did_we_decide_last_time(talk, acme):
    talk.say("Which database do we take?", "PostgreSQL.")
    talk.say("We decided to launch the orchard project on the third of May.", "Noted.")
    talk.end()
    for number in range(3):
        other = Conversation(acme, "ada", f"other-{number}")
        other.say(f"Play song number {number}.", "Playing.")
        other.end()
    tuesday = Conversation(acme, "ada", "tuesday")
    started = tuesday.start("What did we decide last time about the orchard project?")
    assert "third of May" in started["episodes"][0]["text"]


def test_continue_means_what_was_talked_about(talk, acme):
    talk.call("POST", "/episodes", {"user_id": "ada", "text": "The beehive report lacks its third chapter."})
    for number in range(8):
        talk.call("POST", "/episodes", {"user_id": "ada", "text": f"Went on with errand number {number}."})
    talk.say("Let us write the report on the beehives.", "Where were we?")
    prompt = talk.prompt("continue")
    assert "beehive" in prompt["query_used"]
    assert "third chapter" in talk.told("continue", dedupe=False)
    assert prompt["messages"][-1] == {"role": "user", "content": "continue"}


def test_what_has_been_told_once_is_not_told_twice_unless_it_changes(talk):
    body = {"user_id": "ada", "text": "The greenhouse key hangs behind the door."}
    episode = talk.call("POST", "/episodes", body)
    query = "Where is the key of the greenhouse?"
    assert "behind the door" in talk.told(query)
    again = talk.prompt(query)
    assert "behind the door" not in str(again["messages"])
    assert [one["ledger"] for one in again["items"] if one["id"] == episode["id"]] == ["told"]
    talk.call("PATCH", f"/episodes/{episode['id']}", {"text": "The greenhouse key hangs in the shed."})
    assert "in the shed" in talk.told(query)


def test_a_session_goes_on_although_redis_has_lost_it(talk):
    talk.say("The first word is sesame.")
    talk.say("The second word is poppy.")
    keys = people.redis_keys(talk.member.tenant.id)
    get_redis_connection().delete(*keys)
    messages = talk.prompt("What was the first word?")["messages"]
    assert "The first word is sesame." in str(messages)


def test_a_long_session_keeps_its_beginning_as_a_summary(talk, acme):
    officer = acme.with_key(scopes=("read", "write", "admin"))
    answer = officer.http.patch("/api/v1/policy", json={"document": {"summary": {"every_turns": 12}}})
    assert answer.status_code == 200, answer.text
    summarised = [talk.say("The budget for the fair is 900 crowns.")["summarised"]]
    summarised += [talk.say(f"Item {number} of the list.")["summarised"] for number in range(12)]
    assert any(summarised)
    window = talk.call("GET", "/sessions/monday/window", user_id="ada")
    assert "900 crowns" in window["summary"]
    assert "900 crowns" not in str([one for one in window["messages"] if one["role"] == "user"])
    assert "900 crowns" in str(talk.prompt("What is the budget?")["messages"])
    events = talk.call("GET", "/sessions/monday/events", user_id="ada", limit="200")["results"]
    assert len(events) == 26


def test_a_retracted_memory_is_not_recalled_and_stays_in_the_history(talk):
    body = {"user_id": "ada", "text": "The ferry leaves from pier four."}
    episode = talk.call("POST", "/episodes", body)
    talk.call("POST", f"/episodes/{episode['id']}/retract")
    assert talk.recalled("Where does the ferry leave from?") == []
    shown = talk.call("GET", "/episodes", user_id="ada", history="true")["results"]
    assert [one["id"] for one in shown] == [episode["id"]]


def test_whoever_was_erased_begins_anew(talk, acme):
    talk.turn("My name is Ada.")
    talk.end()
    people.erase(acme, "ada")
    assert (talk.slots(), talk.episodes(), talk.decisions()) == ({}, [], [])
    later = Conversation(acme, "ada", "later")
    later.turn("My name is Adele.")
    assert later.slots() == {"name": "Adele"}


def test_a_document_is_found_by_its_own_tool_and_never_mixed_into_recall(talk, acme):
    keeper = Conversation(acme.with_key(scopes=("read", "write", "ingest")), "ada", "monday")
    text = "# Refunds\n\nA refund is granted within thirty days of the purchase."
    keeper.call("POST", "/documents", {"title": "Policy", "content": text, "media_type": "text/markdown"})
    query = "Within how many days is a refund granted?"
    assert "thirty days" not in str(talk.prompt(query)["messages"])
    assert talk.recalled(query) == []
    found = talk.call("POST", "/documents/search", {"query": query})["results"]
    assert "thirty days" in found[0]["text"]
