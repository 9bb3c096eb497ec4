"""What the memory lets go of, and that it is its view alone that lets go."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from tenants.scope import scope
from tests.kaos.asking import add, begin, declare, events, known, stats
from tests.kaos.reference import Model
from working.bounded_queries import OTHERS_LET_GO
from working.models import Session

SESSIONS, EVENTS = 12, 5


@pytest.mark.parametrize("seed", range(2))
def test_it_lets_go_of_exactly_what_the_original_does(acme, seed):
    """A few hundred calls in a random order, with every answer compared."""
    declare(acme, "coder", maxSessions=SESSIONS, maxSessionEvents=EVENTS)
    coder, model, pick = acme.with_key(agent_id="coder"), Model(SESSIONS, EVENTS), random.Random(seed)
    ids, users = [f"s{number}" for number in range(18)], ["ana", "bob", ""]
    for number in range(200):
        session, user, event = pick.choice(ids), pick.choice(users), f"e{number}"
        match pick.choices(["create", "ensure", "add", "delete", "list", "session", "all"],
                           [6, 6, 12, 1, 2, 2, 2])[0]:  # fmt: skip
            case "create":
                assert begin(coder, session, user) == session
                model.create(session, user)
            case "ensure":
                assert begin(coder, session, user, create="if_missing") == session
                model.get_or_create(session, user)
            case "add":
                kind = pick.choice(["user_message", "agent_response", "tool_call"])
                added = add(coder, session, event, event_type=kind, event_id=event)
                assert added == model.add(session, event, kind)
            case "delete":
                deleted = coder.http.delete(f"/memory/sessions/{session}").json()
                assert deleted == {"deleted": model.delete(session)}
            case "list":
                compare_lists(coder, model)
            case "session":
                compare_session(coder, model, session)
            case "all":
                for limit in (3, 1000):
                    assert events(coder, limit=limit) == model.last(limit)


def compare_lists(coder, model):
    assert known(coder) == list(model.kept)
    owners = {name: one.user for name, one in model.kept.items()}
    assert known(coder, user_id="ana") == [name for name, owner in owners.items() if owner == "ana"]
    total = sum(len(one.events) for one in model.kept.values())
    assert stats(coder) == (len(owners), total, total // len(owners) if owners else 0)


def compare_session(coder, model, session):
    kept = model.kept.get(session)
    expected = [event for event, _kind in kept.events] if kept else []
    assert events(coder, session_id=session) == expected
    answer = coder.http.get(f"/memory/sessions/{session}")
    assert answer.status_code == (404 if kept is None else 200)
    assert kept is None or answer.json()["user_id"] == kept.user


def test_a_full_memory_lets_the_tenth_that_was_used_least_lately_go_before_the_new_one_comes(acme):
    declare(acme, "coder", maxSessions=20)
    coder = acme.with_key(agent_id="coder")
    for number in range(20):
        begin(coder, f"s{number}")
    add(coder, "s0", "still here")
    begin(coder, "new")
    assert known(coder) == ["s0", *(f"s{number}" for number in range(3, 20)), "new"]


def test_one_that_is_created_again_makes_room_too_and_keeps_its_place_unless_it_had_to_go(acme):
    declare(acme, "coder", maxSessions=3)
    coder = acme.with_key(agent_id="coder")
    for session in ("a", "b", "c"):
        begin(coder, session)
    begin(coder, "b")
    assert known(coder) == ["b", "c"]
    begin(coder, "d")
    begin(coder, "c")
    assert known(coder) == ["b", "d", "c"], "c was the oldest"


def test_what_the_memory_lets_go_of_stays_in_the_log_and_comes_back_with_its_next_event(acme):
    declare(acme, "coder", maxSessions=2)
    coder = acme.with_key(agent_id="coder")
    begin(coder, "old")
    add(coder, "old", "before")
    for session in ("x", "y"):
        begin(coder, session)
    assert known(coder) == ["x", "y"]
    assert not add(coder, "old", "lost")
    log = coder.http.get("/api/v1/sessions/old/events?user_id=ana").json()["results"]
    assert [one["content"] for one in log] == ["before"]
    turns = {"user_id": "ana", "turns": [{"role": "user", "content": "again"}]}
    assert coder.http.post("/api/v1/sessions/old/turns", json=turns).json()["turn_count"] == 2
    (back,) = coder.http.get("/memory/sessions/old").json()["events"]
    assert back["content"] == "again"


def test_more_sessions_than_the_bound_through_another_door_are_not_shown(acme):
    declare(acme, "coder", maxSessions=3)
    coder = acme.with_key(agent_id="coder")
    for number in range(8):
        coder.http.post("/api/v1/sessions", json={"session_id": f"n{number}"})
    assert known(coder) == ["n5", "n6", "n7"]
    begin(coder, "new")
    assert known(coder) == ["n6", "n7", "new"]
    assert len(coder.http.get("/api/v1/sessions").json()["results"]) == 9


def test_an_agents_bounds_are_its_own(acme):
    declare(acme, "coder", maxSessions=2, maxSessionEvents=1)
    for agent in ("coder", "writer"):
        for number in range(4):
            begin(acme, f"{agent}{number}", agent=agent)
            add(acme, f"{agent}{number}", "1", agent=agent)
            add(acme, f"{agent}{number}", "2", agent=agent)
    assert known(acme, agent="coder") == ["coder2", "coder3"]
    assert stats(acme, agent="coder") == (2, 2, 1)
    assert stats(acme, agent="writer") == (4, 8, 2)
    assert (stats(acme), len(known(acme))) == ((6, 10, 1), 6), "all agents, each within its own bounds"


def test_clean_up_lets_go_of_what_nobody_has_used_for_so_long(acme):
    begin(acme, "s", agent="coder")
    begin(acme, "t", agent="writer")
    for hours, agent, removed in ((24, "coder", 0), (0, "coder", 1), (0, None, 1), (0, None, 0)):
        headers = {"X-Agent": agent} if agent else {}
        answer = acme.http.post("/memory/cleanup", json={"max_age_hours": hours}, headers=headers)
        assert answer.json() == {"removed": removed}
    assert known(acme) == []
    assert len(acme.http.get("/api/v1/sessions").json()["results"]) == 2


def test_a_session_more_costs_few_rows_however_many_other_doors_have_made(acme):
    declare(acme, "coder", maxSessions=20)
    coder, now = acme.with_key(agent_id="coder"), timezone.now()
    made = {"tenant_id": acme.tenant.id, "agent_id": "coder", "started_at": now, "opened_at": now}
    with scope(acme.tenant.id):
        Session.objects.bulk_create(
            Session(external_id=f"n{number}", last_activity_at=now - timedelta(seconds=number), **made)
            for number in range(700)
        )
    newest = [f"n{number}" for number in range(19)]
    for calls in (1, 2):
        begin(coder, f"new{calls}")
        assert let_go_of(acme) == calls * (OTHERS_LET_GO + 2)
        assert known(coder, user_id="ana") == [f"new{number + 1}" for number in range(calls)]
        assert set(known(coder)) >= set(newest[: 20 - calls]), "which is what anybody sees"


def let_go_of(member):
    with scope(member.tenant.id):
        return Session.objects.filter(tenant_id=member.tenant.id, let_go_at__isnull=False).count()
