"""A worker that is killed in the midst of an extraction loses nothing and does nothing twice."""

import time

import pytest

from recall.extracting.jobs import EXTRACT
from tests.extracting.talk import (
    OSLO,
    extract,
    jobs,
    make_due,
    marks,
    memory,
    put,
    records,
    run_jobs,
    says,
    talk,
)
from tests.jobs.dying import die_at, points
from tests.recall.talking import session_of

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("point", points(EXTRACT))
def test_it_is_done_by_another_once(caller, llm, point):
    llm.control(says=says(memory("User lives in Oslo."), memory("User owns boat 4711.")))
    put(caller, *talk(OSLO))
    make_due(caller)
    die_at(point, kind=EXTRACT, session=session_of(caller), llm=llm)
    is_done = point == "committed"
    assert (len(records(caller)), marks(caller)) == (2 if is_done else 0, [is_done])
    until = time.monotonic() + 90
    while jobs(caller):
        assert time.monotonic() < until, [one.error for one in jobs(caller)]
        run_jobs()
        time.sleep(0.1)
    assert sorted(one.text for one in records(caller)) == ["User lives in Oslo.", "User owns boat 4711."]
    assert all(one.version == 1 for one in records(caller))
    assert marks(caller) == [True]
    put(caller, *talk(OSLO))
    extract(caller)
    assert len(records(caller)) == 2
