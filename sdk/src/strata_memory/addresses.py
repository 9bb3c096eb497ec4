"""Which server is meant, and with which key."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

NO_SERVER = (
    "No server is named: use --url or STRATA_URL, or stay where `make run` has written .memory/run.json."
)
LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
PORTS = {"http": 80, "https": 443}
USUAL = "http://127.0.0.1:8002"  # where `make run` listens unless it was told otherwise


class NoAddress(ValueError):
    """No server is named, or by nothing that counts."""


@dataclass(frozen=True, slots=True)
class Address:
    """A server and the key for it, which does not show itself; None: some servers ask for none."""

    url: str
    api_key: str | None = field(repr=False)


def find_address(
    url: str | None,
    key: str | None,
    *,
    environment: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> Address:
    """What was asked for, else what the environment says, else what `make run` wrote down.

    The key that `make run` wrote down goes to that very server only, by whichever name of this machine. That
    file may lie in a folder that others filled: an address that only it names is on this machine, or it
    would say where a key of the environment is sent. Raises NoAddress.
    """
    home = Path(environment.get("MEMORY_HOME") or (folder or Path()) / ".memory")
    run = _read_run_file(home / "run.json")
    local = _text(run, "url").rstrip("/")
    chosen = (url or environment.get("STRATA_URL") or "").rstrip("/")
    if not chosen:
        if not local:
            raise NoAddress(NO_SERVER)
        if not _is_here(local):
            raise NoAddress(f"{home / 'run.json'} names a server elsewhere: if you mean it, use --url.")
        chosen = local
    own = _text(run, "api_key") if _is_same(chosen, local) else ""
    return Address(chosen, key or environment.get("STRATA_API_KEY") or own or None)


def address_of_environment(
    *, environment: Mapping[str, str] = os.environ, folder: Path | None = None
) -> Address:
    """What `find_address` finds where nothing was asked for, else the usual address.

    A program may stand in a folder that it cannot read, or that others filled: a file there that does not
    count is as none, and only what the environment says is left.
    """
    try:
        return find_address(None, None, environment=environment, folder=folder)
    except NoAddress:
        url = (environment.get("STRATA_URL") or USUAL).rstrip("/")
        return Address(url, environment.get("STRATA_API_KEY") or None)


def _is_here(url: str) -> bool:
    """Whether the address is one of this machine."""
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:  # no address at all
        return False


def _is_same(one: str, other: str) -> bool:
    """Whether two addresses are of one server; the names of the loopback are alike."""
    try:
        return bool(other) and (one == other or _place(urlsplit(one)) == _place(urlsplit(other)))
    except ValueError:  # no address at all
        return False


def _place(url: SplitResult) -> tuple[str, str, int | None, str, str]:
    host = url.hostname or ""
    port = url.port or PORTS.get(url.scheme)
    return (
        url.scheme,
        "localhost" if host in LOOPBACK else host,
        port,
        url.path,
        url.netloc.rpartition("@")[0],
    )


def _read_run_file(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    except OSError as error:
        raise NoAddress(f"{path} cannot be read: {error.strerror}.") from error
    return found if isinstance(found, dict) else {}


def _text(run: Mapping[str, Any], name: str) -> str:
    value = run.get(name)
    return value if isinstance(value, str) else ""
