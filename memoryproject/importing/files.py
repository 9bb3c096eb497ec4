"""JSON and JSON Lines of any length, an entry at a time."""

import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import ijson
from ijson.common import ObjectBuilder

from memoryproject.importing.errors import SourceMalformed, SourceUnknown
from memoryproject.importing.fields import sample_of
from memoryproject.importing.rows import Junk
from memoryproject.importing.surrogates import Readable, Unhalved

# The parser in Python keeps all that it has read while texts go over the ends of what it reads. This one does
# not; in the place of half a surrogate pair it would put a question mark, which `Unhalved` is there against.
PARSER = ijson.get_backend("yajl2_c")
LONGEST = 32 * 1024 * 1024  # bytes of one entry, which has to be held as a whole
LONGEST_FIRST = 1024 * 1024  # bytes of a line by which lines are told from a document
PIECE = 65_536  # bytes that the parser reads at once, and so what an entry's length is told by
TOO_LONG = "an entry that is too long"
LINES = (".jsonl", ".ndjson")
BLANK, BOM = b" \t\r\n", b"\xef\xbb\xbf"
OPENING, CLOSING = ("start_map", "start_array"), ("end_map", "end_array")


@dataclass(frozen=True, slots=True)
class Entry:
    """One value. `member` names the list of the document that it stands in; empty: it is the document, an
    entry of the list that the document is, or a line."""

    place: str
    member: str
    value: Any


class JsonFile:
    """A file with JSON Lines, with a list of entries, or with an object that has them in lists."""

    unit = "B"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0
        try:
            self._file = path.open("rb")
            self.total: int | None = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            raise SourceUnknown(f"{path} cannot be read: {error.strerror}.") from error

    def entries(self, lists: Collection[str]) -> Iterator[Entry | Junk]:
        """What stands in the lists of these names, or in the list or the lines that the file is; an object
        that has none of the lists is an entry by itself. Raises SourceMalformed where JSON breaks off."""
        with self._file as file:
            _pass_bom(file)
            found = self._lines(file) if self._has_lines(file) else self._streamed(file, lists)
            for entry in found:
                self.position = file.tell()
                yield entry
            self.position = file.tell()

    def has_member(self, member: str) -> bool:
        """Whether the document is an object with such a member. Reads it once through."""
        with self.path.open("rb") as file:
            _pass_bom(file)
            if self._has_lines(file):
                return False
            depth, measured = 0, Measured(file, what=str(self.path))
            try:
                for event, value in _events(measured):
                    measured.heard()
                    if depth == 1 and event == "map_key" and value == member:
                        return True
                    depth += (event in OPENING) - (event in CLOSING)
            except (ijson.JSONError, ValueError, SourceMalformed):
                pass  # whoever reads it tells of it
            return False

    def _has_lines(self, file: IO[bytes]) -> bool:
        """Whether each line is a value: by the file's name, or by its first line and what follows that."""
        if self.path.suffix.lower() in LINES:
            return True
        start = file.tell()
        first = file.readline(LONGEST_FIRST)
        rest = file.read(65_536)
        file.seek(start)
        try:
            return first.startswith(b"{") and bool(rest.strip(BLANK)) and json.loads(first) is not None
        except ValueError:
            return False
        except RecursionError:
            return True  # as far as it could be followed, it is one

    def _lines(self, file: IO[bytes]) -> Iterator[Entry | Junk]:
        number = 0
        while line := file.readline(LONGEST + 1):
            number += 1
            place = f"line {number}"
            if len(line) > LONGEST:
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST)
                yield Junk(place, TOO_LONG)
            elif stripped := line.strip(BLANK):
                yield _parsed_line(place, stripped)

    def _streamed(self, file: IO[bytes], lists: Collection[str]) -> Iterator[Entry | Junk]:
        if not self.total:
            raise SourceMalformed(f"{self.path} is empty.")
        is_met = False
        for entry in streamed(file, lists, what=str(self.path)):
            is_met = True
            yield entry
        if not is_met and (whole := self._whole(file)) is not None:
            yield Entry("the document", "", whole)

    def _whole(self, file: IO[bytes]) -> dict[str, Any] | None:
        """The document, if it is an object that is no answer without entries."""
        if (self.total or 0) > LONGEST:
            raise SourceMalformed(f"{self.path} has no entries, and is too large to be one.")
        file.seek(0)
        try:
            found = json.loads(file.read().removeprefix(BOM) or b"null")
        except (ValueError, RecursionError) as error:
            raise SourceMalformed(f"{self.path} cannot be read: {_reason(error)}.") from error
        return found if isinstance(found, dict) and found else None


