"""Over REST a key that is bound to an agent, a project or a person reads that one's sessions only."""

import pytest

PARTS = ["", "/events", "/window"]


@pytest.fixture(scope="module")
def member(server):
    from tests.conftest import make_member

    member = make_member("acme", server)
    turns = {"turns": [{"role": "user", "content": "the secret word is plum"}]}
    for session, body in (
        ("of-bot", {"agent_id": "bot"}),
        ("of-other", {"agent_id": "other"}),
        ("of-ann", {"user_id": "ann"}),
    ):
        answer = member.http.post(f"/api/v1/sessions/{session}/turns", json=turns | body)
        assert answer.is_success, answer.text
    return member


@pytest.mark.parametrize("part", PARTS)
def test_an_agents_key_reads_what_was_said_in_its_own_sessions(member, part):
    bot = member.with_key(agent_id="bot", scopes=["read"])
    own = bot.http.get(f"/api/v1/sessions/of-bot{part}")
    assert (own.status_code, "plum" in own.text) == (200, bool(part))
    for session in ("of-other", "of-ann"):
        refused = bot.http.get(f"/api/v1/sessions/{session}{part}")
        assert (refused.status_code, "plum" in refused.text) == (403, False), session


def test_a_window_that_redis_holds_is_refused_as_well(member):
    assert member.http.get("/api/v1/sessions/of-other/window").status_code == 200  # it is in Redis now
    assert member.with_key(agent_id="bot").http.get("/api/v1/sessions/of-other/window").status_code == 403


@pytest.mark.parametrize("part", PARTS)
def test_a_persons_key_reads_what_was_said_in_their_own_sessions(member, part):
    ann, bob = member.with_key(user_id="ann"), member.with_key(user_id="bob")
    assert ann.http.get(f"/api/v1/sessions/of-ann{part}").status_code == 200
    assert bob.http.get(f"/api/v1/sessions/of-ann{part}").status_code == 404
    assert bob.http.get(f"/api/v1/sessions/of-ann{part}?user_id=ann").status_code == 403


def test_an_agents_key_lists_its_own_sessions(member):
    listed = member.with_key(agent_id="bot").http.get("/api/v1/sessions").json()["results"]
    assert [one["session_id"] for one in listed] == ["of-bot"]


@pytest.mark.parametrize("part", ["/events", "/window"])
def test_what_was_said_takes_a_key_that_reads(member, part):
    blind = member.with_key(scopes=["ingest"])
    assert blind.http.get(f"/api/v1/sessions/of-bot{part}").status_code == 403
