"""The fake server, as a person finds it."""

import os
import signal
import subprocess
import sys

import httpx
import pytest

from providers.fake import FakeProvider
from tests.processes import ROOT, free_port

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Kim likes trains."}]}


@pytest.fixture
def http(fake: FakeProvider) -> httpx.Client:
    return httpx.Client(base_url=fake.base_url.removesuffix("/v1"), timeout=5)


def test_it_is_controlled_over_http(http):
    state = http.post("/control", json={"rate_limited": 1, "retry_after": "2"}).json()
    assert state["behaviour"]["rate_limited"] == 1
    refused = http.post("/v1/chat/completions", json=CHAT)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    assert http.post("/v1/chat/completions", json=CHAT).status_code == 200
    state = http.get("/control").json()
    assert state["counts"] == {"/v1/chat/completions": 2, "rate_limited": 1}
    assert [one["body"] for one in state["requests"]] == [CHAT, CHAT]
    assert http.post("/control", json={"reset": True}).json()["counts"] == {}


@pytest.mark.parametrize("change", [
    {"colour": 1}, {"slow": "much"}, {"wrong_kind": "x"}, {"dead": None}, {"dead": True},
    {"off_schema": True}, {"wrong": "gibberish"}, {"slow": True}, {"no_dimensions": 1},
])  # fmt: skip
def test_a_wrong_change_is_refused_and_nothing_is_changed(http, change):
    before = http.get("/control").json()["behaviour"]
    assert http.post("/control", json=change).status_code == 400
    assert http.get("/control").json()["behaviour"] == before


@pytest.mark.parametrize(("change", "complaint"), [
    ({"off_schema": True}, "off_schema must be a number of requests, -1 for all from now on."),
    ({"wrong": "no"}, "wrong must be a number of requests, -1 for all from now on, or one of 500, garbage,"),
    ({"dimensions": "8"}, "dimensions must be a whole number."),
    ({"slow": "much"}, "slow must be of type float."),
])  # fmt: skip
def test_a_wrong_change_is_told_in_the_words_of_the_control(http, change, complaint):
    assert http.post("/control", json=change).json()["error"]["message"].startswith(complaint)


def test_the_kind_of_fault_is_named_as_by_the_command(http):
    behaviour = http.post("/control", json={"wrong": "garbage"}).json()["behaviour"]
    assert (behaviour["wrong"], behaviour["wrong_kind"]) == (-1, "garbage")
    for _time in range(2):
        assert http.post("/v1/chat/completions", json=CHAT).text == "<html>Bad gateway</html>"
    assert http.post("/control", json={"wrong": 0}).status_code == 200
    assert http.post("/v1/chat/completions", json=CHAT).json()["choices"]


def test_the_control_answers_whatever_is_wrong(http):
    http.post("/control", json={"dead": -1, "slow_byte": 5, "api_key": "k"})
    with pytest.raises(httpx.HTTPError):
        http.get("/v1/models")
    assert http.post("/control", json={"reset": True}).status_code == 200
    assert http.get("/v1/models").json()["data"]


def test_the_same_question_has_the_same_answer(http):
    body = {"model": "m", "input": ["Kim likes trains."], "encoding_format": "float", "dimensions": 8}
    answers = [http.post("/v1/embeddings", json=body).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert len(answers[0]["data"][0]["embedding"]) == 8


def test_it_stops_listening_and_comes_back_at_the_same_address(fake, http):
    address = fake.base_url
    fake.stop()
    with pytest.raises(httpx.ConnectError):
        http.get("/v1/models")
    fake.start()
    assert fake.base_url == address
    assert http.get("/v1/models").status_code == 200


@pytest.mark.processes
def test_a_person_can_run_it():
    port = free_port()
    command = [
        sys.executable,
        "manage.py",
        "fake_llm",
        "--port",
        str(port),
        "--wrong",
        "nan",
        "--dimensions",
        "4",
    ]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert f"http://127.0.0.1:{port}/v1" in process.stdout.readline()
            answer = httpx.post(
                f"http://127.0.0.1:{port}/v1/embeddings", json={"model": "m", "input": "x"}, timeout=5
            )
            assert "NaN" in answer.text
        finally:
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(timeout=10) == 0
            finally:
                process.kill()
