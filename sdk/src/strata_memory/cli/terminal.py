"""Where the commands write: people's lines and tables, or JSON for programs."""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from .tables import Column, table
from .texts import clean, clean_lines, cut, escaped, wrapped

WIDEST = 100  # columns of a sentence; longer lines are hard to read
STYLES = {"good": "32", "bad": "31", "doubt": "33", "dim": "2", "head": "1"}


class Unwritable(Exception):
    """What is said cannot be written: the disk is full, or the terminal is gone."""


class Terminal:
    """`width` is None where nobody looks: a file or a pipe gets whole lines, unless COLUMNS is set."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out, self._err = out, err
        self._is_seen = out.isatty()
        sized = self._is_seen or os.environ.get("COLUMNS")
        self.width = shutil.get_terminal_size().columns if sized else None
        self._colour = self._is_seen and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def line(self, text: str = "", style: str = "") -> None:
        """A line of ours; what others wrote goes through `clean` first."""
        self._write(self.paint(text, style) + "\n")

    def block(self, text: str) -> None:
        """What others wrote, with its lines."""
        self._write(clean_lines(text) + "\n")

    def fitted(self, text: str) -> str:
        """As much of a line as fits."""
        return text if self.width is None else cut(text, self.width)

    def wrapped(self, text: str, *, margin: int = 0) -> list[str]:
        """A sentence in as many lines as it takes beside a margin of so many columns."""
        return wrapped(text, None if self.width is None else max(1, min(self.width, WIDEST) - margin))

    def sentence(self, text: str, style: str = "") -> None:
        """A sentence of ours, in as many lines as it takes."""
        for line in self.wrapped(text):
            self.line(line, style)

    def paint(self, text: str, style: str) -> str:
        """The text in a colour, where there is any."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and self._colour else text

    def table(self, heads: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """A table; its heading stands out."""
        head, *lines = table(heads, rows, width=self.width)
        self.line(head, "head")
        for line in lines:
            self.line(line)

    def json(self, value: Any, *, in_one_line: bool = False) -> None:
        """A value as JSON: to a file as it is, to a terminal so that it cannot command it."""
        told = json.dumps(value, ensure_ascii=False, indent=None if in_one_line else 2)
        self._write((escaped(told) if self._is_seen else told) + "\n")

    def complain(self, text: str) -> None:
        """Why a command failed, beside its output."""
        self._err.write(f"strata: {clean(text)}\n")

    def flush(self) -> None:
        """What was written is out. Raises BrokenPipeError, like whatever writes, and Unwritable."""
        self._write("", at_once=True)

    def _write(self, text: str, *, at_once: bool = False) -> None:
        try:
            self._out.write(text)
            if at_once:
                self._out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Unwritable(error.strerror or str(error)) from error


def standard() -> Terminal:
    """That of this process. What its encoding lacks is shown as `?`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    return Terminal(
        *(stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))
    )  # one is closed
