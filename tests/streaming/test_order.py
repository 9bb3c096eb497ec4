"""In the order in which a session's events were numbered, and none left out, however transactions overlap."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection, connections
from django.utils import timezone

from tenants.scope import scope
from tests.plans import indexes_of
from tests.streaming.server import settle
from working import querysets
from working.live import EVERYTHING, PAGE, PAGE_BYTES, cursor_of, position_at, read_on, wanted_by
from working.live_types import Position, Wanted
from working.types import NewEvent, SessionRef

BEGINNING = Position(0)


def add(caller, session, content):
    """In the open scope, as the domain does it: the row's lock, then the next number."""
    ref = SessionRef(caller.tenant_id, "", "", session)
    found, _created = querysets.open_session(
        ref=ref, agent_id="", project="", metadata={}, now=timezone.now()
    )
    event = NewEvent(event_type="note", content=content, created_at=timezone.now())
    querysets.append_events(session=found, events=[event], now=timezone.now())


def take_an_id():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()")


@contextmanager
def other_thread():
    """Runs one thing after another in a thread with a connection of its own."""
    with ThreadPoolExecutor(1) as pool:
        yield lambda work: pool.submit(work).result(60)
        pool.submit(connections.close_all).result(60)


def read(caller, after=BEGINNING):
    page = read_on(tenant_id=caller.tenant_id, wanted=EVERYTHING, after=after)
    return [(one.session_id, one.event.seq) for one in page.events], page.position


def test_who_got_the_older_id_but_the_later_number_is_told_later(acme):
    caller = acme.caller
    with other_thread() as elsewhere:
        older = scope(caller.tenant_id)
        elsewhere(older.__enter__)
        elsewhere(take_an_id)
        with scope(caller.tenant_id):
            add(caller, "s", "first")
        told, position = read(caller)
        assert told == []  # the older transaction could still write before it
        elsewhere(lambda: add(caller, "s", "second"))
        elsewhere(lambda: older.__exit__(None, None, None))
    settle()
    assert read(caller, position)[0] == [("s", 1), ("s", 2)]


def test_a_transaction_that_is_held_open_is_neither_skipped_nor_told_before_its_commit(acme):
    caller = acme.caller
    with other_thread() as elsewhere:
        held = scope(caller.tenant_id)
        elsewhere(held.__enter__)
        elsewhere(lambda: add(caller, "held", 1))
        with scope(caller.tenant_id):
            add(caller, "other", 1)
        told, position = read(caller)
        assert told == []
        elsewhere(lambda: held.__exit__(None, None, None))
    settle()
    told, position = read(caller, position)
    assert set(told) == {("held", 1), ("other", 1)}
    assert read(caller, position)[0] == []


def test_a_reader_behind_many_overlapping_writers_misses_nothing_and_reverses_nothing(acme):
    caller, writers, each = acme.caller, 6, 40
    done = threading.Event()

    def write(seed):
        chance = random.Random(seed)
        try:
            for number in range(each):
                with scope(caller.tenant_id):
                    if chance.random() < 0.5:
                        take_an_id()
                        done.wait(chance.random() / 100)
                    add(caller, f"s{chance.randrange(3)}", number)
                    done.wait(chance.random() / 200)
        finally:
            connections.close_all()

    told, position = [], BEGINNING
    with ThreadPoolExecutor(writers) as pool:
        running = [pool.submit(write, seed) for seed in range(writers)]
        while not all(one.done() for one in running):
            found, position = read(caller, position)
            told += found
        for one in running:
            one.result()
    settle()
    while (found := read(caller, position))[0]:
        told, position = told + found[0], found[1]
    assert len(told) == len(set(told)) == writers * each
    for session in ("s0", "s1", "s2"):
        numbers = [seq for name, seq in told if name == session]
        assert numbers == list(range(1, len(numbers) + 1))


def test_pages_and_cursors_within_one_transaction(acme):
    caller = acme.caller
    with scope(caller.tenant_id):
        for number in range(PAGE + 20):
            add(caller, f"s{number % 2}", number)
    settle()
    first, position = read(caller)
    assert len(first) == PAGE
    second, _position = read(caller, position_at(cursor_of(position)))
    assert len(set(first + second)) == PAGE + 20
    assert [seq for name, seq in first + second if name == "s0"] == list(range(1, PAGE // 2 + 11))


def test_a_page_ends_where_it_has_enough_bytes(acme):
    caller, third = acme.caller, "x" * (PAGE_BYTES // 3)
    with scope(caller.tenant_id):
        for content in (third, third, third, third, third * 6, 1, 2):
            add(caller, "s", content)
    settle()
    pages, position = [], BEGINNING
    for _page in range(4):
        page = read_on(tenant_id=caller.tenant_id, wanted=EVERYTHING, after=position)
        position = page.position
        pages.append(([one.event.seq for one in page.events], page.more))
    assert pages == [([1, 2, 3], True), ([4, 5], True), ([6, 7], False), ([], False)]


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(),
        Wanted(session_id="s1"),
        Wanted(user_id="alice"),
        Wanted(agent_id="coder", event_types=frozenset({"b"})),
        Wanted(project="apollo"),
        Wanted(event_types=frozenset({"a", "c"})),
    ],
)
def test_what_is_wanted_means_the_same_to_the_database_and_to_the_tail(acme, wanted):
    caller = acme.caller
    for number, (user, agent, project) in enumerate(
        [("", "", ""), ("alice", "coder", ""), ("bob", "coder", "apollo"), ("alice", "", "apollo")]
    ):
        ref = SessionRef(caller.tenant_id, "", user, f"s{number}")
        with scope(caller.tenant_id):
            session, _created = querysets.open_session(
                ref=ref, agent_id=agent, project=project, metadata={}, now=timezone.now()
            )
            events = [NewEvent(event_type=kind, content=1, created_at=timezone.now()) for kind in "abc"]
            querysets.append_events(session=session, events=events, now=timezone.now())
    settle()
    everything = read_on(tenant_id=caller.tenant_id, wanted=EVERYTHING, after=BEGINNING).events
    asked = read_on(tenant_id=caller.tenant_id, wanted=wanted, after=BEGINNING).events
    assert [one.position for one in asked] == [one.position for one in everything if wanted.admits(one)]
    assert asked


def test_a_bound_key_wants_its_own():
    assert wanted_by(_bound(user_id="a", agent_id="b", project="c")) == Wanted("", "a", "b", "c")


def _bound(**bindings):
    from uuid import uuid4

    from tenants.caller import Caller

    return Caller(uuid4(), "acme", "key", frozenset({"read"}), **bindings)


def test_the_tail_is_read_by_its_index(acme):
    caller = acme.caller
    with scope(caller.tenant_id):
        for number in range(2_000):
            add(caller, f"s{number % 5}", number)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE chat_events, working_session")
    settle()
    _told, position = read(caller)
    used = indexes_of(caller, lambda: read(caller, position))
    assert "event_committed" in used
    assert "SEQ chat_events" not in used
