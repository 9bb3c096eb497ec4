import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memoryproject.embedded.postgres import EmbeddedPostgres
from memoryproject.embedded.redis import EmbeddedRedis
from tests.embedded.people import ordinary_account, ordinary_python

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a server as somebody else")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def postgres(home: Path, said: list[str]) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(home, said.append)
    yield server
    server.stop()


@pytest.fixture
def redis_server(home: Path, said: list[str]) -> Iterator[EmbeddedRedis]:
    server = EmbeddedRedis(home, said.append)
    yield server
    server.stop()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that an unprivileged account can reach, which pytest's own, below a 0700 one, is not."""
    folder = Path(tempfile.mkdtemp(prefix="strata-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def their_folder(open_folder: Path) -> Path:
    """A folder of an ordinary user."""
    folder = open_folder / "theirs"
    folder.mkdir()
    if account := ordinary_account():
        os.chown(folder, account["user"], account["group"])
    return folder


@pytest.fixture(scope="session")
def their_python() -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="strata-test-python-"))
    folder.chmod(0o755)
    yield ordinary_python(folder)
    shutil.rmtree(folder)


def sql(server: EmbeddedPostgres, statement: str) -> list[tuple]:
    with psycopg.connect(server.superuser_url(), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def modes(path: Path) -> dict[Path, tuple[int, int]]:
    """Mode and owner of each parent of `path`."""
    return {parent: (parent.stat().st_mode, parent.stat().st_uid) for parent in path.parents}
