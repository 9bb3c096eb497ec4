"""PostgreSQL 18 with pgvector as our child, on a Unix socket in a private folder, by password only."""

import os
import shutil
import signal
import subprocess
from urllib.parse import quote

import psycopg

from memoryproject.embedded import orphans
from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.folders import through
from memoryproject.embedded.process import Child, cause
from memoryproject.embedded.server import EmbeddedServer

MAJOR_VERSION = "18"
SUPERUSER = "postgres"
DATA = "data"
UNFINISHED = "data.new"  # what initdb has not finished is never taken for a data folder
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}  # no PG* variables of the caller's
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_min_messages": "log",  # its errors quote statements and keys, which are memories
    "jit": "off",  # short queries only: compiling costs more than it saves
}


class EmbeddedPostgres(EmbeddedServer):
    name = "PostgreSQL"
    folder = "postgres"
    socket_name = ".s.PGSQL.5432.lock"
    stop_steps = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))  # "fast" shutdown, then "immediate"

    def superuser_url(self, dbname: str = "postgres") -> str:
        return self.url(SUPERUSER, self._credentials.postgres, dbname)

    def url(self, user: str, password: str, dbname: str) -> str:
        """A libpq URI, `postgresql://user:password@/dbname?host=<socket folder>`."""
        host = quote(str(self._sockets.path), safe="")
        secret = quote(password, safe="")
        return f"postgresql://{quote(user, safe='')}:{secret}@/{quote(dbname, safe='')}?host={host}"

    def _clear_leftovers(self) -> None:
        """PostgreSQL takes any living process under the number in postmaster.pid for itself.

        We hold the folder's lock and have looked at what works in it, so we know better.
        """
        if left := self._left_behind():  # a dead server's backends notice and end within moments
            postmaster = [pid for pid in left if pid == self._recorded_pid()]
            if postmaster:
                self._say("Stopping a PostgreSQL that an earlier run left behind.")
            orphans.end(postmaster, signal.SIGINT, 10.0, self._left_behind)
        self._sockets.clear()
        if (recorded := self._recorded_pid()) is not None:
            self._say(f"PostgreSQL was not stopped last time; removing its stale pid file ({recorded}).")
            os.unlink(f"{DATA}/postmaster.pid", dir_fd=self._folder_fd)

    def _left_behind(self) -> list[int]:
        return orphans.working_in(self._folder_fd, DATA, "postgres")

    def _recorded_pid(self) -> int | None:
        first_line = self._read("postmaster.pid").partition("\n")[0].strip()
        return int(first_line) if first_line.isdigit() else None

    def _read(self, name: str) -> str:
        try:
            fd = os.open(f"{DATA}/{name}", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self._folder_fd)
        except FileNotFoundError:
            return ""
        with os.fdopen(fd) as file:
            return file.read(8192)

    def _initialise(self) -> None:
        names = os.listdir(self._folder_fd)
        if DATA in names:
            return self._check_version()
        if UNFINISHED in names:
            shutil.rmtree(UNFINISHED, dir_fd=self._folder_fd)
        password_fd = os.memfd_create("password")
        try:
            os.fchown(password_fd, self._account.uid, self._account.gid)
            os.write(password_fd, self._credentials.postgres.encode())
            self._run_initdb(password_fd)
        finally:
            os.close(password_fd)
        os.rename(UNFINISHED, DATA, src_dir_fd=self._folder_fd, dst_dir_fd=self._folder_fd)
        return os.fsync(self._folder_fd)

    def _check_version(self) -> None:
        found = self._read("PG_VERSION").strip()
        if found != MAJOR_VERSION:
            raise CannotStart(
                f"The data in {self.home / self.folder / DATA} belong to PostgreSQL {found or '(unknown)'}, "
                f"and this Strata runs PostgreSQL {MAJOR_VERSION}; dump them with the old version and load "
                "them again, or move the folder away to start with an empty one."
            )

    def _run_initdb(self, password_fd: int) -> None:
        # The builtin locale does not change under the indexes when the system's C library is updated.
        argv = [
            str(self._binaries.initdb), "-D", through(self._folder_fd, UNFINISHED), f"--username={SUPERUSER}",
            f"--pwfile={through(password_fd)}", "--auth=scram-sha-256", "--encoding=UTF8",
            "--no-instructions", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
        ]  # fmt: skip
        done = subprocess.run(
            argv, user=self._account.uid, group=self._account.gid,
            extra_groups=None if self._account.is_caller else [], umask=0o077, cwd="/", env=ENVIRONMENT,
            pass_fds=(self._folder_fd, password_fd), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise CannotStart(f"PostgreSQL's data folder could not be made: {cause(done.stdout)}")

    def _spawn(self) -> Child:
        argv = [str(self._binaries.postgres), "-D", through(self._folder_fd, DATA)]
        for name, value in {**SETTINGS, "unix_socket_directories": through(self._sockets.fd)}.items():
            argv += ["-c", f"{name}={value}"]
        return Child(
            argv, log=self.log, env=ENVIRONMENT, account=self._account,
            pass_fds=(self._folder_fd, self._sockets.fd), parent_death=signal.SIGINT,
        )  # fmt: skip

    def _problem(self) -> str | None:
        try:
            psycopg.connect(self.superuser_url(), connect_timeout=10).close()
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise CannotStart(
                    f"The password in {self.home / 'credentials.json'} is not the one of the database in "
                    f"{self.home}; restore the file that belongs to it."
                ) from None
            return str(error)
        return None
