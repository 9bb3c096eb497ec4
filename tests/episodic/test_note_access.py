"""What was recalled is noted beside the requests, seldom, and gone with its episode."""

import os
import subprocess
import sys
import threading
import time
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, OperationalError, connection, connections
from django.utils import timezone

from episodic import access
from episodic.access import Access
from episodic.access_log import MOST_WAITING, AccessLog
from episodic.episodes import store_episode
from episodic.models import EpisodeAccess
from episodic.retraction import delete_episode
from episodic.types import NewEpisode
from tenants.scope import scope

NOW = timezone.now()
QUARTER = timedelta(seconds=900)
IN_ANOTHER_PROCESS = """
import sys, django
django.setup()
from uuid import UUID
from django.utils import timezone
from episodic.access import note_access
from tenants.caller import Caller
class Reader:
    tenant_id = UUID(sys.argv[1])
note_access(caller=Reader, ids=[UUID(sys.argv[2])], now=timezone.now())
"""


@pytest.fixture
def episode(acme):
    return store_episode(caller=acme.caller, new=NewEpisode("x", user_id="u1", agent_id="ada"), now=NOW)


def use(member, *episodes, at=NOW):
    access.note_access(caller=member.caller, ids=[one.id for one in episodes], now=at)
    access.flush()


def used(member, episode):
    return access.access_of(caller=member.caller, ids=[episode.id])[episode.id]


def test_an_access_is_counted_with_its_moment_and_its_owner(acme, episode):
    assert used(acme, episode) == Access(None, 0)
    use(acme, episode)
    assert used(acme, episode) == Access(NOW, 1)
    with scope(acme.caller.tenant_id):
        row = EpisodeAccess.objects.get(tenant_id=acme.caller.tenant_id)
    assert (row.user_id, row.agent_id) == ("u1", "ada")


def test_another_within_a_quarter_of_an_hour_changes_nothing(acme, episode):
    use(acme, episode)
    use(acme, episode, at=NOW + QUARTER - timedelta(seconds=1))
    assert used(acme, episode) == Access(NOW, 1)
    use(acme, episode, at=NOW + QUARTER)
    assert used(acme, episode) == Access(NOW + QUARTER, 2)


def test_nor_does_one_that_another_process_counted(acme, episode, monkeypatch):
    use(acme, episode)
    monkeypatch.setattr(access, "_log", AccessLog(access._write))  # as in a process that has noted nothing
    use(acme, episode, at=NOW + timedelta(seconds=10))
    assert used(acme, episode) == Access(NOW, 1)


def test_an_episode_that_is_gone_is_not_noted_and_takes_its_row_along(acme, episode, monkeypatch):
    use(acme, episode)
    delete_episode(caller=acme.caller, episode_id=episode.id, hard=True, now=timezone.now())
    monkeypatch.setattr(access, "_log", AccessLog(access._write))
    use(acme, episode)
    assert used(acme, episode) == Access(None, 0)


def test_an_episode_that_goes_while_it_is_noted_takes_no_other_note_along(acme, episode):
    """The statement found it, and then waits for the end of the transaction that deletes it."""
    kept = store_episode(caller=acme.caller, new=NewEpisode("y", user_id="u1"), now=NOW)
    access.note_access(caller=acme.caller, ids=[kept.id, episode.id], now=NOW)
    flushing = threading.Thread(target=flush_and_close)
    with scope(acme.caller.tenant_id):
        delete_episode(caller=acme.caller, episode_id=episode.id, hard=True, now=timezone.now())
        flushing.start()
        until = time.monotonic() + 20
        while not is_waited_for() and time.monotonic() < until:
            time.sleep(0.01)
        assert is_waited_for()
    flushing.join(20)
    assert (used(acme, kept), used(acme, episode)) == (Access(NOW, 1), Access(None, 0))


def is_waited_for():
    """Whether anybody waits for the open transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
            " AND transactionid = pg_current_xact_id()::xid)"
        )
        return cursor.fetchone()[0]


def flush_and_close():
    try:
        access.flush()
    finally:
        connections.close_all()


def test_globex_can_neither_note_nor_read_them(acme, globex, episode):
    use(globex, episode)
    use(acme, episode, at=NOW + QUARTER)
    assert used(globex, episode) == Access(None, 0)
    assert used(acme, episode).access_count == 1


def test_a_process_that_ends_writes_what_it_has_noted(acme, episode):
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, str(acme.caller.tenant_id), str(episode.id)],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "memoryproject.settings"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert used(acme, episode).access_count == 1


def test_what_could_not_be_written_waits():
    written, failing = [], [OperationalError("away")]

    def write(_tenant_id, accesses):
        if failing:
            raise failing.pop()
        written.extend(accesses)

    log, one, tenant_id = AccessLog(write), uuid4(), uuid4()
    log._pid = os.getpid()  # without a thread
    log.add(tenant_id, [one], NOW)
    with pytest.raises(OperationalError):
        log.flush()
    log.flush()
    assert written == [one]


def test_what_is_refused_holds_up_nothing():
    written = []

    def write(tenant_id, accesses):
        if tenant_id == first:
            raise IntegrityError("an episode has just gone")
        written.extend(accesses)

    log, first, second, one = AccessLog(write), uuid4(), uuid4(), uuid4()
    log._pid = os.getpid()
    log.add(first, [uuid4()], NOW)
    log.add(second, [one], NOW)
    log.flush()
    assert written == [one]


def test_while_nothing_can_be_written_only_so_many_wait():
    log = AccessLog(lambda _tenant_id, _accesses: None)
    log._pid = os.getpid()
    for _ in range(3):
        log.add(uuid4(), [uuid4() for _ in range(MOST_WAITING // 2)], NOW)
    assert sum(map(len, log._waiting.values())) == MOST_WAITING
