"""A restore that is killed leaves everything as before; a backup that is killed leaves no file."""

import os
import subprocess
import sys

import pytest

from episodic.models import Episode
from tests.backup.places import backup, restore, rows_of
from tests.isolation.tables import FACTORIES, store
from tests.processes import ROOT


def test_a_restore_killed_before_its_commit_leaves_all_as_before(tenant, file):
    backup(file, tenant)
    store(FACTORIES[Episode](tenant.id))
    before = rows_of(tenant)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.backup.killed", str(file)],
        cwd=ROOT,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"everything is loaded\n"
    process.kill()
    process.wait()
    process.stdout.close()
    assert rows_of(tenant) == before
    assert restore(file, tenant).tenants == 1  # and its lock is gone with it


def test_a_backup_that_fails_leaves_no_file(tenant, file, monkeypatch):
    def fail(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("memoryproject.backup.session_keys.dump", fail)
    with pytest.raises(KeyboardInterrupt):
        backup(file, tenant)
    assert os.listdir(file.parent) == []
