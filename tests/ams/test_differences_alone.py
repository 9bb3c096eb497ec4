"""Where the original is broken or silent: without a language model, and without a network."""

import socket
from typing import Any

import pytest

from tests.ams.asking import SEARCH, SESSION, message
from tests.extracting.talk import extract


@pytest.fixture
def asked_outside(monkeypatch) -> list[Any]:
    """Whom this process has asked, or wanted to find, but those on the same machine; nobody answers."""
    asked: list[Any] = []
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def connect_here(self: socket.socket, address: Any) -> None:
        if self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"):
            return connect(self, address)
        asked.append(address)
        raise OSError("There is no network.")

    def resolve_here(host: Any, *args: Any, **options: Any) -> Any:
        if host in ("127.0.0.1", "::1", "localhost"):
            return resolve(host, *args, **options)
        asked.append(host)
        raise socket.gaierror("There is no network.")

    monkeypatch.setattr(socket.socket, "connect", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", resolve_here)
    return asked


def test_everything_works_without_a_language_model_and_a_network(acme, browser, put_here, asked_outside):
    """Row: no LLM, no network."""
    done = put_here(*(f"m{number} We talked about the weather." for number in range(51)), user_id="ana")
    assert done["context"].startswith("Session with 31 messages.")
    told = [message("m1", content="I live in Oslo."), message("m2", content="I prefer tea to coffee.")]
    put_here(messages=told, session="home", user_id="ana")
    extract(acme.caller)
    body = {"text": "in which city is her home?", "user_id": {"eq": "ana"}}
    found = browser.post(SEARCH, body, content_type="application/json").json()
    assert "Oslo" in found["memories"][0]["text"]
    assert found["memories"][0]["score_type"] == "semantic"
    asked = {
        "query": "Where do I live?",
        "long_term_search": True,
        "session": {"session_id": "s", "user_id": "ana"},
    }
    prompt = browser.post(
        "/v1/memory/prompt?optimize_query=true", asked, content_type="application/json"
    ).json()
    assert "Oslo" in prompt["messages"][-2]["content"]["text"]
    assert browser.get(f"{SESSION}?user_id=ana").json()["context"] == done["context"]
    assert asked_outside == []
