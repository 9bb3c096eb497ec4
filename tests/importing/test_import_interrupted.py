import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from episodic.models import Episode
from tenants.scope import scope
from tests.conftest import Member
from tests.importing.importing import memories, run, totals, write_lines
from tests.processes import ROOT

LINES = 3_000


def begun(tenant: str, file: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "manage.py", "import_from", "mem0", str(file), "--tenant", tenant, "--quiet"]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for_a_commit(member: Member, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        with scope(member.tenant.id):
            if Episode.objects.filter(tenant_id=member.tenant.id).exists():
                return
        time.sleep(0.02)
    raise AssertionError("nothing was committed on the way")


def state(member: Member) -> list[tuple[object, ...]]:
    return [(one.external_id, one.text, one.user_id, one.metadata) for one in memories(member.tenant.id)]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_what_is_stopped_in_the_middle_is_gone_on_with(
    acme: Member, globex: Member, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    texts = [f"Ana has read book {n % (LINES - 10)}." for n in range(LINES)]
    lines = [{"id": str(n), "memory": text, "user_id": "ana"} for n, text in enumerate(texts)]
    file = write_lines(tmp_path / "all.jsonl", [*lines, "{"])
    process = begun(acme.tenant.slug, file)
    wait_for_a_commit(acme, process)
    process.send_signal(number)
    _told, said = process.communicate(timeout=120)
    done = len(memories(acme.tenant.id))

    assert process.returncode == status
    assert "Traceback" not in said
    assert 0 < done < LINES - 10
    rest = run("mem0", file, acme.tenant.slug)
    assert totals(rest) == {
        "read": LINES + 1, "unchanged": done, "written": LINES - 10 - done, "duplicates": 10, "junk": 1,
    }  # fmt: skip
    run("mem0", file, globex.tenant.slug)
    assert state(acme) == state(globex)
