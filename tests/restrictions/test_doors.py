"""Through no door is a restricted person's memory read, changed or added to, until that is lifted."""

import pytest

from tests.conftest import Member, make_member
from tests.privacy.people import belongings
from tests.restrictions.people import READS, WORD, WRITES, lift, meet, restrict


@pytest.fixture(scope="module")
def member(server) -> Member:
    return make_member("acme", server).with_key(scopes=("read", "write", "ingest"))


@pytest.fixture(scope="module")
def before(member) -> dict[str, str]:
    """What each read answered before Ann was restricted, which she is then."""
    meet(member, "ann")
    said = {asked.name: asked.send(member).text for asked in READS}
    restrict(member, "ann")
    return said


@pytest.mark.parametrize("asked", READS, ids=lambda asked: asked.name)
def test_nothing_of_a_restricted_person_comes_back(asked, member, before):
    known = before[asked.name]
    assert WORD in known or '"talk"' in known or "ann" in known, known
    answer = asked.send(member)
    assert answer.status_code < 500, answer.text
    if WORD not in str(asked.body):
        assert WORD not in answer.text
    for words in (
        f"{WORD} turn",
        f"{WORD} episode",
        f"{WORD} vim",
        f"{WORD} document",
        f"{WORD} observation",
    ):
        assert words not in answer.text


@pytest.mark.parametrize("asked", WRITES, ids=lambda asked: asked.name)
def test_no_write_for_a_restricted_person_is_taken(asked, member, before):
    answer = asked.send(member)
    assert answer.status_code == 423, answer.text
    assert "restricted" in answer.text


def test_an_mcp_tool_says_that_the_memory_is_restricted(member, before):
    bound = member.with_key(user_id="ann")
    call = {"name": "mem_save", "arguments": {"title": "t", "content": "again", "type": "decision"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    assert "restricted" in bound.http.post("/mcp", json=body).text


def test_all_of_it_is_there_again_once_that_is_lifted(globex):
    globex = globex.with_key(scopes=("read", "write", "ingest"))
    meet(globex, "ann")
    stored = belongings(globex.tenant.id, "ann")
    restrict(globex, "ann")
    for asked in WRITES:
        asked.send(globex)
    lift(globex, "ann")
    after = belongings(globex.tenant.id, "ann")
    assert {name: len(rows) for name, rows in after.items()} == {
        name: len(rows) for name, rows in stored.items()
    }
    assert WORD in globex.http.get("/api/v1/sessions/talk/window", params={"user_id": "ann"}).text
    assert WORD in globex.http.get("/working-memory/talk", params={"user_id": "ann"}).text


def test_others_are_not_touched(member, before):
    turn = {"turns": [{"role": "user", "content": "hello"}]}
    path = "/api/v1/sessions/other/turns"
    assert member.http.post(path, params={"user_id": "bob"}, json=turn).is_success
    assert "hello" in member.http.get("/api/v1/sessions/other/window", params={"user_id": "bob"}).text


def test_a_tools_result_in_nobodys_new_session_is_saved(acme):
    officer = acme.with_key(scopes=("read", "write", "admin", "privacy"))
    declared = {"memory": {"project": "Orders"}, "toolHooks": {"auditTools": ["bash"]}}
    officer.http.put("/api/v1/agents/coder", json=declared).raise_for_status()
    restrict(acme, "ann")
    ran = {"agent": "coder", "session_id": "s1", "tool": "bash", "args": {}, "output": "done"}
    assert len(acme.http.post("/api/v1/hooks/tool-result", json=ran).json()["saved"]) == 1


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
def test_as_many_as_are_asked_for_come_back_from_the_others(mode, acme):
    for user in ("ann", "ann", "ann", "bob", "bob"):
        text = {"text": f"sesame of {user}", "user_id": user, "agent_id": "coder", "metadata": {}}
        acme.http.post("/api/v1/episodes", json=text).raise_for_status()
    restrict(acme, "ann")
    asked = {"query": "sesame of ann", "agent_id": "coder", "mode": mode, "top_k": 2}
    found = acme.http.post("/api/v1/recall", json=asked).json()["results"]
    assert [one["text"] for one in found] == ["sesame of bob"] * len(found)
    assert found
