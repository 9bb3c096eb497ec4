"""The benchmarks are run seldom: that they still start is seen here."""

import subprocess
import sys
from pathlib import Path


def test_they_start_and_name_their_cases():
    told = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "--help"],
        cwd=Path(__file__).resolve().parent.parent.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "pages" in told.stdout
