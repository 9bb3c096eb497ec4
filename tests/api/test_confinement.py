"""A key that is bound to a user, agent or project reaches that one's rows only, whatever ids it sends."""

from dataclasses import dataclass, field

import pytest
from django_redis import get_redis_connection

from tests.api.call import Call
from tests.api.calls import CALLS
from tests.api.dialect_calls import AGENTOPS
from tests.api.refusals import assert_refusal
from tests.conftest import Member, make_member

SECRET = "sesame-4711"
ABOUT_A_SESSION = [  # but an id that ends in a verb is another session's, and lists of memories are filtered
    call
    for call in CALLS
    if "{id}" in call.path
    and not call.path.startswith("/episodic")
    and (
        call.method == "POST" or not call.path.endswith(("/check", "/mark", "/claim", "/evict", "/messages"))
    )
    and not (isinstance(call.body, dict) and call.body.get("user_id"))  # that means the user's own session
]
# Its project is the key's; an agent that is not declared has one of its own name.
NOTE = {"session_id": "s", "type": "decision", "title": SECRET, "content": SECRET, "topic_key": f"a/{SECRET}"}
MINE = {"user_id": "alice", "agent_id": "coder", "project": "apollo"}
THEIRS = {"user_id": "bob", "agent_id": "spy", "project": "zeus"}


@dataclass
class House:
    """A tenant with two keys, both bound in one respect, `kind`, and the secrets of one of them."""

    kind: str
    owner: Member
    intruder: Member
    victim: Member
    session: str = "s"
    before: dict[bool, list[object]] = field(default_factory=dict)  # as last seen, with fields and without

    def last_seen(self, *, with_fields: bool) -> list[object]:
        """Everything the victim has, as the test before saw it: nothing may have changed since."""
        if with_fields not in self.before:
            self.before[with_fields] = self.seen(with_fields=with_fields)
        return self.before[with_fields]

    def assert_unchanged(self, call: Call, *, with_fields: bool) -> None:
        """What a call that only reads has changed, the next one that writes would show."""
        if call.method == "GET":
            return
        before, now = self.before[with_fields], self.seen(with_fields=with_fields)
        self.before[with_fields] = now  # so that a change fails one test alone
        assert now == before

    def seen(self, *, with_fields: bool) -> list[object]:
        """Everything the victim has."""
        paths = [
            "/api/v1/sessions/s",
            "/api/v1/sessions/s/events",
            "/ledger/s",
            "/episodic/s",
            "/api/v1/episodes",
            "/api/v1/observations",
        ]
        if with_fields:  # the hash goes with Redis, by contract
            paths.append("/working-memory/s")
        return [self.victim.http.get(path).json() for path in paths]

    def forget(self) -> None:
        """As after a restart of Redis: PostgreSQL has to say whose the session is."""
        redis = get_redis_connection()
        for key in redis.scan_iter(f"*{self.owner.tenant.id.hex}*", count=100_000):
            redis.delete(key)
        self.before.pop(True, None)


@pytest.fixture(scope="module", params=["user_id", "agent_id", "project"])
def house(request, server):
    kind = request.param
    owner = make_member("acme", server)
    house = House(kind, owner, owner.with_key(**{kind: MINE[kind]}), owner.with_key(**{kind: THEIRS[kind]}))
    http = house.victim.http
    answers = [
        http.put("/working-memory/s", json={"data": {"note": SECRET}}),
        http.post("/ledger/s/mark", json={"item_key": f"skill:{SECRET}"}),
        http.post("/api/v1/sessions/s/turns", json={"turns": [{"role": "user", "content": SECRET}]}),
        http.post(
            "/episodic/store",
            json={"agent_id": "spy", "conversation_id": "s", "summary": SECRET},
        ),
        http.post("/api/v1/episodes", json={"text": SECRET, "session_id": "s", "agent_id": "spy"}),
        http.post("/observations", json=NOTE | ({"project": "zeus"} if kind == "user_id" else {})),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 201, 201]
    return house


def named_by(call: Call, kind: str) -> list[dict[str, object]]:
    """Every place in which this call can name the victim, as arguments of `Call.send`."""
    theirs = {kind: THEIRS[kind]}
    places: list[dict[str, object]] = []
    if kind in call.query:
        places.append(theirs)
    if kind in call.in_body:
        places.append({"body": call.body_for("s") | theirs})
    return places


