"""The public ports: whether they are free, and when the servers behind them are ready."""

import errno
import http.client
import socket

from memoryproject.embedded.errors import CannotStart


def check_free(host: str, port: int, *, setting: str = "PORT") -> None:
    """Raise CannotStart when nothing can listen on `host:port`; `setting` chooses another port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(
                socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
            )  # as servers do: TIME_WAIT is no obstacle
            probe.bind(address)
            probe.listen()
    except socket.gaierror:
        raise CannotStart(f"HOST={host} is not an address of this machine.") from None
    except OSError as error:
        raise CannotStart(_sentence(host, port, error, setting)) from None


def _sentence(host: str, port: int, error: OSError, setting: str) -> str:
    if error.errno == errno.EADDRINUSE:
        free = f"{setting}={port % 65535 + 1}"
        return f"Port {port} is in use by another program; choose another one, e.g. {free}."
    if error.errno in (errno.EACCES, errno.EPERM):
        free = f"{setting}={8002 if setting == 'PORT' else 8003}"
        return f"This account may not listen on port {port}; choose one above 1023, e.g. {free}."
    return f"Strata cannot listen on {host}:{port}: {error.strerror}."


def one_beside(host: str, port: int) -> int:
    """A port that is free: the next one, or else any."""
    try:
        check_free(host, port + 1)
    except (CannotStart, OverflowError):
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
            return int(probe.getsockname()[1])
    return port + 1


def public_url(host: str, port: int) -> str:
    """Where a client on this machine reaches a server that listens on `host`."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def answers(url: str) -> tuple[bool, str]:
    """Whether the address answers 200, and what it said instead."""
    address, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("GET", f"/{path}")
        response = connection.getresponse()
        return (
            response.status == 200,
            f"{response.status} {response.read(500).decode(errors='replace')}".strip(),
        )
    except (OSError, http.client.HTTPException) as error:
        return False, f"no answer ({error})"
    finally:
        connection.close()
