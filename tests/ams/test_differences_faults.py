"""Where the original is broken or silent: whoever dies or is away, what was answered is kept and done."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from providers.fake import FakeProvider
from tests.ams.asking import RECORDS, SEARCH, message
from tests.faults.deployment import Deployment, RunningWeb, children_of, wait_until

pytestmark = pytest.mark.processes
PATIENCE = 120  # seconds
AT_ONCE = {"EXTRACTION_DEBOUNCE_SECONDS": "0", "JOB_SWEEP_SECONDS": "1"}
RECORD = {"id": "tea", "text": "Ana likes green tea", "user_id": "ana", "memory_type": "semantic"}


def kill(web: RunningWeb) -> None:
    """All its processes at once; nothing is finished."""
    for pid in (web.pid, *children_of(web.pid)):
        os.kill(pid, signal.SIGKILL)


@contextmanager
def running(deployment: Deployment, **environment: str) -> Iterator[RunningWeb]:
    """Web, worker and beat."""
    web = deployment.web(**environment)
    programs = [deployment.worker(**environment), deployment.beat()]
    for program in programs:
        program.start()
    try:
        yield web
    finally:
        for program in programs:
            program.stop()
        web.stop()


def found(web: RunningWeb, **query: Any) -> list[str]:
    answer = web.http.post(SEARCH, json=query)
    return [one["text"] for one in answer.json()["memories"]] if answer.status_code == 200 else []


def test_work_that_was_answered_is_done_although_all_was_killed_right_after(deployment):
    """Row: durability. Nobody is there to do the work when the answer comes."""
    web = deployment.web(**AT_ONCE)
    try:
        body = {"messages": [message("m", content="I live in Oslo.")], "memories": [RECORD], "user_id": "ana"}
        answer = web.http.put("/v1/working-memory/killed", json=body)
        kill(web)
        deployment.stores.postgres.kill()
    finally:
        web.stop()
    assert answer.status_code == 200
    deployment.stores.postgres.start()
    with running(deployment, **AT_ONCE) as web:
        wait_until(lambda: web.http.get(f"{RECORDS}tea").status_code == 200, PATIENCE)
        ana = {"user_id": {"eq": "ana"}}
        wait_until(lambda: any("Oslo" in text for text in found(web, **ana)), PATIENCE)
        session = "/v1/working-memory/killed?user_id=ana"
        wait_until(lambda: web.http.get(session).json()["memories"][0]["persisted_at"], PATIENCE)
        assert [one["content"] for one in web.http.get(session).json()["messages"]] == ["I live in Oslo."]


def test_whatever_is_killed_meanwhile_what_was_answered_is_there(deployment):
    """Row: durability. 200 comes after the commit."""
    web = deployment.web()
    answered: set[str] = set()
    over = threading.Event()

    def write(writer: int) -> None:
        number = 0
        while not over.is_set():
            number += 1
            name = f"{writer}-{number}"
            try:
                done = web.http.put(f"/v1/working-memory/{name}", json={"messages": [message(name)]})
            except httpx.HTTPError:
                return
            if done.status_code == 200:
                answered.add(name)

    try:
        with ThreadPoolExecutor(6) as pool:
            for writer in range(6):
                pool.submit(write, writer)
            try:
                wait_until(lambda: len(answered) >= 60, PATIENCE)
                kill(web)
                deployment.stores.postgres.kill()
            finally:
                over.set()
    finally:
        web.stop()
    deployment.stores.postgres.start()
    web = deployment.web()
    try:
        wait_until(lambda: web.http.get("/ready").status_code == 200, PATIENCE)
        for name in answered:
            kept = web.http.get(f"/v1/working-memory/{name}").json()
            assert [one["content"] for one in kept["messages"]] == [name]
    finally:
        web.stop()


def test_while_models_are_away_all_is_kept_and_done_when_they_are_back(deployment):
    """Row: summariser or embedder down."""
    with FakeProvider(api_key="sk-outside") as provider:
        outside = {
            **AT_ONCE, "EMBEDDING_PROVIDER": "openai", "EMBEDDING_MODEL": "text-embedding-3-small",
            "LLM_PROVIDER": "openai", "OPENAI_BASE_URL": provider.base_url, "OPENAI_API_KEY": "sk-outside",
            "PROVIDER_INTERACTIVE_SECONDS": "1", "WINDOW_SIZE": "10",
        }  # fmt: skip
        provider.control(dead=-1)
        session, bob = "/v1/working-memory/away", {"user_id": {"eq": "bob"}}
        with running(deployment, **outside) as web:
            said = [message(f"m{number}", content=f"Step {number} is done.") for number in range(11)]
            done = web.http.put(session, json={"messages": said})
            record = {"text": "Bob rides a bicycle", "user_id": "bob"}
            saved = web.http.post(RECORDS, json={"memories": [record]})
            assert (done.status_code, saved.status_code) == (200, 200)
            context = done.json()["context"]
            assert context.startswith("Session with 7 messages.")
            assert web.http.get(session).json()["context"] == context
            assert found(web, text="bicycle", search_mode="keyword", **bob) == ["Bob rides a bicycle"]
            wait_until(lambda: provider.count("dead") > 0, PATIENCE)
            provider.reset()
            wait_until(lambda: found(web, text="bicycle", **bob) == ["Bob rides a bicycle"], PATIENCE)
            wait_until(lambda: web.http.get(session).json()["context"] != context, PATIENCE)