@pytest.mark.parametrize("redis_knows", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_nothing_of_another_is_seen_or_changed(house, call, redis_knows):
    assert SECRET in str(house.last_seen(with_fields=redis_knows))
    attempts = [
        {},
        {"namespace": ""},
        *named_by(call, house.kind),
        THEIRS,
        {"user_id": "alice"},
        {"user_id": ""},
    ]
    for attempt in attempts:
        if not redis_knows:
            house.forget()
        answer = call.send(house.intruder, house.session, **attempt)
        assert answer.status_code < 500
        assert SECRET not in answer.text, (attempt, answer.text)
    house.assert_unchanged(call, with_fields=redis_knows)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_naming_another_is_refused(house, call):
    for attempt in named_by(call, house.kind):
        assert_refusal(call.send(house.intruder, "fresh", **attempt), call, 403)


@pytest.mark.parametrize("house", ["agent_id", "project"], indirect=True)
@pytest.mark.parametrize("call", ABOUT_A_SESSION, ids=lambda call: call.name)
def test_a_session_of_another_agent_or_project_is_refused(house, call):
    assert_refusal(call.send(house.intruder), call, 403)


@pytest.mark.parametrize("kind", list(MINE))
def test_a_bound_key_does_its_own_work(acme, kind):
    own = acme.with_key(**{kind: MINE[kind]})
    for call in [call for call in CALLS if call.scope in {"read", "write"}]:
        if call.refuses(kind):
            assert_refusal(call.send(own), call, 403)
        elif call.method != "DELETE":
            if "agent_id" in call.in_body and kind == "agent_id":
                answer = call.send(own, body=call.body_for("s") | {"agent_id": "coder"})
            elif call in AGENTOPS and call.body and kind == "agent_id":
                answer = call.send(own, body=_in_no_project(call.body_for("s")))
            else:
                answer = call.send(own)
            assert answer.status_code in (200, 201, 204), f"{call.name} {answer.text}"
    listed = acme.http.get("/api/v1/sessions", params={kind: MINE[kind]}).json()["results"]
    assert "s" in [one["session_id"] for one in listed]
    assert {one[kind] for one in listed} == {MINE[kind]}
    for call in [call for call in CALLS if call.scope in {"read", "write"}]:
        if call.method == "DELETE":
            assert call.send(own).is_success


def _in_no_project(body):
    """The project is then the agent's."""
    if isinstance(body, list):
        return [_in_no_project(one) for one in body]
    if isinstance(body, dict):
        return {name: _in_no_project(value) for name, value in body.items() if name != "project"}
    return body


def test_a_key_bound_to_a_user_and_an_agent_is_confined_in_both(acme):
    bound = acme.with_key(user_id="alice", agent_id="coder")
    acme.http.post("/api/v1/sessions", json={"session_id": "s", "user_id": "alice", "agent_id": "spy"})
    assert bound.http.get("/working-memory/s").status_code == 403
    assert bound.http.get("/api/v1/sessions").json()["results"] == []
    body = {"agent_id": "coder", "conversation_id": "c", "summary": "x"}
    assert bound.http.post("/episodic/store", json=body).json()["user_id"] == "alice"
    assert bound.http.post("/episodic/store", json=body | {"agent_id": "spy"}).status_code == 403
    assert bound.http.post("/episodic/store", json=body | {"user_id": "bob"}).status_code == 403


def test_what_a_bound_key_writes_is_the_bound_ones(acme):
    for kind, whose in MINE.items():
        own = acme.with_key(**{kind: whose})
        own.http.put("/working-memory/w-" + kind, json={"data": {"a": 1}})
        own.http.post("/api/v1/episodes", json={"text": kind})
        (session,) = acme.http.get("/api/v1/sessions", params={kind: whose}).json()["results"]
        (episode,) = acme.http.get("/api/v1/episodes", params={kind: whose}).json()["results"]
        assert (session["session_id"], session[kind]) == ("w-" + kind, whose)
        assert (episode["text"], episode[kind]) == (kind, whose)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_globex_reaches_nothing_of_acme_by_any_route(house, globex, call):
    house.last_seen(with_fields=True)
    for attempt in ({}, {house.kind: THEIRS[house.kind]}, *named_by(call, house.kind)):
        answer = call.send(globex, house.session, **attempt)
        assert answer.status_code < 500
        assert SECRET not in answer.text
    house.assert_unchanged(call, with_fields=True)
