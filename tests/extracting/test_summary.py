"""One memory of each whole session, told anew when it has gone on."""

import json
import re

from tests.extracting.talk import CHAT, OSLO, extract, jobs, marks, put, records, shown, talk
from tests.recall.talking import decide
from tests.recall.whole_sessions import add
from tests.working.conversation import EARLY
from working.types import NewMessage, SessionAddress

SUMMARY = {"strategy": "summary", "config": {}}
SECRET = "AKIA" + "IOSFODNN7EXAMPLE"


def told(text, **named):
    return json.dumps({"summary": text, "topics": [], "entities": []} | named)


def short(words):
    return {"strategy": "summary", "config": {"max_summary_length": words}}


def test_without_a_model_it_says_what_was_said_first_last_and_between(caller):
    put(caller, *talk("Hello!", OSLO, "We decided on the ferry to Bergen.", "Bye."), strategy=SUMMARY)
    extract(caller)
    (one,) = records(caller)
    assert one.text == (
        'Session with 4 messages. Started: "Hello!" — Ended: "Bye." '
        'Noted: "We decided on the ferry to Bergen."'
    )
    assert re.fullmatch(r"thread_summary_[0-9a-f]{24}", one.external_id)
    assert one.extraction["strategy"] == "summary"
    assert one.extraction["from"] == ["m1", "m2", "m3", "m4"]
    assert set(one.entities) >= {"Bergen", "Oslo"}
    assert (one.metadata["extractor"], one.metadata["summariser"]) == ("rules", "deterministic.v2")


def test_it_stays_one_memory_and_keeps_what_it_said_before(caller):
    put(caller, *talk(OSLO), strategy=SUMMARY)
    extract(caller)
    (first,) = records(caller)
    add(caller, *talk("I work at Acme.", first=2))
    extract(caller)
    (second,) = records(caller)
    assert (second.id, second.external_id) == (first.id, first.external_id)
    assert second.version > first.version
    assert "I work at Acme." in second.text
    assert second.extraction["from"] == ["m1", "m2"]


def test_each_session_has_its_own(caller):
    for address in (SessionAddress("s"), SessionAddress("s", "ann"), SessionAddress("t")):
        put(caller, *talk(OSLO), address=address, strategy=SUMMARY)
    extract(caller)
    assert len({one.external_id for one in records(caller)}) == 3


def test_of_the_same_messages_it_is_told_once(caller, llm):
    llm.control(says=told("User lives in Oslo."))
    put(caller, *talk(OSLO), strategy=SUMMARY)
    extract(caller)
    put(caller, *talk(OSLO, "Hi."), strategy=SUMMARY)
    put(caller, *talk(OSLO), strategy=SUMMARY)
    extract(caller)
    assert llm.count(CHAT) == 1
    assert [one.text for one in records(caller)] == ["User lives in Oslo."]
    assert jobs(caller) == []


def test_the_model_tells_the_whole_session_without_secrets(caller, llm):
    llm.control(says=told("User lives in Oslo.", topics=["home"], entities=["Oslo"]))
    put(caller, *talk(OSLO), strategy=SUMMARY)
    extract(caller)
    add(caller, *talk(f"Our key is {SECRET}.", first=2))
    extract(caller)
    text = shown(llm)
    assert f"user: {OSLO}\nuser: Our key is [secret]." in text
    assert "<most_words>\n500\n</most_words>" in text
    (one,) = records(caller)
    assert (one.topics, one.entities) == (["home"], ["Oslo"])
    assert (one.metadata["provider"], one.metadata["model"]) == ("openai", "gpt-4.1-mini")
    assert one.metadata["prompt"] == "extract_summary.v1"


def test_it_has_no_more_words_than_are_wanted(caller, llm):
    llm.control(says=told("User lives in Oslo. " * 100))
    put(caller, *talk(OSLO), strategy=short(30))
    extract(caller)
    (one,) = records(caller)
    assert one.text == ("User lives in Oslo. " * 7).strip()
    assert one.extraction["config"] == {"max_summary_length": 30}


def test_a_length_that_makes_no_sense_is_brought_within_bounds(caller, llm):
    llm.control(says=told("word " * 5_000))
    for place, (words, most) in enumerate([(-1, 10), (10**9, 2_000), ("many", 500), (True, 500)]):
        put(caller, *talk(OSLO), address=SessionAddress(f"s{place}"), strategy=short(words))
        extract(caller)
        assert f"<most_words>\n{most}\n</most_words>" in shown(llm)
    longest = max(len(one.text.split()) for one in records(caller))
    assert longest <= 2_000


def test_nothing_said_is_nothing_told(caller):
    put(caller, NewMessage("system", "You are kind.", EARLY, "a"), strategy=SUMMARY)
    extract(caller)
    assert records(caller) == []
    assert marks(caller) == [True]


def test_it_is_told_of_turns_that_windows_leave_to_the_running_summary(caller, settings):
    settings.WINDOW_SIZE = 4
    put(caller, *talk("Hello!", "one", "two", "three", "four", "five", "Bye."), strategy=SUMMARY)
    extract(caller)
    found = [one for one in records(caller) if one.external_id.startswith("thread_summary_")]
    assert [one.extraction["from"][0] for one in found] == ["m1"]
    assert 'Started: "Hello!"' in found[0].text


def test_the_policy_may_want_none(caller):
    decide(caller, write={"episodes": "selective"})
    put(caller, *talk(OSLO), strategy=SUMMARY)
    extract(caller)
    assert records(caller) == []
