import io
import json
import tracemalloc
from pathlib import Path

import pytest

from api.parsers import UNSTORABLE
from memoryproject.importing import files
from memoryproject.importing.errors import SourceMalformed
from memoryproject.importing.files import Entry, JsonFile, streamed
from memoryproject.importing.rows import Junk


def entries(path: Path, *lists: str) -> list[object]:
    return [one.value if isinstance(one, Entry) else one.reason for one in JsonFile(path).entries(lists)]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ('{"a": [{"x": 1}, 2], "c": [3], "item": [4]}', [{"x": 1}, 2]),
        ('[{"a": [1]}, [2], 3]', [{"a": [1]}, [2], 3]),
        ('{"x": 1}', [{"x": 1}]),
        ('{"x": 1}\n{"a": [2]}\n', [{"x": 1}, {"a": [2]}]),
        ('\ufeff{"x": 1}\n\n{"x"\n', [{"x": 1}, "broken JSON"]),
        ('\ufeff{"a": [5]}', [5]),
        ('{"a": []}', [{"a": []}]),
        ("{}", []),
    ],
)
def test_lists_lines_and_documents_are_told_apart(tmp_path: Path, told: str, found: list[object]) -> None:
    path = tmp_path / "some.json"
    path.write_text(told, encoding="utf-8")
    assert entries(path, "a") == found


def test_what_came_before_the_break_is_told(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text('[1, 2, {"x')
    found = JsonFile(path).entries(())
    assert [next(found), next(found)] == [Entry("[0]", "", 1), Entry("[1]", "", 2)]
    with pytest.raises(SourceMalformed, match="behind 2 entries"):
        next(found)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (b"", "some.json is empty."),
        (b"nonsense", "breaks off behind 0 entries: invalid string in json text."),
        (b"[1, \xff\xfe", "breaks off behind 1 entries: invalid char in json text."),
        (b"[1,, {}]", "breaks off behind 1 entries: unallowed token at this point in JSON text."),
        (b'{"x": ', "breaks off behind 0 entries: premature EOF."),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(tmp_path: Path, told: bytes, said: str) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(told)
    with pytest.raises(SourceMalformed) as raised:
        entries(path)
    message = str(raised.value)
    assert message.endswith(said)
    assert message.startswith(str(path))
    assert not {"\n", "^", "\\"} & set(message)


class Slow:
    """A file that has so many bytes at once."""

    def __init__(self, told: bytes, number: int) -> None:
        self._file, self._number = io.BytesIO(told), number

    def read(self, _size: int = -1, /) -> bytes:
        return self._file.read(self._number)


@pytest.mark.parametrize("number", [1, 2, 5, 6, 7, 11, 12, 13, 64])
def test_half_a_surrogate_pair_becomes_what_cannot_be_stored(number: int) -> None:
    texts = (
        r"\ud83d\ude00", r"\ud800", r"\\ud800", r"\\\ud800x", r"\udC00\uD83D\udE00", r"\ud83d\ud83d\ude00",
        r"\n\\", r"plain \u00e4", r"\uDFFF",
    )  # fmt: skip
    told = "[" + ", ".join(f'"{one}"' for one in texts) + "]"
    wanted = [UNSTORABLE.sub("\x00", json.loads(f'"{one}"')) for one in texts]
    assert [one.value for one in streamed(Slow(told.encode(), number), (), what="it")] == wanted
    assert sum("\x00" in one for one in wanted) == 5


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_large_file_is_not_held(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"large{suffix}"
    values = [json.dumps({"id": number, "text": "word " * 200}) for number in range(16_000)]
    path.write_text("\n".join(values) if suffix == ".jsonl" else f"[{', '.join(values)}]")
    tracemalloc.start()
    count = sum(not isinstance(one, Junk) for one in JsonFile(path).entries(()))
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 16_000
    assert peak < path.stat().st_size / 4


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_an_entry_that_is_too_long_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(files, "LONGEST", 200_000)
    path = tmp_path / f"some{suffix}"
    told = [{"id": 1}, {"text": "x" * 350_000}, {"id": 2}, {"parts": ["y" * 5_000] * 100}, {"id": 3}]
    values = [json.dumps(one) for one in told]
    path.write_text("\n".join(values) if suffix == ".jsonl" else f"[{', '.join(values)}]")
    assert entries(path) == [{"id": 1}, files.TOO_LONG, {"id": 2}, files.TOO_LONG, {"id": 3}]


class Endless:
    """A file with a text that does not end."""

    def __init__(self) -> None:
        self._told, self._left = b'[{"id": 1}, {"text": "', 64 * files.PIECE

    def read(self, size: int = -1, /) -> bytes:
        piece, self._told = self._told[:size] or b"x" * size, self._told[size:]
        self._left -= len(piece)
        assert self._left > 0, "it is still being read"
        return piece


def test_a_text_that_does_not_end_is_not_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST", 4 * files.PIECE)
    found = streamed(Endless(), (), what="it")
    assert next(found) == Entry("[0]", "", {"id": 1})
    with pytest.raises(SourceMalformed, match="it: a text that is too long"):
        next(found)
