import pytest

from tests.native.shapes import problem

URL = "/api/v1/sessions/s/window"


def talk(member, pairs, start=0):
    turns = [
        {"role": r, "content": f"{r} {n}"} for n in range(start, start + pairs) for r in ("user", "assistant")
    ]
    member.http.post("/api/v1/sessions/s/turns", json={"turns": turns})


def test_by_default_the_last_six_exchanges(acme):
    talk(acme, 8)
    window = acme.http.get(URL).json()
    assert window.keys() == {"messages", "summary", "truncated", "tokens"}
    assert [one["content"] for one in window["messages"]] == [
        f"{r} {n}" for n in range(2, 8) for r in ("user", "assistant")]  # fmt: skip
    assert (window["summary"], window["truncated"]) == (None, True)
    assert window["tokens"] > 0


def test_as_many_exchanges_as_asked_for(acme):
    talk(acme, 8)
    assert len(acme.http.get(f"{URL}?turns=2").json()["messages"]) == 4
    everything = acme.http.get(f"{URL}?turns=1000").json()
    assert (len(everything["messages"]), everything["truncated"]) == (16, False)


def test_a_budget_is_kept(acme):
    talk(acme, 8)
    window = acme.http.get(f"{URL}?token_budget=30").json()
    assert window["tokens"] <= 30
    assert window["messages"][0]["role"] == "user"
    assert window["messages"][-1]["content"] == "assistant 7"
    assert window["truncated"]


def test_messages_are_what_a_chat_api_takes(acme):
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    turns = [
        {"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "r" * 100, "tool_call_id": "c", "id": "t", "metadata": {"m": 1}},
    ]  # fmt: skip
    acme.http.post("/api/v1/sessions/s/turns", json={"turns": turns})
    window = acme.http.get(f"{URL}?max_tool_result_chars=10").json()
    assert window["messages"] == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "rrrrrrrrrr… [90 characters cut]", "tool_call_id": "c"},
    ]
    assert window["truncated"]


def test_the_summary_of_what_came_before_stands_first(acme):
    talk(acme, 1)
    summary = acme.http.post("/api/v1/sessions/s/end").json()["summary"]
    talk(acme, 1, start=1)
    window = acme.http.get(f"{URL}?turns=1").json()
    assert window["summary"] == summary
    assert window["messages"][0] == {"role": "system", "content": summary}
    assert [one["content"] for one in window["messages"][1:]] == ["user 1", "assistant 1"]


@pytest.mark.parametrize("query", [
    "turns=0", "turns=1001", "turns=x", "turns=1.5", "turns=", "token_budget=0", "token_budget=-1",
    "max_tool_result_chars=0", "max_tool_result_chars=" + "9" * 40,
])  # fmt: skip
def test_what_is_not_valid_in_the_query_is_refused(acme, query):
    talk(acme, 1)
    problem(acme.http.get(f"{URL}?{query}"), 422, query.split("=")[0])


def test_an_unknown_session_has_no_window(acme, globex):
    talk(acme, 1)
    problem(globex.http.get(URL), 404)
