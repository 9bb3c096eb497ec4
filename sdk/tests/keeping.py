"""Clients whose writes are kept in a file."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from strata_memory import DiskBuffer, StrataClient
from strata_memory.errors import Buffered, NotFound

from sdk.tests.clients import KEY


def say(client: Any, *texts: str) -> list[Any]:
    """What becomes of each turn: its answer, or the error."""
    told = []
    for text in texts:
        try:
            told.append(client.sessions.append_turns("s", turns=[{"role": "user", "content": text}]))
        except (Buffered, NotFound) as error:
            told.append(error)
    return told


def keep(path: Path, url: str, *texts: str, key: str = KEY, **options: Any) -> None:
    """Says something to a server that is not there."""
    with StrataClient(url, key, buffer=DiskBuffer(path), retries=0, **options) as client:
        assert [type(one) for one in say(client, *texts)] == [Buffered] * len(texts)


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


def cut(_text: str) -> None:
    """The answer is kept back."""
    raise ConnectionError


def in_time(work: Callable[[], Any]) -> Any:
    """What it returns or raises, where it might never end."""
    told: list[Any] = []

    def run() -> None:
        try:
            told.append(work())
        except BaseException as error:  # noqa: BLE001  # told to whoever waits
            told.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert told, "It does not end."
    return told[0]
