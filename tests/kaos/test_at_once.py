"""Several clients create sessions of one memory at the same moment: none fails, and an id means one."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from django.db import connections
from django.utils import timezone

from tests.kaos.asking import begin, declare, known
from working import bounded_memory, bounded_queries, querysets
from working.bounded_memory import BoundedMemory
from working.types import SessionAddress


@pytest.fixture
def side_by_side(acme, monkeypatch):
    """Creates sessions of the memory of all agents, each in a thread of its own. Whoever has done `step` goes
    on when all have, or when it is plain that the others wait for it."""

    def run(module, step, *sessions):
        meeting, original = threading.Barrier(len(sessions)), getattr(module, step)

        def meet(**named):
            done = original(**named)
            with suppress(threading.BrokenBarrierError):
                meeting.wait(1)
            return done

        def create(session, agent, user):
            try:
                return bounded_memory.begin_session(
                    memory=BoundedMemory(acme.caller), app_name=agent, only_if_missing=False,
                    address=SessionAddress(session, user, None), now=timezone.now(),
                ).session_id  # fmt: skip
            finally:
                connections.close_all()

        monkeypatch.setattr(module, step, meet)
        with ThreadPoolExecutor(len(sessions)) as pool:
            begun = [pool.submit(create, *one) for one in sessions]
        assert [one.result() for one in begun] == [session for session, _agent, _user in sessions]

    return run


@pytest.mark.parametrize("is_there", [False, True])
def test_of_users_who_create_the_same_id_one_has_it(acme, side_by_side, is_there):
    sessions = [("same", "coder", "ana"), ("same", "spy", "bob")]
    for session, agent, user in sessions if is_there else ():
        begin(acme, session, user, agent=agent)
    side_by_side(querysets, "open_session", *sessions)
    assert known(acme) == ["same"]
    assert acme.http.get("/memory/sessions/same").status_code == 200


def test_the_oldest_of_one_may_be_the_namesake_of_the_other(acme, side_by_side):
    for agent, session in (("coder", "t"), ("spy", "s")):
        declare(acme, agent, maxSessions=1)
        begin(acme, session, agent=agent)
    side_by_side(bounded_queries, "make_room", ("s", "coder", "bob"), ("t", "spy", "bob"))
    assert (known(acme, agent="coder"), known(acme, agent="spy")) == (["s"], ["t"])
