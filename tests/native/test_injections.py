import pytest

from tests.native.shapes import problem

URL = "/api/v1/injections"


def mark(member, item, session="s", user=None, value="1"):
    named = {"user_id": user} if user else {}
    body = {"item_key": item, "value": value}
    member.http.post(f"/ledger/{session}/mark", json=body, params=named).raise_for_status()


def listed(member, **query):
    answer = member.http.get(URL, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def keys(member, **query):
    return [one["item_key"] for one in listed(member, **query)]


def test_an_injection_is_shown_with_whom_it_was_told(acme):
    mark(acme, "skill:deploy", "talk", "ann", value="v2")
    (one,) = listed(acme)
    assert one.pop("id")
    assert one.pop("marked_at").endswith("Z")
    assert one == {
        "item_key": "skill:deploy", "kind": "skill", "value": "v2", "session_id": "talk", "namespace": "",
        "user_id": "ann", "rank": None, "score": None, "why": None, "released_at": None,
    }  # fmt: skip


def test_what_has_ended_is_shown_with_its_end(acme):
    mark(acme, "skill:a")
    acme.http.delete("/ledger/s")
    mark(acme, "skill:a")
    assert [one["released_at"] is None for one in listed(acme)] == [True, False]


def test_they_are_filtered_newest_first_and_go_on(acme):
    mark(acme, "skill:a", "one", "ann")
    mark(acme, "skill_:b", "two", "bob")
    mark(acme, "episode:1", "two", "ann")
    assert keys(acme) == ["episode:1", "skill_:b", "skill:a"]
    assert keys(acme, user_id="ann") == ["episode:1", "skill:a"]
    assert keys(acme, session_id="two") == ["episode:1", "skill_:b"]
    assert keys(acme, kind="skill") == ["skill:a"], "an underscore stands for itself"
    assert keys(acme, prefix="skill") == ["skill_:b", "skill:a"]
    assert keys(acme, namespace="n") == []
    assert keys(acme, since=listed(acme)[1]["marked_at"]) == ["episode:1", "skill_:b"]
    first = acme.http.get(URL, params={"limit": 2}).json()
    rest = acme.http.get(URL, params={"limit": 2, "cursor": first["next"]}).json()
    assert [one["item_key"] for one in first["results"] + rest["results"]] == keys(acme)
    assert rest["next"] is None


@pytest.mark.parametrize(("query", "field"), [
    ({"since": "soon"}, "since"), ({"cursor": "x"}, "cursor"), ({"limit": "201"}, "limit"),
])  # fmt: skip
def test_what_is_not_valid_is_named(acme, query, field):
    problem(acme.http.get(URL, params=query), 422, field)


def test_globex_does_not_see_what_acme_was_told(acme, globex):
    mark(acme, "skill:a")
    assert listed(globex) == []


@pytest.mark.parametrize("kind", ["user_id", "agent_id", "project"])
def test_a_bound_key_sees_its_own_sessions_only(acme, kind):
    mine, theirs = acme.with_key(**{kind: "mine"}), acme.with_key(**{kind: "theirs"})
    mark(mine, "skill:mine", "s1")
    mark(theirs, "skill:theirs", "s2")
    assert keys(mine) == ["skill:mine"]
    assert keys(theirs, session_id="s1") == []
    assert keys(acme) == ["skill:theirs", "skill:mine"]
    if kind == "user_id":
        problem(mine.http.get(URL, params={"user_id": "theirs"}), 403)
