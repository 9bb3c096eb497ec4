"""`GET /export`"""

import pytest

from tests.agentops.shapes import get, read, save


def test_of_nothing_both_lists_are_there(acme):
    export = get(acme, "/export")
    assert export.keys() == {"exported_at", "sessions", "observations"}
    assert (export["sessions"], export["observations"]) == ([], [])


def test_everything_oldest_first_without_what_was_deleted(acme):
    for session in ("one", "two"):
        acme.http.post("/sessions", json={"id": session, "project": "orders"})
    acme.http.post("/sessions/one/end", json={"messages": [{"role": "user", "content": "hi"}]})
    ids = [save(acme, session_id="one", title=str(n), content=str(n), tags=["<b>"])["id"] for n in range(3)]
    acme.http.delete(f"/observations/{ids[1]}")
    export = get(acme, "/export")
    assert [one["id"] for one in export["sessions"]] == ["one", "two"]
    assert export["sessions"][0]["summary"].startswith("Session with 1 messages.")
    assert export["observations"] == [read(acme, ids[0]), read(acme, ids[2])]


def test_of_one_project(acme):
    save(acme, session_id="one")
    save(acme, session_id="two", project="other", scope="global")
    for project in ("orders", "ORDERS"):
        export = get(acme, "/export", project=project)
        assert [one["id"] for one in export["sessions"]] == ["one"]
        assert [one["project"] for one in export["observations"]] == ["orders"]


def test_a_key_exports_what_it_reaches(acme, globex):
    save(acme, session_id="one")
    save(acme, session_id="two", project="other", content="Other.")
    ann = acme.with_key(user_id="ann")
    save(ann, session_id="three", content="Ann's.")
    assert [one["session_id"] for one in get(ann, "/export")["observations"]] == ["three"]
    assert [one["user_id"] for one in get(ann, "/export")["sessions"]] == ["ann"]
    bound = acme.with_key(project="other")
    assert [one["session_id"] for one in get(bound, "/export")["observations"]] == ["two"]
    assert bound.http.get("/export?project=orders").status_code == 403
    assert get(globex, "/export")["observations"] == []


@pytest.mark.parametrize("query", [{}, {"project": "orders"}])
def test_more_than_a_page_is_told_once_each_in_order(acme, query):
    rows = [
        {"session_id": f"s{n}", "type": "t", "title": str(n), "content": f"{n} " + "x" * 500,
         "project": "orders", "created_at": f"2026-01-01T00:00:{n // 100:02}Z"}
        for n in range(450)
    ]  # fmt: skip
    sessions = [{"id": f"s{n:03}", "project": "orders", "started_at": f"2026-01-01T00:00:{n // 100:02}Z"}
                for n in range(450)]  # fmt: skip
    added = acme.http.post("/import", json={"sessions": sessions, "observations": rows}).json()
    assert added == {"imported_sessions": 450, "imported_observations": 450}
    export = get(acme, "/export", **query)
    assert [one["title"] for one in export["observations"]] == [str(n) for n in range(450)]
    assert sorted(one["id"] for one in export["sessions"]) == [one["id"] for one in sessions]
    starts = [one["started_at"] for one in export["sessions"]]
    assert starts == sorted(starts)
    assert acme.http.head("/export", params=query).content == b""
