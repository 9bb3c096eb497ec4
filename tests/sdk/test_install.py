"""The package as its users install it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NEEDED = {
    "strata-memory", "httpx", "pydantic", "pip",
    # … and what these two stand on
    "httpcore", "h11", "anyio", "sniffio", "idna", "certifi", "annotated-types", "pydantic-core",
    "typing-extensions", "typing-inspection",
}  # fmt: skip


@pytest.mark.processes
def test_it_brings_httpx_and_pydantic_alone_and_works_without_the_rest(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    copy = tmp_path / "sdk"  # the build leaves files beside the source
    subprocess.run(["cp", "-r", ROOT / "sdk", copy], check=True)
    subprocess.run([*pip, "install", copy], check=True)
    listed = subprocess.run([*pip, "list", "--format=freeze"], check=True, capture_output=True, text=True)
    assert {line.partition("==")[0].lower().replace("_", "-") for line in listed.stdout.split()} <= NEEDED
    work = "import strata_memory as s; print(s.StrataClient('http://strata', 'key'), s.__file__)"
    told = subprocess.run(
        [python, "-I", "-c", work], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert str(tmp_path / "lib") in told.stdout
    assert (Path(told.stdout.split()[-1]).parent / "py.typed").is_file()
    subprocess.run([tmp_path / "bin" / "strata", "--help"], check=True, capture_output=True)
