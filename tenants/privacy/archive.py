"""A zip file that is written as a stream: its members are as long as they turn out to be, and none of them is
ever held as a whole."""

import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain

LONGEST = 1 << 30  # bytes of a member: beyond two of these, what unpacks zips on some desktops fails


class _Drain:
    """A file that can only be written to, and emptied. Without `seek`, sizes follow each member."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, data: bytes, /) -> int:
        self._held += data
        return len(data)

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """Nor is anything open."""

    def take(self) -> bytes:
        taken = bytes(self._held)
        self._held.clear()
        return taken


def zipped(members: Iterable[tuple[str, Iterator[bytes]]], *, now: datetime) -> Iterator[bytes]:
    """The file in pieces. Each member is read to its end before the next one is asked for; a name may hold no
    folder."""
    drain = _Drain()
    with zipfile.ZipFile(drain, "w") as archive:
        for name, pieces in members:
            moment = (now.year, now.month, now.day, now.hour, now.minute, now.second)
            info = zipfile.ZipInfo(name, date_time=moment)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            with archive.open(info, "w") as member:
                for piece in pieces:
                    member.write(piece)
                    if found := drain.take():
                        yield found
            yield drain.take()
    yield drain.take()


def in_parts(name: str, ending: str, pieces: Iterator[bytes]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The pieces as members of at most `LONGEST` bytes: `name`, and where that is not enough `name-2` and so
    on. There is always a first one."""
    waiting: list[bytes] = []  # what did not fit into the last one
    number = 0

    def part() -> Iterator[bytes]:
        size = 0
        for piece in chain(tuple(waiting), pieces):
            if size and size + len(piece) > LONGEST:
                waiting[:] = [piece]
                return
            size += len(piece)
            yield piece
        waiting.clear()

    while number == 0 or waiting:
        number += 1
        yield f"{name}-{number}{ending}" if number > 1 else f"{name}{ending}", part()
