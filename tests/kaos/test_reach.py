"""Who sees whose memory."""

import httpx
import pytest

from tests.kaos.asking import add, begin, declare, events, known, stats

BINDINGS = {"user_id": ("ana", "bob"), "agent_id": ("coder", "spy"), "project": ("apollo", "zeus")}


def statuses(member, session: str) -> list[int]:
    """Of all that is asked or done about one session."""
    url = f"/memory/sessions/{session}"
    event = {"event_type": "user_message", "content": "mine"}
    answers: list[httpx.Response] = [
        member.http.get(url),
        member.http.get(f"{url}/events"),
        member.http.get(f"{url}/context"),
        member.http.post(f"{url}/events", json=event),
        member.http.delete(url),
    ]
    assert "sesame" not in "".join(answer.text for answer in answers)
    return [answer.status_code for answer in answers]


def test_globex_sees_and_changes_nothing_of_acme(acme, globex):
    for member, secret in ((acme, "sesame"), (globex, "tulip")):
        begin(member, "same", agent="coder")
        add(member, "same", secret, agent="coder")
    begin(acme, "own")
    assert add(acme, "own", "sesame too")
    assert statuses(globex, "own") == [404, 200, 200, 200, 200]
    assert not add(globex, "own", "x")
    assert (events(globex), known(globex), stats(globex)) == (["tulip"], ["same"], (1, 1, 1))
    assert events(globex, session_id="own") == []
    begin(globex, "same", agent="coder")
    globex.http.post("/memory/cleanup", json={"max_age_hours": 0})
    assert events(acme) == ["sesame", "sesame too"]


@pytest.mark.parametrize("kind", list(BINDINGS))
def test_a_bound_key_sees_and_changes_its_own_alone(acme, kind):
    mine, theirs = (acme.with_key(**{kind: whose}) for whose in BINDINGS[kind])
    users = BINDINGS[kind] if kind == "user_id" else ("", "")
    declare(acme, "agent", maxSessions=2)
    for member, user, secret in ((theirs, users[1], "sesame"), (mine, users[0], "tulip")):
        begin(member, f"{secret}-1", user)
        assert add(member, f"{secret}-1", secret)
    assert known(mine) == ["tulip-1"]
    found = statuses(mine, "sesame-1")
    assert found == ([404, 200, 200, 200, 200] if kind == "user_id" else [403] * 5)
    for number in range(2, 6):
        begin(mine, f"tulip-{number}", users[0])
    assert mine.http.post("/memory/cleanup", json={"max_age_hours": 0}).json()["removed"] >= 1
    assert (known(theirs), events(theirs)) == (["sesame-1"], ["sesame"]), "no room is made of another's"


def test_another_than_the_key_is_bound_to_may_not_be_named(acme):
    coder, ana = acme.with_key(agent_id="coder"), acme.with_key(user_id="ana")
    assert coder.http.get("/memory/events", headers={"X-Agent": "spy"}).status_code == 403
    assert ana.http.get("/memory/events?user_id=bob").status_code == 403
    body = {"app_name": "spy", "user_id": "bob"}
    assert ana.http.post("/memory/sessions", json=body).status_code == 403
    made = coder.http.post("/memory/sessions", json=body).json()["session_id"]
    assert coder.http.get(f"/memory/sessions/{made}").json()["app_name"] == "spy", "that is but a name"
    assert coder.http.get(f"/api/v1/sessions/{made}?user_id=bob").json()["agent_id"] == "coder"


def test_an_agent_that_is_named_sees_its_own_sessions_and_nobody_elses(acme):
    begin(acme, "s", agent="coder")
    add(acme, "s", "x", agent="coder")
    assert (known(acme, agent="spy"), events(acme, agent="spy", session_id="s")) == ([], [])
    assert not add(acme, "s", "y", agent="spy")
    assert acme.http.delete("/memory/sessions/s", headers={"X-Agent": "spy"}).json() == {"deleted": False}
    assert events(acme, agent="coder") == ["x"]


