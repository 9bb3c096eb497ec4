"""The public port: whether it is free, and when the server behind it is ready."""

import errno
import http.client
import socket

from memoryproject.embedded.errors import CannotStart


def check_free(host: str, port: int) -> None:
    """Raise CannotStart when nothing can listen on `host:port`."""
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
        raise CannotStart(_sentence(host, port, error)) from None


def _sentence(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is in use by another program; choose another one, e.g. PORT={port % 65535 + 1}."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"This account may not listen on port {port}; choose one above 1023, e.g. PORT=8002."
    return f"Strata cannot listen on {host}:{port}: {error.strerror}."


def public_url(host: str, port: int) -> str:
    """Where a client on this machine reaches a server that listens on `host`."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def ready(url: str) -> tuple[bool, str]:
    """Whether `url`/ready answers 200, and what it said instead."""
    address = url.removeprefix("http://")
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("GET", "/ready")
        response = connection.getresponse()
        return (
            response.status == 200,
            f"{response.status} {response.read(500).decode(errors='replace')}".strip(),
        )
    except (OSError, http.client.HTTPException) as error:
        return False, f"no answer ({error})"
    finally:
        connection.close()
