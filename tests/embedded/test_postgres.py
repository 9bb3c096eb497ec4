import os
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from memoryproject.embedded.account import server_account
from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.postgres import EmbeddedPostgres
from tests.embedded.conftest import as_root, modes, sql
from tests.embedded.people import CHECKOUT

DEEP = "/".join(["a folder with spaces and % signs"] * 8)
ORPHAN_MAKER = """
import os, sys
from pathlib import Path
from memoryproject.embedded import process
process.die_with_parent = lambda number: lambda: None  # so that the server outlives us
from memoryproject.embedded.postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
os._exit(9)
"""


def test_rows_survive_a_stop_and_a_start(postgres):
    postgres.start()
    sql(postgres, "CREATE TABLE kept AS SELECT 7 AS n")
    postgres.stop()
    postgres.start()
    assert sql(postgres, "SELECT n FROM kept") == [(7,)]


def test_it_is_version_18_with_pgvector_and_listens_on_no_port(postgres):
    postgres.start()
    sql(postgres, "CREATE EXTENSION vector")
    assert sql(postgres, "SHOW server_version")[0][0].startswith("18.")
    assert sql(postgres, "SHOW listen_addresses") == [("",)]


def test_nobody_is_trusted_without_the_password(postgres):
    postgres.start()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(postgres.url("postgres", "wrong", "postgres"))
    assert sql(postgres, "SELECT DISTINCT auth_method FROM pg_hba_file_rules") == [("scram-sha-256",)]


def test_passwords_and_socket_are_for_their_owner_alone(postgres, home):
    postgres.start()
    socket_folder = Path(psycopg.conninfo.conninfo_to_dict(postgres.superuser_url())["host"])
    assert stat.S_IMODE(socket_folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "credentials.json").stat().st_mode) == 0o600


def test_a_deep_home_with_spaces_works_and_its_socket_folder_goes_at_the_end(tmp_path):
    home = tmp_path / DEEP
    assert len(str(home)) > 200
    server = EmbeddedPostgres(home)
    server.start()
    socket_folder = Path(psycopg.conninfo.conninfo_to_dict(server.superuser_url())["host"])
    sql(server, "SELECT 1")
    assert home not in socket_folder.parents
    server.stop()
    assert not socket_folder.exists()


@as_root
def test_a_home_below_a_folder_of_root_alone_works_and_no_parent_changes(open_folder):
    hidden = open_folder / "roots own"
    hidden.mkdir(mode=0o700)
    before = modes(hidden / "home")
    server = EmbeddedPostgres(hidden / "home")
    server.start()
    try:
        assert Path(f"/proc/{server.pid}").stat().st_uid == server_account(hidden / "home").uid != 0
        assert modes(hidden / "home") == before
    finally:
        server.stop()


def test_rows_committed_before_a_kill_in_mid_write_are_there_after_the_next_start(postgres):
    postgres.start()
    sql(postgres, "CREATE TABLE written (n int PRIMARY KEY)")
    committed: list[int] = []
    writer = threading.Thread(target=_write_until_cut_off, args=(postgres.superuser_url(), committed))
    writer.start()
    while len(committed) < 200:
        time.sleep(0.01)
    postgres.kill()
    writer.join(timeout=10)
    postgres.start()
    found = {n for (n,) in sql(postgres, "SELECT n FROM written")}
    assert set(committed) <= found


def _write_until_cut_off(url: str, committed: list[int]) -> None:
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            for n in range(1_000_000):
                connection.execute("INSERT INTO written VALUES (%s)", [n])
                committed.append(n)
    except psycopg.OperationalError:
        return


def test_a_stale_pid_file_is_removed_with_a_sentence(postgres, said):
    postgres.start()
    postgres.kill()
    postgres.start()
    assert any("stale pid file" in sentence for sentence in said)


