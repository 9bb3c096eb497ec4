"""Under `manage.py run` all programs count together, and the person who started it can read the logs."""

import json
import stat
from pathlib import Path

import httpx
import pytest

from tests.embedded.stack import started, wait_for

pytestmark = pytest.mark.processes


def test_web_worker_and_beat_share_one_folder_that_begins_empty(tmp_path: Path):
    home = tmp_path / "home"
    left_over = home / "metrics" / "counter_1.db"
    left_over.parent.mkdir(parents=True)
    left_over.write_bytes(b"of an earlier run")
    with started(home, OTEL_TRACES_EXPORTER="console", OTEL_BSP_SCHEDULE_DELAY="100") as strata:
        assert stat.S_IMODE((home / "metrics").stat().st_mode) == 0o700
        assert not left_over.exists()
        wait_for(lambda: len(list((home / "metrics").glob("counter_*.db"))) >= 3, 20)
        answer = httpx.get(f"{strata.run['url']}/metrics")
        assert answer.status_code == 200
        assert "episodic_writes_total" in answer.text
        httpx.get(f"{strata.run['url']}/api/v1/sessions")
        web, beat = home / "logs" / "web.log", home / "logs" / "beat.log"
        assert wait_for(lambda: " INFO web memoryproject.middleware request method=GET" in web.read_text(), 5)
        assert wait_for(lambda: " beat " in beat.read_text(), 20)
        assert wait_for(lambda: '"name": "GET /api/v1/sessions"' in web.read_text(), 10)
    assert "Traceback" not in web.read_text() + beat.read_text()


def test_whoever_sets_a_format_gets_it(tmp_path: Path):
    with started(tmp_path / "home", LOG_FORMAT="json"):
        lines = (tmp_path / "home" / "logs" / "web.log").read_text().splitlines()
        told = [json.loads(line) for line in lines if line.startswith("{")]
        assert {line["process"] for line in told} == {"web"}
