"""The lines of an event stream, however they are cut on the way."""

import pytest
from strata_memory import frames
from strata_memory.errors import InvalidAnswer
from strata_memory.frames import Frame, Frames

FRAMES = {
    "two lines of data": (b"data: a\ndata: b\n\n", [Frame("", "message", "a\nb")]),
    "a comment": (b": ping\ndata: a\n:\n\n", [Frame("", "message", "a")]),
    "CR LF": (b"id: 1\r\nevent: e\r\ndata: a\r\n\r\n", [Frame("1", "e", "a")]),
    "CR": (b"data: a\r\rdata: b\r\r", [Frame("", "message", "a"), Frame("", "message", "b")]),
    "all kinds of ends": (b"data: a\r\ndata: b\rdata: c\n\r\n", [Frame("", "message", "a\nb\nc")]),
    "a mark at the beginning": (b"\xef\xbb\xbfdata: a\n\n", [Frame("", "message", "a")]),
    "a mark elsewhere": (b"data: \xef\xbb\xbfa\n\xef\xbb\xbfdata: b\n\n", [Frame("", "message", "\ufeffa")]),
    "unknown fields": (b"data: a\ndatum: b\nDATA: c\n data: d\n\n", [Frame("", "message", "a")]),
    "no colon": (b"data\ndata\n\n", [Frame("", "message", "\n")]),
    "one space": (b"data:  a\n\ndata:b:c\n\n", [Frame("", "message", " a"), Frame("", "message", "b:c")]),
    "an id alone": (b"id: 1\n\ndata: a\n\n", [Frame("1", "message", None), Frame("1", "message", "a")]),
    "an id with NUL": (b"id: 1\nid: 2\0\ndata: a\n\n", [Frame("1", "message", "a")]),
    "no id again": (b"id: 1\n\nid\n\n", [Frame("1", "message", None), Frame("", "message", None)]),
    "beyond ASCII": ("data: Grüße 🙂\n\n".encode(), [Frame("", "message", "Grüße 🙂")]),
    "no UTF-8": (b"data: \xff\n\n", [Frame("", "message", "\ufffd")]),
    "half a frame": (b"data: a\n\nid: 2\ndata: b\n", [Frame("", "message", "a")]),
}


def read(stream: bytes, size: int) -> list[Frame]:
    parser = Frames()
    parts = [stream[place : place + size] for place in range(0, len(stream), size)]
    return [frame for part in parts for frame in parser.feed(part)]


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_are_read_as_the_standard_says_however_they_are_cut(kind: str) -> None:
    stream, frames = FRAMES[kind]
    assert {size: read(stream, size) for size in range(1, len(stream) + 1)} == dict.fromkeys(
        range(1, len(stream) + 1), frames
    )


def test_a_frame_that_a_cr_ends_waits_for_nothing() -> None:
    parser = Frames()
    assert list(parser.feed(b"data: a\r\r")) == [Frame("", "message", "a")]
    assert list(parser.feed(b"\ndata: b\r\n\r")) == [Frame("", "message", "b")]


def test_a_stream_is_resumed_behind_whole_frames_only() -> None:
    parser = Frames("1")
    assert list(parser.feed(b"id: 2\ndata: a\n")) == []
    assert parser.last_id == "1"
    list(parser.feed(b"\n"))
    assert parser.last_id == "2"


@pytest.mark.parametrize(
    ("line", "seconds"),
    [(b"retry: 1500", 1.5), (b"retry:0", 0), (b"retry: 1.5", None), (b"retry: -1", None), (b"retry", None)],
)
def test_the_server_says_when_to_come_back_in_milliseconds(line: bytes, seconds: float | None) -> None:
    parser = Frames()
    list(parser.feed(line + b"\n"))
    assert parser.retry == seconds


@pytest.mark.parametrize("drop", [b"a", b"data: a\n", b":\n"])
def test_a_frame_without_end_is_not_kept(drop: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "LONGEST", 1_000)
    with pytest.raises(InvalidAnswer, match="longer than 1000 bytes"):
        read(drop * 10_000, len(drop))
