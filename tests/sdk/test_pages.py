"""What the pages show of the client runs as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Member

ROOT = Path(__file__).resolve().parent.parent.parent
SAID = {"README.md": "The export fails", "sdk/README.md": "Oslo", "docs/sdk.md": "Oslo"}


@pytest.mark.parametrize("page", SAID)
def test_the_first_lines_of_python_do_what_they_say(page: str, acme: Member, tmp_path: Path) -> None:
    block = re.search(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "sdk" / "src"),
        "STRATA_URL": str(acme.http.base_url),
        "STRATA_API_KEY": acme.key,
    }
    done = subprocess.run(
        [sys.executable, "-c", block[1]], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert SAID[page] in done.stdout