def test_a_pid_that_now_belongs_to_somebody_else_does_not_keep_it_from_starting(postgres, home, said):
    postgres.start()
    postgres.kill()
    account = server_account(home)
    stranger = subprocess.Popen(["sleep", "60"], user=None if account.is_caller else account.uid)
    try:
        pid_file = home / "postgres" / "data" / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
        pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        postgres.start()
        assert sql(postgres, "SELECT 1") == [(1,)]
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_server_left_behind_is_stopped_and_its_data_opened(postgres, home, said):
    made = subprocess.run(
        [sys.executable, "-c", ORPHAN_MAKER, str(home)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    orphan = int(made.stdout)
    assert Path(f"/proc/{orphan}").exists()
    postgres.start()
    assert said[0] == "Stopping a PostgreSQL that an earlier run left behind."
    assert postgres.pid != orphan
    assert not Path(f"/proc/{orphan}/exe").exists()


def test_a_server_ends_with_the_process_that_started_it(home):
    script = ORPHAN_MAKER.replace("process.die_with_parent =", "_ =")
    made = subprocess.run(
        [sys.executable, "-c", script, str(home)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    deadline = time.monotonic() + 10
    while Path(f"/proc/{int(made.stdout)}/exe").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{int(made.stdout)}/exe").exists()


def test_an_initdb_that_was_cut_off_is_begun_again(postgres, home):
    (home / "postgres" / "data.new" / "base").mkdir(parents=True)
    postgres.start()
    assert sorted(os.listdir(home / "postgres")) == ["data"]


def test_a_second_server_on_the_same_home_is_refused(postgres, home):
    postgres.start()
    with pytest.raises(CannotStart, match="Another process is using"):
        EmbeddedPostgres(home).start()
    assert sql(postgres, "SELECT 1") == [(1,)]


def test_data_of_another_version_are_refused_with_a_sentence(postgres, home):
    postgres.start()
    postgres.stop()
    (home / "postgres" / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(CannotStart, match="belong to PostgreSQL 16, and this Strata runs PostgreSQL 18"):
        postgres.start()


def test_lost_passwords_are_told_with_a_sentence_and_nothing_is_overwritten(postgres, home):
    postgres.start()
    postgres.stop()
    (home / "credentials.json").unlink()
    with pytest.raises(CannotStart, match="restore it from a backup"):
        postgres.start()
    assert not (home / "credentials.json").exists()


def test_passwords_of_another_home_are_told_with_a_sentence(postgres, home):
    postgres.start()
    postgres.stop()
    path = home / "credentials.json"
    path.write_text(path.read_text().replace('"postgres": "', '"postgres": "other'))
    with pytest.raises(CannotStart, match="is not the one of the database"):
        postgres.start()
    assert postgres.exited() is not None


def test_a_home_that_cannot_be_made_is_told_with_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match=r"cannot be used: .*file is not a folder"):
        EmbeddedPostgres(tmp_path / "file" / "home").start()


@as_root
def test_a_full_disk_is_told_with_a_sentence_and_leaves_no_process(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let root mount a small disk")
    try:
        server = EmbeddedPostgres(disk / "home")
        with pytest.raises(CannotStart, match="No space left on device"):
            server.start()
        assert server.exited() is not None
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_stop_is_done_while_clients_are_connected(postgres):
    postgres.start()
    connection = psycopg.connect(postgres.superuser_url())
    started = time.monotonic()
    postgres.stop()
    assert time.monotonic() - started < 20  # one that waits for them is killed after 30
    connection.close()


def test_the_kernel_tells_the_server_about_our_death_with_a_fast_shutdown(postgres):
    postgres.start()
    os.kill(postgres.pid, signal.SIGINT)
    deadline = time.monotonic() + 10
    while postgres.exited() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert postgres.exited() == 0


def test_its_log_quotes_nobody(postgres):
    postgres.start()
    sql(postgres, "CREATE TABLE said (words text PRIMARY KEY)")
    for _time in range(2):
        with suppress(psycopg.errors.UniqueViolation):
            sql(postgres, "INSERT INTO said VALUES ('sesame-4711')")
    with suppress(psycopg.Error):
        sql(postgres, "SELECT 'sesame-4711'::int")
    assert "sesame" not in postgres.log.read_text()
