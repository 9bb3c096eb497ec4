import pytest
from django.utils import timezone

from recall.transcripts import Message, end_with_transcript
from tenants.agents.agents import put_agent
from working.types import SessionAddress


def test_the_answer_is_the_block_that_is_put_into_prompts(acme, door):
    acme.http.post("/api/v1/sessions", json={"session_id": "s1", "project": "default"})
    ended = end_with_transcript(
        caller=acme.caller,
        address=SessionAddress("s1"),
        messages=[Message("user", "Fix the pool.")],
        now=timezone.now(),
    )
    door.call(acme, "mem_save", {"type": "bugfix", "title": "Pool", "content": "It leaked."})
    assert door.call(acme, "mem_context") == (
        f"<memory:sessions>\n- {ended.summary}\n</memory:sessions>\n"
        "<memory:context>\n- [bugfix] Pool: It leaked.\n</memory:context>",
        False,
    )


def test_without_memories_it_says_so(acme, door):
    assert door.call(acme, "mem_context") == ("No recent memory context available.", False)


@pytest.mark.parametrize(("limit", "found"), [(2, 2), (0, 5), (-1, 5), (None, 5), (6, 6)])
def test_the_limit_holds(acme, web, limit, found):
    for number in range(7):
        web.call(acme, "mem_save", {"type": "learning", "title": f"T{number}", "content": f"Fact {number}."})
    text, failed = web.call(acme, "mem_context", {"limit": limit})
    assert not failed
    assert text.count("- [learning]") == found
    assert "T6: Fact 6." in text  # the newest


def test_a_wrong_limit_is_told_to_the_model(acme, either):
    assert either.call(acme, "mem_context", {"limit": "many"}) == ("limit must be an integer", True)


def test_an_agent_s_limit_holds_for_its_keys(acme, web):
    put_agent(caller=acme.caller, name="few", document={"memory": {"contextLimit": 2}}, now=timezone.now())
    few = acme.with_key(agent_id="few")
    for number in range(4):
        web.call(few, "mem_save", {"type": "learning", "title": f"T{number}", "content": f"Fact {number}."})
    assert web.call(few, "mem_context")[0].count("- [learning]") == 2