def _pass_bom(file: IO[bytes]) -> None:
    file.seek(0 if file.read(len(BOM)) != BOM else len(BOM))


def _parsed_line(place: str, line: bytes) -> Entry | Junk:
    try:
        return Entry(place, "", json.loads(line))
    except (ValueError, RecursionError):
        return Junk(place, "broken JSON", sample_of(line.decode(errors="replace")))


class Measured:
    """A file on its way to the parser, which holds each text as a whole: one that does not end is not read
    on."""

    def __init__(self, file: Readable, *, what: str) -> None:
        self._file, self._what = file, what
        self.position = 0
        self._heard = 0

    def heard(self) -> int:
        """Called at each event: up to where it was read at the one before."""
        before, self._heard = self._heard, self.position
        return before

    def read(self, size: int = -1, /) -> bytes:
        """At most so many of the next bytes. Raises SourceMalformed."""
        if self.position - self._heard > 2 * LONGEST:
            raise SourceMalformed(f"{self._what}: a text that is too long stands behind {self._heard} bytes.")
        piece = self._file.read(size)
        self.position += len(piece)
        return piece


def streamed(file: Readable, lists: Collection[str], *, what: str) -> Iterator[Entry | Junk]:
    """The entries of the list that the document is, or of those of its lists that have these names. Raises
    SourceMalformed, with what was read before it already told."""
    counts = dict.fromkeys((*lists, ""), 0)
    builder: ObjectBuilder | None = None
    is_open, began, measured = False, 0, Measured(Unhalved(file), what=what)
    try:
        for member, is_last, event, value in _located(_events(measured), lists):
            before = measured.heard()
            if member is None:
                continue
            if not is_open:
                is_open, began, builder = True, before, ObjectBuilder()
            if builder is not None and measured.position - began > LONGEST + PIECE:
                builder = None  # the rest of it is passed over
            if builder is not None:
                builder.event(event, value)
            if is_last:
                place, is_open = f"{member}[{counts[member]}]", False
                counts[member] += 1
                yield Junk(place, TOO_LONG) if builder is None else Entry(place, member, builder.value)
    except (ijson.JSONError, UnicodeDecodeError, ValueError, RecursionError) as error:
        told = sum(counts.values())
        raise SourceMalformed(
            f"{what}: the JSON breaks off behind {told} entries: {_reason(error)}."
        ) from error


def _events(file: Readable) -> Iterator[tuple[str, Any]]:
    """Without the path to each, which the parser would tell as well: of what is nested deep those are as long
    as that is deep, each."""
    return PARSER.basic_parse(file, use_float=True, buf_size=PIECE)  # type: ignore[no-any-return]


def _located(
    events: Iterator[tuple[str, Any]], lists: Collection[str]
) -> Iterator[tuple[str | None, bool, str, Any]]:
    """Each event with the name of the list of which it is within an entry, empty for the document itself and
    None within none; and whether the entry ends with it."""
    depth, key, inside = 0, "", 0  # how many lists and objects are open, and how many around an entry
    member: str | None = None
    for event, value in events:
        depth -= event in CLOSING
        if depth < inside:
            inside, member = 0, None
        is_last = depth == inside and event not in OPENING
        yield member, is_last, event, value
        if event == "map_key" and depth == 1:
            key = value
        is_list = event == "start_array" and (not depth or (depth == 1 and key in lists))
        if is_list and member is None:
            inside, member = depth + 1, key if depth else ""
        depth += event in OPENING


def _reason(error: Exception) -> str:
    """What is wrong, without the piece of the document that the parser shows beside it."""
    said = error.args[0] if error.args else ""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    first = text.partition("\n")[0].strip().rstrip(".")
    return first.removeprefix("parse error: ").removeprefix("lexical error: ") or type(error).__name__
