"""`GET /stats`"""

from tests.agentops.shapes import get, save


def test_nothing(acme):
    assert get(acme, "/stats") == {"total_sessions": 0, "total_observations": 0, "projects": []}


def test_all_and_of_one_project(acme, globex):
    save(acme, content="a", session_id="one", project="Zeta")
    save(acme, content="b", session_id="one", project="Zeta")
    save(acme, content="c", session_id="two", project="alpha")
    gone = save(acme, content="d", session_id="two", project="alpha")["id"]
    acme.http.delete(f"/observations/{gone}")
    projects = ["alpha", "zeta"]
    assert get(acme, "/stats") == {"total_sessions": 2, "total_observations": 3, "projects": projects}
    assert get(acme, "/stats", project="ZETA") == {
        "total_sessions": 1,
        "total_observations": 2,
        "projects": projects,
    }
    assert get(globex, "/stats")["projects"] == []


def test_a_bound_key_is_told_of_its_own(acme):
    save(acme, session_id="one")
    save(acme, session_id="two", project="other")
    save(acme.with_key(user_id="ann"), session_id="three", content="Ann's.")
    assert get(acme.with_key(project="other"), "/stats") == {
        "total_sessions": 1,
        "total_observations": 1,
        "projects": ["other"],
    }
    assert get(acme.with_key(user_id="ann"), "/stats") == {
        "total_sessions": 1,
        "total_observations": 1,
        "projects": ["orders"],
    }
    assert acme.with_key(project="other").http.get("/stats?project=orders").status_code == 403
