"""What is not whole, not ours or does not fit is refused before anything is touched."""

import json
import zipfile

import pytest
from django.db import connections
from django.test import override_settings

from memoryproject.backup import session_keys
from memoryproject.backup.archive import MANIFEST, SIGNATURE
from memoryproject.backup.errors import BackupError
from memoryproject.backup.signing import sign
from tests.backup.places import backup, restore, rows_of


@pytest.fixture
def saved(tenant, file):
    """A backup, after which nothing of the tenant may change."""
    backup(file, tenant)
    before = rows_of(tenant)
    yield file
    assert rows_of(tenant) == before


def rewrite(path, change, *, signed=False):
    """The same file with other members; `signed` as if we had written it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    if signed:
        members[SIGNATURE] = sign(members[MANIFEST]).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def member(members, table):
    return next(name for name in members if name.startswith(f"tables/{table}/"))


def in_manifest(change):
    def apply(members):
        manifest = json.loads(members[MANIFEST])
        change(manifest)
        members[MANIFEST] = json.dumps(manifest).encode()

    return apply


def flip(members):
    name = member(members, "agent_episodes")
    members[name] = members[name][:-9] + bytes([members[name][-9] ^ 1]) + members[name][-8:]


def lose(members):
    del members[member(members, "agent_episodes")]


@pytest.mark.parametrize("size", [0, 10, 0.3, 0.9, -1], ids=str)
def test_a_file_that_was_cut_off(tenant, saved, size):
    data = saved.read_bytes()
    saved.write_bytes(data[: round(size * len(data)) if 0 < size < 1 else size])
    with pytest.raises(BackupError, match="not a whole backup"):
        restore(saved, tenant)


@pytest.mark.parametrize("change", [flip, lose, lambda members: members.update({"tables/more": b""})])
def test_a_file_whose_members_were_changed(tenant, saved, change):
    rewrite(saved, change)
    with pytest.raises(BackupError, match="is damaged"):
        restore(saved, tenant)


def test_a_file_with_a_flipped_bit(tenant, saved):
    with zipfile.ZipFile(saved) as archive:
        largest = max(archive.infolist(), key=lambda one: one.compress_size)
    data = bytearray(saved.read_bytes())
    # In what is kept: nobody reads all of the headers between, of which the central directory tells, too.
    data[largest.header_offset + 30 + len(largest.filename) + largest.compress_size // 2] ^= 1
    saved.write_bytes(data)
    with pytest.raises(BackupError):
        restore(saved, tenant)


def test_a_manifest_that_was_changed(tenant, saved):
    rewrite(saved, in_manifest(lambda manifest: manifest.update(made_at="2030-01-01T00:00:00+00:00")))
    with pytest.raises(BackupError, match="signature"):
        restore(saved, tenant)


def test_a_file_made_under_another_secret_key(tenant, saved):
    with override_settings(SECRET_KEY="another one"), pytest.raises(BackupError, match="--other-secret-key"):
        restore(saved, tenant)


def test_a_file_of_another_format(tenant, saved):
    rewrite(saved, in_manifest(lambda manifest: manifest.update(format=9)), signed=True)
    with pytest.raises(BackupError, match="format 9"):
        restore(saved, tenant)


def test_a_file_of_other_migrations(tenant, saved):
    rewrite(saved, in_manifest(lambda manifest: manifest["migrations"].update(tenants="0001_x")), signed=True)
    with pytest.raises(BackupError, match="the backup at 0001_x"):
        restore(saved, tenant)


def test_a_tenant_that_is_here_unless_it_is_to_be_replaced(tenant, saved):
    with pytest.raises(BackupError, match="--replace"):
        restore(saved, tenant, replace=False)


def test_a_tenant_that_the_backup_does_not_have(tenant, other, saved):
    with pytest.raises(BackupError, match="has no tenant"):
        restore(saved, other)


def test_with_redis_away(tenant, saved, monkeypatch):
    monkeypatch.setattr("working.redis.is_up", lambda: False)
    with pytest.raises(BackupError, match="Redis is away"):
        restore(saved, tenant)


def test_what_postgresql_refuses_leaves_everything_as_before(tenant, saved, monkeypatch):
    def fail(tenant_id):
        with connections["owner"].cursor() as cursor:
            cursor.execute("SELECT 1/0")

    monkeypatch.setattr(session_keys, "drop", fail)
    with pytest.raises(BackupError, match="division by zero"):
        restore(saved, tenant)


def test_a_backup_under_another_secret_key_comes_back_when_that_is_asked_for(tenant, file):
    backup(file, tenant)
    with override_settings(SECRET_KEY="another one"):
        assert restore(file, tenant, other_secret_key=True).tenants == 1
