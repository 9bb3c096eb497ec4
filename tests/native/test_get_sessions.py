import pytest

from tests.native.shapes import problem

ODD_IDS = ["a/b", "a b", "ä😀", "50%", "?#&=", "..", "turns", "a/turns/b", "-", "\n"]


def create(member, session_id, **named):
    return member.http.post("/api/v1/sessions", json={"session_id": session_id, **named}).json()


def test_pages_follow_the_cursor_to_the_end(acme):
    for n in range(7):
        create(acme, f"s{n}")
    seen, cursor = [], None
    while True:
        answer = acme.http.get(
            "/api/v1/sessions", params={"limit": 3} | ({"cursor": cursor} if cursor else {})
        )
        page = answer.json()
        seen += [one["session_id"] for one in page["results"]]
        if (cursor := page["next"]) is None:
            break
    assert seen == [f"s{n}" for n in reversed(range(7))]


def test_a_page_that_holds_all_has_no_next(acme):
    create(acme, "a")
    create(acme, "b")
    assert acme.http.get("/api/v1/sessions?limit=2").json()["next"] is None


def test_filters(acme):
    create(acme, "a", user_id="u1", agent_id="ada", project="p")
    create(acme, "b", user_id="u2", agent_id="ada")
    acme.http.post("/api/v1/sessions/b/end", json={})

    def found(query):
        return sorted(
            one["session_id"] for one in acme.http.get(f"/api/v1/sessions?{query}").json()["results"]
        )

    assert found("user_id=u1") == ["a"]
    assert found("agent_id=ada") == ["a", "b"]
    assert found("project=p") == ["a"]
    assert found("active=true") == found("active=1") == ["a"]
    assert found("active=false") == ["b"]


@pytest.mark.parametrize(("query", "field"), [
    ("limit=0", "limit"), ("limit=201", "limit"), ("limit=x", "limit"), ("limit=-1", "limit"),
    ("limit=٣", "limit"), ("active=maybe", "active"), ("cursor=abc", "cursor"), ("cursor=YXxi", "cursor"),
    ("cursor=%C3%A4", "cursor"), ("cursor=%00", "cursor"), ("cursor=a", "cursor"),
    ("cursor=MjAyNi0wMS0wMXwwMTkwMDAwMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA=", "cursor"),
    ("user_id=%00", "user_id"),
])  # fmt: skip
def test_what_is_not_valid_in_the_query_is_named(acme, query, field):
    problem(acme.http.get(f"/api/v1/sessions?{query}"), 422, field)


def test_one_session(acme):
    created = create(acme, "a", user_id="u1")
    assert acme.http.get("/api/v1/sessions/a").json() == created
    assert acme.http.get("/api/v1/sessions/a/").json() == created


def test_an_unknown_session_is_404(acme, globex):
    create(acme, "a")
    problem(acme.http.get("/api/v1/sessions/b"), 404)
    problem(globex.http.get("/api/v1/sessions/a"), 404)


@pytest.mark.parametrize("session_id", ODD_IDS)
def test_ids_may_hold_any_character(acme, session_id):
    from urllib.parse import quote

    create(acme, session_id)
    path = "/api/v1/sessions/" + quote(session_id, safe="").replace(".", "%2E")
    assert (
        acme.http.post(f"{path}/turns", json={"turns": [{"role": "user", "content": "x"}]}).status_code == 200
    )
    assert acme.http.get(path).json()["session_id"] == session_id
    assert acme.http.get(path).json()["turn_count"] == 1
    assert acme.http.delete(path).status_code == 204


def test_deleting_removes_the_session_and_keeps_what_became_long_term(acme):
    create(acme, "a", user_id="u1")
    acme.http.post("/api/v1/sessions/a/turns", json={"turns": [{"role": "user", "content": "x"}]})
    ended = acme.http.post("/api/v1/sessions/a/end").json()
    acme.http.post("/ledger/a/mark", json={"item_key": "i"})
    acme.http.put("/working-memory/a", json={"data": {"k": 1}})
    assert acme.http.delete("/api/v1/sessions/a").status_code == 204
    assert acme.http.delete("/api/v1/sessions/a").status_code == 204
    problem(acme.http.get("/api/v1/sessions/a"), 404)
    problem(acme.http.get("/api/v1/sessions/a/window"), 404)
    assert acme.http.get("/ledger/a").json() == acme.http.get("/working-memory/a").json() == {}
    kept = acme.http.get("/api/v1/episodes?session_id=a").json()["results"]
    assert [one["id"] for one in kept] == [ended["episode_id"]]


def test_two_users_sessions_of_one_id_are_told_apart(acme):
    create(acme, "a", user_id="u1")
    create(acme, "a", user_id="u2")
    problem(acme.http.get("/api/v1/sessions/a"), 409)
    assert acme.http.get("/api/v1/sessions/a?user_id=u2").json()["user_id"] == "u2"


def test_a_bound_key_reaches_only_its_users_session(acme):
    create(acme, "a", user_id="u1")
    bound = acme.with_key(user_id="u2").http
    problem(bound.get("/api/v1/sessions/a"), 404)
    problem(bound.get("/api/v1/sessions/a?user_id=u1"), 403)
    assert bound.delete("/api/v1/sessions/a").status_code == 204
    assert acme.http.get("/api/v1/sessions/a").status_code == 200
