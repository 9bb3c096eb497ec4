"""The tools that read and write a session as a whole."""

import pytest

from tests.mcp.test_long_term_tools import ask, fail

SAID = [{"role": "user", "content": "Hello", "id": "u1"}, {"role": "assistant", "content": "Hi", "id": "a1"}]


def test_what_is_set_is_what_is_read(acme, either):
    done = ask(
        either, acme, "set_working_memory", session_id="s1", messages=SAID, context="They met.",
        data={"plan": {"city": "Oslo"}}, memories=[{"text": "Ana likes tea", "id": "m1"}],
    )  # fmt: skip
    read = ask(either, acme, "get_working_memory", session_id="s1")
    for answer in (done, read):
        assert [(one["id"], one["role"], one["content"]) for one in answer["messages"]] == [
            ("u1", "user", "Hello"), ("a1", "assistant", "Hi"),
        ]  # fmt: skip
        assert answer["context"] == "They met."
        assert answer["data"] == {"plan": {"city": "Oslo"}}
        assert [(one["id"], one["text"]) for one in answer["memories"]] == [("m1", "Ana likes tea")]
        assert answer["ttl_seconds"] == 3600


def test_what_is_left_out_is_empty_then(acme, web):
    ask(web, acme, "set_working_memory", session_id="s1", messages=SAID, data={"a": 1}, ttl_seconds=60)
    ask(web, acme, "set_working_memory", session_id="s1", messages=SAID[:1])
    read = ask(web, acme, "get_working_memory", session_id="s1")
    assert [one["id"] for one in read["messages"]] == ["u1"]
    assert "data" not in read
    assert read["ttl_seconds"] == 3600


def test_the_last_messages_alone_can_be_read(acme, web):
    ask(web, acme, "set_working_memory", session_id="s1", messages=SAID)
    read = ask(web, acme, "get_working_memory", session_id="s1", recent_messages_limit=1)
    assert [one["id"] for one in read["messages"]] == ["a1"]


def test_a_session_is_that_of_its_user_and_namespace(acme, web):
    ask(web, acme, "set_working_memory", session_id="s1", user_id="ana", namespace="n", messages=SAID)
    for named in ({}, {"user_id": "ana"}, {"namespace": "n"}, {"user_id": "bob", "namespace": "n"}):
        assert fail(web, acme, "get_working_memory", session_id="s1", **named) == "Session s1 not found"
    read = ask(web, acme, "get_working_memory", session_id="s1", user_id="ana", namespace="n")
    assert (read["user_id"], read["namespace"]) == ("ana", "n")


def test_nobody_reads_another_s_session(acme, globex, web):
    ask(web, acme, "set_working_memory", session_id="s1", user_id="ana", messages=SAID)
    assert fail(web, globex, "get_working_memory", session_id="s1", user_id="ana") == "Session s1 not found"
    bob = acme.with_key(user_id="bob")
    assert "bound to another user" in fail(web, bob, "get_working_memory", session_id="s1", user_id="ana")
    assert "bound to another user" in fail(web, bob, "set_working_memory", session_id="s1", user_id="ana")


@pytest.mark.parametrize(("arguments", "told"), [
    ({"session_id": ""}, "session_id: String should have at least 1 character"),
    ({"session_id": "s", "messages": [{"role": "user", "content": ""}]}, "messages.0.content: String should"),
    ({"session_id": "s", "ttl_seconds": 0}, "ttl_seconds: Input should be greater than or equal to 1"),
    ({"session_id": "s", "data": []}, "data: Input should be a valid dictionary"),
])  # fmt: skip
def test_wrong_arguments_are_told_to_the_model(acme, web, arguments, told):
    assert told in fail(web, acme, "set_working_memory", **arguments)
