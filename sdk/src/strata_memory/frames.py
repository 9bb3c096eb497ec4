"""Server-sent events off the wire (https://html.spec.whatwg.org/multipage/server-sent-events.html). Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import InvalidAnswer

LONGEST = 64 * 1024 * 1024  # bytes of one frame
END = re.compile(rb"\r\n|\r|\n")
MARK = b"\xef\xbb\xbf"  # may stand before everything else


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands between two empty lines. `id` is that of the last frame which had one."""

    id: str
    event: str
    data: str | None  # None: there is nothing to dispatch


class Frames:
    """Puts frames together from parts that are cut anywhere.

    `last_id` is behind whole frames only: whoever resumed behind half a frame would not be told the rest.
    """

    def __init__(self, last_id: str = "") -> None:
        self.last_id = self._id = last_id
        self.retry: float | None = None  # seconds, as the server asks
        self._rest = bytearray()
        self._read_to = 0  # of the rest, where no line ends
        self._is_begun = self._may_be_half = False
        self._data: list[str] = []
        self._event = ""
        self._size = 0

    def feed(self, part: bytes) -> Iterator[Frame]:
        """The frames that end in this part. Raises InvalidAnswer for one that is too long."""
        self._rest += part
        for line in self._lines():
            self._size += len(line)
            if line:
                self._read(line.decode("utf-8", "replace"))
                continue
            data = "\n".join(self._data) if self._data else None
            self.last_id = self._id
            frame = Frame(self.last_id, self._event or "message", data)
            self._data, self._event, self._size = [], "", 0
            yield frame
        if self._size + len(self._rest) > LONGEST:
            raise InvalidAnswer(f"An event is longer than {LONGEST} bytes.")

    def _lines(self) -> list[bytes]:
        """The lines that are whole now. A CR ends one at once; a LF that comes behind it belongs to it."""
        if self._may_be_half and self._rest:
            self._rest, self._may_be_half = self._rest.removeprefix(b"\n"), False
        lines: list[bytes] = []
        begin = 0
        for end in END.finditer(self._rest, self._read_to):
            lines.append(bytes(self._rest[begin : end.start()]))
            begin = end.end()
        if lines:
            self._may_be_half = begin == len(self._rest) and self._rest.endswith(b"\r")
            if not self._is_begun:
                lines[0], self._is_begun = lines[0].removeprefix(MARK), True
            del self._rest[:begin]
        self._read_to = len(self._rest)
        return lines

    def _read(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value[:9]) / 1000
