import os
import signal
from pathlib import Path

import pytest

from memoryproject.embedded import supervisor
from memoryproject.embedded.elsewhere import database_is_elsewhere, redis_is_elsewhere
from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.home_lock import HomeLock
from memoryproject.embedded.port import public_url
from memoryproject.embedded.process import bound_size
from memoryproject.embedded.stop_signals import StopRequested, StopSignals
from memoryproject.embedded.supervisor import Supervisor


class Recorded:
    """A service that writes down what happens to it; `alive` is what `exited()` reports."""

    def __init__(self, name: str, diary: list[str], *, refuses: int = 0) -> None:
        self.name = name
        self.log = Path(f"{name}.log")
        self.diary = diary
        self.alive = False
        self.refuses = refuses  # how many restarts fail

    def start(self) -> None:
        if "start" in " ".join(self.diary) and self.refuses:
            self.refuses -= 1
            raise CannotStart(f"{self.name} found the disk full.")
        self.diary.append(f"start {self.name}")
        self.alive = True

    def stop(self) -> None:
        self.diary.append(f"stop {self.name}")

    def exited(self) -> int | None:
        return None if self.alive else -9


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    taken: list[float] = []
    monkeypatch.setattr(supervisor.time, "sleep", taken.append)
    return taken


def test_services_are_stopped_in_reverse_order():
    diary: list[str] = []
    supervised = Supervisor(diary.append)
    for name in ("postgres", "redis", "web"):
        supervised.start(Recorded(name, diary))
    supervised.stop()
    assert diary[3:] == ["stop web", "stop redis", "stop postgres"]


def test_a_service_that_did_not_start_is_stopped_too():
    diary: list[str] = ["start"]
    supervised = Supervisor(diary.append)
    with pytest.raises(CannotStart):
        supervised.start(Recorded("redis", diary, refuses=1))
    supervised.stop()
    assert diary == ["start", "stop redis"]


def test_a_dead_service_is_started_again_with_a_sentence(pauses, said):
    service = Recorded("web", [])
    supervised = Supervisor(said.append)
    supervised.start(service)
    service.alive = False
    supervised.check()
    assert service.alive
    assert said == ["web ended by signal 9; starting it again (see web.log)."]
    assert pauses == [0.0]


def test_a_service_that_dies_again_and_again_is_given_up_after_growing_pauses(pauses, said):
    service = Recorded("web", [])
    supervised = Supervisor(said.append)
    supervised.start(service)
    for _ in range(5):
        service.alive = False
        supervised.check()
    service.alive = False
    with pytest.raises(CannotStart, match="web ended by signal 9, for the 6th time within a minute"):
        supervised.check()
    assert pauses == [0.0, 0.25, 0.75, 1.75, 3.75]


def test_a_restart_that_fails_is_tried_again_and_its_reason_is_told(pauses, said):
    service = Recorded("Redis", [], refuses=2)
    supervised = Supervisor(said.append)
    supervised.start(service)
    service.alive = False
    supervised.check()
    assert service.alive
    assert said[1].startswith("Redis found the disk full; starting it again")


def test_a_stop_signal_is_not_lost_where_python_drops_its_exception():
    class Dropped:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGHUP)

    with StopSignals() as signals:
        Dropped()
        with pytest.raises(StopRequested):
            Supervisor(print, signals.check).watch()


def test_the_lock_of_a_home_is_free_again_after_its_holder(tmp_path):
    with HomeLock(tmp_path), pytest.raises(CannotStart, match="Strata already runs"), HomeLock(tmp_path):
        pass
    with HomeLock(tmp_path):
        pass


def test_a_database_is_elsewhere_when_all_three_roles_have_an_address():
    urls = dict.fromkeys(("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_ADMIN_URL_FILE"), "x")
    assert database_is_elsewhere(urls)
    assert not database_is_elsewhere({})
    assert redis_is_elsewhere({"REDIS_URL_FILE": "x"})


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:1"),
        ("0.0.0.0", "http://127.0.0.1:1"),
        ("::", "http://[::1]:1"),
        ("memory.internal", "http://memory.internal:1"),
    ],
)
def test_the_printed_address_is_one_that_a_client_can_use(host, url):
    assert public_url(host, 1) == url


def test_a_grown_log_is_cut_and_its_past_kept_once(tmp_path, monkeypatch):
    monkeypatch.setattr("memoryproject.embedded.process.MAX_LOG_BYTES", 10)
    log = tmp_path / "web.log"
    with log.open("a") as writer:
        writer.write("a line of the past\n")
        writer.flush()
        bound_size(log)
        writer.write("now\n")
    assert log.read_text() == "now\n"
    assert (tmp_path / "web.log.1").read_text() == "a line of the past\n"
