"""Nothing stands in the messages twice: not as a turn, in the summary and as an episode."""

import pytest

from tests.native.test_assemble import assemble, items, memory, say
from tests.native.test_start import until_known

END = "/api/v1/sessions/s/end?user_id=ann"


def decide(member, **sections):
    """Changes the policy, which every process comes to know in some seconds."""
    admin = member.with_key(scopes=("read", "write", "admin"))
    admin.http.patch("/api/v1/policy", json={"document": sections}).raise_for_status()


def end(member):
    member.http.post(END, json={}).raise_for_status()


def included(answer, kind):
    return [one["id"] for one in answer["items"] if one["kind"] == kind and one["included"]]


def test_a_session_that_ended_and_goes_on_is_told_of_once(acme):
    say(acme, "My parcel is late.", "Which one?", "The blue one.", "I see.")
    end(acme)
    say(acme, "Is it there?", "Not yet.")
    answer = assemble(acme, "continue", dedupe=False)
    assert memory(answer) == "", "the window shows every turn that the summary tells of"
    assert items(answer, "episode") == ["duplicate"]
    assert len(included(answer, "turn")) == 6


@pytest.fixture
def long_talk(acme):
    """27 turns, every ten of which are summarised, then an end, and two turns more."""
    decide(acme, summary={"every_turns": 10})

    def is_known():
        say(acme, *(f"probe {n}" for n in range(12)), session="probe", user="probe")
        found = acme.http.get("/api/v1/sessions/probe?user_id=probe").json()
        return found["summary"] is not None

    until_known(is_known)
    for n in range(0, 26, 2):
        say(acme, f"question {n} about the parcel", f"answer {n} about the parcel")
    say(acme, "question 26 about the parcel")
    end(acme)
    say(acme, "And now?", "Now it is there.")
    return acme


def test_after_summaries_and_an_end_each_part_is_told_once(long_talk):
    answer = assemble(long_talk, "continue", dedupe=False)
    text = memory(answer)
    assert "<episodes>" not in text, text
    assert set(items(answer, "episode")) == {"duplicate"}
    shown = [int(one) for one in included(answer, "turn")]
    parts = [tuple(map(int, one.split("-"))) for one in included(answer, "summary")]
    covered = [turn for first, last in parts for turn in range(first, last + 1)]
    assert sorted(covered + shown) == list(range(1, 30)), "each turn once: in the summary or in the window"
    assert text.index("Turns 1 to") < text.rindex("Turns ")
    left = [one for one in answer["items"] if one["kind"] == "summary" and not one["included"]]
    assert {one["why"] for one in left} == {"duplicate"}


def test_when_turns_do_not_fit_what_tells_of_them_comes_back(long_talk):
    whole = assemble(long_talk, "continue", dedupe=False)
    answer = assemble(long_talk, "continue", dedupe=False, token_budget=whole["tokens"] - 10)
    assert len(included(answer, "turn")) < len(included(whole, "turn"))
    assert len(included(answer, "summary")) > len(included(whole, "summary"))
    assert answer["tokens"] <= whole["tokens"] - 10


def test_what_another_session_left_behind_is_told(acme):
    say(acme, "My parcel is late.", "Which one?")
    end(acme)
    say(acme, "Is it there?", session="other")
    answer = assemble(acme, "What about the parcel?", session="other")
    assert items(answer, "episode") == ["recalled"]
    acme.http.delete("/api/v1/sessions/s?user_id=ann").raise_for_status()
    say(acme, "Hello.", "Hello Ann.", "I am back.")
    again = assemble(acme, "What about the parcel?")
    assert items(again, "episode") == ["recalled"], "the session that had this id before is another one"
