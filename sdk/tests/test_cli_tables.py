"""Tables and texts fit a terminal, whatever is written in them."""

import io
import json

import pytest
from strata_memory.cli.tables import Column, table
from strata_memory.cli.terminal import Terminal
from strata_memory.cli.texts import bar, clean, clean_lines, columns, cut, wrapped

HEADS = (Column("#", right=True), Column("text", shrinks=True), Column("when"))


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("plain", 5),
        ("日本語", 6),
        ("\uff57\uff49\uff44\uff45", 8),
        ("cafe\u0301", 4),
        ("👍🏽", 2),
        ("👩‍👩‍👧", 2),
        ("❤️", 2),
        ("", 0),
    ],
)
def test_a_text_takes_the_columns_that_a_terminal_gives_it(text: str, taken: int) -> None:
    assert columns(text) == taken


@pytest.mark.parametrize("most", range(1, 9))
def test_what_is_cut_fits_and_no_character_is_halved(most: int) -> None:
    whole = "日本👩‍👩‍👧cafe\u0301"
    shown = cut(whole, most)
    assert columns(shown) <= most
    assert shown.endswith("…")
    assert whole.startswith(shown[:-1])
    assert not shown[:-1].endswith("\u200d")
    assert cut(whole, 10) == whole


def test_what_commands_a_terminal_is_made_visible() -> None:
    assert clean("a\x1b[2Jb\x07 \x9b31m\u202ec\u2028d\r\n  e") == "a\ufffd[2Jb\ufffd \ufffd31mc d e"
    assert clean_lines("one\x1b]0;x\x07\n\n  two\u2066") == "one\ufffd]0;x\ufffd\n\n  two"
    assert clean("👩‍👩‍👧") == "👩‍👩‍👧"


def test_columns_stand_below_each_other_and_numbers_to_the_right() -> None:
    lines = table(HEADS, [["1", "日本語", "now"], ["10", "ab", ""]])
    assert lines == [" #  text    when", " 1  日本語  now", "10  ab      -"]


@pytest.mark.parametrize("width", [5, 20, 33, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    rows = [["1", "a long sentence " * 9, "2026-03-01"], ["2", "長い文" * 20, "2026-03-02"]]
    lines = table(HEADS, rows, width=width)
    assert max(map(columns, lines)) <= width
    if width >= 33:
        assert all(line.endswith(row[2]) for line, row in zip(lines[1:], rows, strict=True))


def test_without_a_terminal_nothing_is_cut() -> None:
    long = "word " * 100
    assert table(HEADS, [["1", long, "now"]])[1].split() == ["1", *long.split(), "now"]


def test_the_widest_column_gives_way_first() -> None:
    heads = (Column("a", shrinks=True), Column("b", shrinks=True))
    assert table(heads, [["short", "x" * 50]], width=30)[1] == "short  " + "x" * 22 + "…"


def test_what_would_not_be_readable_beside_the_rest_stands_below_it() -> None:
    heads = (Column("#", right=True), Column("when"), Column("text", shrinks=True))
    rows = [["1", "2026-03-01 09:30", "a long sentence " * 9], ["2", "2026-03-02 09:30", "short"]]
    assert table(heads, rows, width=30) == [
        "#  when",
        "1  2026-03-01 09:30",
        "  a long sentence a long sent…",
        "2  2026-03-02 09:30",
        "  short",
    ]


def test_two_texts_that_would_not_be_readable_stand_below_each_other() -> None:
    heads = (Column("#"), Column("when"), Column("said", shrinks=True), Column("meant", shrinks=True))
    rows = [["1", "2026-03-01 09:30", "one " * 9, "two " * 9], ["2", "2026-03-02 09:30", "three", "four"]]
    assert table(heads, rows, width=24) == [
        "#  when",
        "1  2026-03-01 09:30",
        "  one one one one one o…",
        "  two two two two two t…",
        "2  2026-03-02 09:30",
        "  three",
        "  four",
    ]


def test_where_there_is_no_room_a_column_that_says_nothing_is_left_out() -> None:
    heads = (Column("session"), Column("agent"), Column("ended"))
    rows = [["talk", "", ""], ["other", "", "2026"]]
    assert table(heads, rows, width=24) == [
        "session  agent  ended",
        "talk     -      -",
        "other    -      2026",
    ]
    assert table(heads, rows, width=20) == ["session  ended", "talk     -", "other    2026"]


@pytest.mark.parametrize(
    ("share", "drawn"),
    [
        (0, "    "),
        (1, "████"),
        (0.5, "██  "),
        (0.03, "▏   "),
        (7, "████"),
        (-0.5, "░░  "),
        (-0.03, "    "),
        (-7, "░░░░"),
    ],
)
def test_a_bar_is_as_long_as_its_share_and_what_is_taken_off_looks_other(share: float, drawn: str) -> None:
    assert bar(share, 4) == drawn


def test_a_sentence_takes_as_many_lines_as_it_needs() -> None:
    assert wrapped("one two 日本語 four", 8) == ["one two", "日本語", "four"]
    assert wrapped("a verylongword b", 6) == ["a", "verylo", "ngword", "b"]
    assert wrapped("日本語", 5) == ["日本", "語"]
    assert wrapped("whatever it takes", None) == ["whatever it takes"]
    assert wrapped("", 8) == [""]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_json_is_as_it_is_in_a_file_and_the_same_but_harmless_on_a_terminal() -> None:
    value = {"text": "日本 \x9b2J \x9d0;x\x07 \u202e \x7f \u2028 \U000e0041", "more": [1]}
    file, screen = io.StringIO(), Screen()
    for out in (file, screen):
        Terminal(out, io.StringIO()).json(value)
        assert json.loads(out.getvalue()) == value
    assert "\u202e" in file.getvalue()
    shown = screen.getvalue()
    assert "日本" in shown
    assert not set("\x9b\x9d\x07\u202e\x7f\u2028\U000e0041") & set(shown)
    assert shown.count("\n") == file.getvalue().count("\n") == 6
