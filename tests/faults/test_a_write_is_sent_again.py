"""A client that got no answer sends its write again with the same key; the server dies meanwhile."""

import os
import signal
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from tests.faults.deployment import wait_until

pytestmark = pytest.mark.processes
WRITES, KILLS = 150, 3


def send_until_answered(web, number: int, seconds: float = 30) -> dict:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            answer = web.http.post(
                "/api/v1/episodes",
                json={"text": f"write {number}", "user_id": "again"},
                headers={"Idempotency-Key": f"write-{number}"},
            )
        except httpx.HTTPError:
            time.sleep(0.05)
            continue
        if answer.status_code == 201:
            return answer.json()
        assert answer.status_code == 503, answer.text
        time.sleep(0.05)
    raise TimeoutError(f"write {number} was never answered")


def stored(web) -> list[dict]:
    return web.http.get("/api/v1/episodes", params={"user_id": "again", "limit": 200}).json()["results"]


def done_of(sent: Sequence[Future]) -> int:
    return sum(one.done() for one in sent)


@pytest.mark.parametrize("victim", ["web", "postgres"])
def test_each_write_is_done_once_whatever_dies(deployment, victim):
    web = deployment.web(workers=2)
    wait_until(lambda: len(web.workers()) == 2, 20)
    before = {episode["id"] for episode in stored(web)}
    numbers = [f"{victim}-{number}" for number in range(WRITES)]
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(send_until_answered, web, number) for number in numbers]
        for kill in range(KILLS):
            wait_until(lambda kill=kill: done_of(sent) > kill * WRITES / KILLS / 2, 30)
            if victim == "web":
                gone = web.workers()[0]
                os.kill(gone, signal.SIGKILL)
                wait_until(lambda gone=gone: gone not in web.workers() and len(web.workers()) == 2, 60)
            else:
                deployment.stores.postgres.kill()
                deployment.stores.postgres.start()
        answers = [one.result() for one in sent]
    wait_until(lambda: web.http.get("/ready").status_code == 200, 20)
    try:
        mine = {episode["id"]: episode["text"] for episode in stored(web) if episode["id"] not in before}
        assert sorted(mine.values()) == sorted(f"write {number}" for number in numbers)
        assert {answer["id"] for answer in answers} == set(mine)
    finally:
        web.stop()