@pytest.mark.parametrize("is_bound", [False, True])
def test_agents_have_sessions_of_one_id_and_user_each_its_own(acme, is_bound):
    names = ("coder", "spy")
    members = {name: acme.with_key(agent_id=name) if is_bound else acme for name in names}
    headers = {name: None if is_bound else name for name in names}
    for name in names:
        for how in ("if_missing", "always", "if_missing"):
            assert begin(members[name], "conv", "user", agent=headers[name], create=how) == "conv"
    for name in names:
        url = "/memory/sessions/conv/events?user_id=user"
        sent = {"event_type": "user_message", "content": f"of {name}"}
        given = {"X-Agent": name}
        assert members[name].http.post(url, json=sent, headers=given).json() == {"added": True}
        assert add(members[name], "conv", f"{name} again", agent=headers[name])
    for name in names:
        mine = [f"of {name}", f"{name} again"]
        assert events(members[name], agent=headers[name], session_id="conv") == mine
        assert events(members[name], agent=headers[name]) == mine
        assert known(members[name], agent=headers[name]) == ["conv"]
        told = members[name].http.get("/memory/sessions/conv", headers={"X-Agent": name}).json()
        assert [one["content"] for one in told["events"]] == mine
    begin(members["spy"], "conv", "user", agent=headers["spy"])
    assert events(members["spy"], agent=headers["spy"]) == []
    assert members["spy"].http.delete("/memory/sessions/conv", headers={"X-Agent": "spy"}).json()["deleted"]
    assert events(members["coder"], agent=headers["coder"]) == ["of coder", "coder again"]
    log = acme.http.get("/api/v1/sessions/conv/events?user_id=user").json()["results"]
    assert [one["content"] for one in log] == ["of coder", "coder again"]


def test_a_namespace_that_is_named_is_the_one_that_is_meant(acme):
    url, body = "/memory/sessions", {"app_name": "x", "user_id": "ana", "session_id": "s"}
    begin(acme, "s", agent="coder")
    for namespace in ("spy", "team"):
        headers, query = {"X-Agent": "coder"}, {"namespace": namespace}
        assert acme.http.post(url, json=body, headers=headers, params=query).status_code == 200
    for query in ({}, {"namespace": "team"}):
        taken = acme.http.post(url, json=body, headers={"X-Agent": "spy"}, params=query)
        assert (taken.status_code, taken.json()) == (409, {"detail": "This session is another agent's."})


def test_another_projects_session_is_not_begun_anew(acme):
    begin(acme.with_key(project="apollo"), "s1", agent="coder")
    zeus = acme.with_key(project="zeus")
    body = {"app_name": "x", "user_id": "ana", "session_id": "s1"}
    taken = zeus.http.post("/memory/sessions", json=body, headers={"X-Agent": "coder"})
    assert taken.status_code == 403
    begin(zeus, "s1", agent="spy")
    assert known(zeus, agent="spy") == ["s1"]


def test_an_id_of_several_agents_is_listed_once_and_tells_the_events_of_all(acme):
    for agent, user in (("coder", "ana"), ("spy", "bob"), ("clerk", "ana")):
        begin(acme, "s1", user, agent=agent)
        assert add(acme, "s1", f"of {agent}", agent=agent)
    begin(acme, "s2", agent="coder")
    assert known(acme) == ["s1", "s2"]
    assert events(acme, session_id="s1") == events(acme) == ["of coder", "of spy", "of clerk"]
    assert events(acme, session_id="s1", limit=2) == ["of spy", "of clerk"]
    assert events(acme, session_id="s1", user_id="bob") == ["of spy"]
    assert acme.http.get("/memory/sessions/s1").status_code == 409


def test_an_id_means_one_session_whosever_it_was(acme):
    begin(acme, "a", "ana")
    begin(acme, "s", "ana")
    begin(acme, "z", "ana")
    add(acme, "s", "of ana")
    begin(acme, "s", "bob")
    assert add(acme, "s", "of bob")
    assert known(acme) == ["a", "s", "z"], "in the place of the one before"
    assert acme.http.get("/memory/sessions/s").json()["user_id"] == "bob"
    assert events(acme, session_id="s", user_id="ana") == []
    log = acme.http.get("/api/v1/sessions/s/events?user_id=ana").json()["results"]
    assert [one["content"] for one in log] == ["of ana"]


def test_a_restricted_person_is_neither_seen_nor_written_to(acme):
    begin(acme, "s", "ana")
    add(acme, "s", "sesame")
    begin(acme, "open", "bob")
    privacy = acme.with_key(scopes=("read", "write", "privacy"))
    assert privacy.http.post("/api/v1/subjects/ana/restrict", json={}).is_success
    for user in ("", "?user_id=ana"):
        event = {"event_type": "user_message", "content": "x"}
        assert acme.http.post(f"/memory/sessions/s/events{user}", json=event).status_code == 423
    assert acme.http.get("/memory/sessions/s").status_code == 404
    body = {"app_name": "agent", "user_id": "ana", "session_id": "t"}
    assert acme.http.post("/memory/sessions", json=body).status_code == 423
    assert (known(acme), events(acme)) == (["open"], [])
