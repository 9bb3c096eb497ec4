"""Servers that behave badly, on real sockets."""

import contextlib
import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
TICK = 0.02  # seconds between two bytes


def closed_port() -> str:
    """An address where nobody listens, nor will: the system gives away higher ports."""
    while True:
        port = random.randrange(10_000, 12_000)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return f"http://127.0.0.1:{port}"


@contextmanager
def serving(behave: Callable[[socket.socket, threading.Event], None]) -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server that reads a request and then behaves, and the requests it has read."""
    listener, over, requests = socket.create_server(("127.0.0.1", 0)), threading.Event(), []
    threads: list[threading.Thread] = []
    connections: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            requests.append(connection.recv(1 << 16))
            behave(connection, over)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _address = listener.accept()
                connections.append(connection)
                threads.append(threading.Thread(target=answer, args=[connection]))
                threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in (accepting, *threads):
            thread.join()


def answering(answer: bytes) -> Callable[[socket.socket, threading.Event], None]:
    """Sends this, and closes the connection."""

    def behave(connection: socket.socket, _over: threading.Event) -> None:
        connection.sendall(answer)

    return behave


def keeping(answer: bytes, left: threading.Semaphore) -> Callable[[socket.socket, threading.Event], None]:
    """Sends this to each request on the connection, and counts the connections that were left."""

    def behave(connection: socket.socket, _over: threading.Event) -> None:
        connection.sendall(answer)
        while connection.recv(1 << 16):
            connection.sendall(answer)
        left.release()

    return behave


def silent(_connection: socket.socket, over: threading.Event) -> None:
    """Says nothing."""
    over.wait()


def dribbling(begin: bytes, drop: bytes) -> Callable[[socket.socket, threading.Event], None]:
    """Sends a beginning, and then a byte at a time, without end."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(begin)
        while not over.wait(TICK):
            connection.sendall(drop)

    return behave


def flooding(connection: socket.socket, over: threading.Event) -> None:
    """Sends a body as fast as it can, without end."""
    connection.sendall(HEAD + b'\r\n"')
    while not over.is_set():
        connection.sendall(b"a" * 65_536)
