from tests.working.conversation import append, turn
from working import listing
from working.listing import count_sessions


def stats(member):
    return member.http.get("/api/v1/sessions/stats").json()


def add(member, session, *contents, **query):
    for content in contents:
        event = {"event_type": "note", "content": content}
        path = f"/api/v1/sessions/{session}/events"
        assert member.http.post(path, json=event, params=query).status_code == 200


def test_nothing_is_all_zeros(acme):
    assert stats(acme) == {"total_sessions": 0, "total_events": 0, "avg_events_per_session": 0}


def test_the_average_is_rounded_down(acme, globex):
    add(acme, "a", 1, 2, 3)
    add(acme, "b", 1, 2)
    add(globex, "c", 1)
    assert stats(acme) == {"total_sessions": 2, "total_events": 5, "avg_events_per_session": 2}


def test_a_bound_key_counts_its_own(acme):
    add(acme, "a", 1, 2, 3, user_id="ann")
    add(acme, "b", 1, user_id="bob")
    assert stats(acme.with_key(user_id="bob"))["total_events"] == 1


def test_its_name_is_no_sessions_id(acme):
    for name in ("stats", "cleanup"):
        assert acme.http.post("/api/v1/sessions", json={"session_id": name}).status_code == 422
        turns = {"turns": [{"role": "user", "content": "x"}]}
        assert acme.http.post(f"/api/v1/sessions/{name}/turns", json=turns).status_code == 422


def test_figures_that_took_long_serve_for_a_while(acme, globex, monkeypatch):
    monkeypatch.setattr(listing, "SLOW", 0.0)
    monkeypatch.setattr(listing, "REST", 1_000_000)
    append(acme.caller, turn("user", "a"))
    first = count_sessions(caller=acme.caller)
    append(acme.caller, turn("user", "b"))
    assert count_sessions(caller=acme.caller) is first
    assert count_sessions(caller=globex.caller).events == 0
    assert count_sessions(caller=acme.with_key(user_id="ann").caller).events == 0
    monkeypatch.setattr(listing, "_slow", {})
    assert count_sessions(caller=acme.caller).events == 2


def test_figures_that_came_fast_are_new_each_time(acme, monkeypatch):
    monkeypatch.setattr(listing, "SLOW", 60)
    append(acme.caller, turn("user", "a"))
    count_sessions(caller=acme.caller)
    append(acme.caller, turn("user", "b"))
    assert count_sessions(caller=acme.caller).events == 2
