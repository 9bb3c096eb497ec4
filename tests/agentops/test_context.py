"""`GET /context`"""

import pytest

from tests.agentops.shapes import get, refused, save

QUESTION = "how do I set the pool size for REST?"


def context(member, **query):
    return get(member, "/context", **{"project": "orders"} | query)


def told(member, **query):
    return [one["title"] for one in context(member, **query)["recent_observations"]]


def test_with_nothing_there_both_lists_are_empty(acme):
    empty = {"recent_sessions": [], "recent_observations": []}
    assert context(acme) == context(acme, query="pool") == get(acme, "/context") == empty


def test_a_question_is_answered_before_what_is_only_recent(acme):
    save(acme, title="REST pool size", content="Set REST_POOL_SIZE in the deployment.")
    for number in range(8):
        save(acme, title=f"Deploy {number}", content=f"Service {number} goes to the blue cluster.")
    first, *others = context(acme, query=QUESTION)["recent_observations"]
    assert list(first) == ["type", "title", "content", "id", "rank", "method"]
    assert (first["title"], first["method"]) == ("REST pool size", "hybrid")
    assert len(others) == 4
    assert {(one["method"], one["rank"]) for one in others if one["method"] == "recency"} == {("recency", 0)}


def test_what_has_every_word_comes_first_then_the_newest(acme):
    save(acme, title="Database", content="The replica lags behind the primary.")
    for title in ("Cats", "Dogs"):
        save(acme, title=title, content=f"{title} are animals.")
    found = context(acme, query="replica lags")["recent_observations"]
    assert [(one["title"], one["method"]) for one in found] == [
        ("Database", "bm25"),
        ("Dogs", "recency"),
        ("Cats", "recency"),
    ]


def test_without_a_query_the_newest(acme):
    for number in range(7):
        save(acme, title=str(number), content=str(number))
    assert told(acme) == told(acme, query="  ") == ["6", "5", "4", "3", "2"]
    assert told(acme, limit=2) == ["6", "5"]
    assert len(told(acme, limit=0)) == len(told(acme, limit="x")) == 5


def test_an_agents_limit_holds_where_none_is_asked(acme):
    for number in range(4):
        save(acme, title=str(number), content=str(number))
    admin = acme.with_key(scopes=("read", "write", "admin"))
    memory = {"memory": {"project": "orders", "contextLimit": 2}}
    assert admin.http.put("/api/v1/agents/coder", json=memory).status_code == 201
    assert len(told(acme.with_key(agent_id="coder"), project="")) == 2


def test_contents_are_cut_off_at_300_characters_and_titles_are_not(acme):
    save(acme, title="é" * 250, content="ü" * 301)
    (one,) = context(acme)["recent_observations"]
    assert (one["title"], one["content"]) == ("é" * 250, "ü" * 300 + "...")


def test_the_three_newest_summaries(acme):
    for number in range(5):
        acme.http.post("/sessions", json={"id": str(number), "project": "orders"})
    for number in (0, 1, 2, 4):
        acme.http.post(
            f"/sessions/{number}/end", json={"messages": [{"role": "user", "content": f"Task {number}"}]}
        )
    found = context(acme, limit=1)["recent_sessions"]
    assert [one["session_id"] for one in found] == ["4", "2", "1"]
    assert found[0]["summary"] == 'Session with 1 messages. Started: "Task 4" — Ended: "Task 4"'


def test_scope_narrows_and_global_ones_are_seen(acme):
    save(acme, title="mine", content="a")
    save(acme, title="everywhere", content="b", project="other", scope="global")
    assert told(acme) == ["everywhere", "mine"]
    assert told(acme, scope="global") == ["everywhere"]
    assert told(acme, scope="project") == ["mine"]


def test_the_ready_text(acme):
    save(acme, type="config", title="Pool <size>", content="12 & more")
    acme.http.post("/sessions", json={"id": "s", "project": "orders"})
    acme.http.post("/sessions/s/end", json={"messages": [{"role": "assistant", "content": "x"}]})
    answer = acme.http.get("/context", params={"project": "orders", "format": "text"})
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == (
        "<memory:sessions>\n- Session with 1 messages.\n</memory:sessions>\n"
        "<memory:context>\n- [config] Pool <size>: 12 & more\n</memory:context>"
    )
    nothing = acme.http.get("/context", params={"project": "nowhere", "format": "text"})
    assert (nothing.status_code, nothing.text) == (200, "")


def test_what_a_session_was_told_is_in_its_ledger_and_not_told_again(acme):
    acme.http.post("/sessions", json={"id": "s", "project": "orders"})
    number = save(acme)["id"]
    assert len(told(acme, session_id="s")) == 1
    assert f"observation:{number}" in acme.http.get("/ledger/s").json()
    assert told(acme, session_id="s", dedupe="true") == []
    assert len(told(acme, session_id="s")) == 1
    acme.http.patch(f"/observations/{number}", json={"content": "Now 20."})
    assert len(told(acme, session_id="s", dedupe="true")) == 1


def test_a_long_prompt_cut_within_a_character_is_tolerated(acme):
    save(acme, content="The pool holds twelve.")
    cut = b"/context?project=orders&query=" + b"pool%20" * 70 + b"%E2%82"
    url = acme.http.base_url.copy_with(raw_path=cut)
    assert acme.http.get(url).json()["recent_observations"][0]["title"] == "Pool size"


@pytest.mark.parametrize("query", ["session_id=%00", "session_id=" + "s" * 256, "project=%00", "scope=a%00"])
def test_what_cannot_be_kept_is_400(acme, query):
    refused(acme.http.get(f"/context?{query}"), 400)
