"""Text as a terminal shows it: how many columns it takes, what of it may be shown. Pure."""

import json
import unicodedata
from collections.abc import Iterator

JOINER, EMOJI_STYLE = "\u200d", "\ufe0f"
SKIN_TONES = range(0x1F3FB, 0x1F400)
HIDDEN = "\ufffd"  # in place of what would command the terminal
COMMANDING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # categories of what may command it
BESIDE = frozenset({"Mn", "Me", "Cf"})  # categories of characters that take no column of their own
EIGHTHS = " ▏▎▍▌▋▊▉"


def clean(text: str) -> str:
    """One line that cannot command the terminal: what is remembered was written by others."""
    return " ".join("".join(_shown(one) for one in text).split())


def clean_lines(text: str) -> str:
    """The same, with its line ends."""
    return "\n".join("".join(_shown(one) for one in line).rstrip() for line in text.splitlines())


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if (
        category == "Cf"
    ):  # orders to write from right to left and the like; a joiner makes one of two pictures
        return character if character == JOINER else ""
    if category in {"Cc", "Cs"}:
        return " " if character in "\t\n\r\v\f\x85" else HIDDEN
    return " " if category in {"Zl", "Zp"} else character


def escaped(told: str) -> str:
    """JSON that cannot command the terminal, and is the same JSON: what may do so is named by its number."""
    return "".join(
        json.dumps(one)[1:-1] if unicodedata.category(one) in COMMANDING and one != "\n" else one
        for one in told
    )


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(taken for _, taken in _clusters(text))


def cut(text: str, most: int) -> str:
    """The text, or its beginning and `…`, in at most `most` columns."""
    if columns(text) <= most:
        return text
    kept, left = "", most - 1
    for cluster, taken in _clusters(text):
        if taken > left:
            break
        kept, left = kept + cluster, left - taken
    return kept.rstrip() + "…" if most > 0 else ""


def filled(text: str, width: int, *, right: bool = False) -> str:
    """The text with spaces up to `width` columns."""
    spaces = " " * max(0, width - columns(text))
    return spaces + text if right else text + spaces


def wrapped(text: str, width: int | None) -> list[str]:
    """The words of a text in lines of at most `width` columns; None: in one. A longer word is broken."""
    if width is None:
        return [text]
    lines = [""]
    for word in text.split():
        for at, part in enumerate(_broken(word, width)):
            longer = f"{lines[-1]} {part}" if lines[-1] else part
            if at == 0 and columns(longer) <= width:
                lines[-1] = longer
            else:
                lines += [part] if lines[-1] else []
                lines[-1] = part
    return lines


def _broken(word: str, width: int) -> list[str]:
    parts, taken = [""], 0
    for cluster, own in _clusters(word):
        if parts[-1] and taken + own > width:
            parts.append("")
            taken = 0
        parts[-1], taken = parts[-1] + cluster, taken + own
    return parts


def bar(share: float, cells: int) -> str:
    """A bar of `cells` columns of which `share`, up to 1, is full; what is below 0 has another shade."""
    if share < 0:
        return ("░" * round(min(1.0, -share) * cells)).ljust(cells)
    eighths = round(min(1.0, share) * cells * 8)
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (EIGHTHS[rest] if rest else "")
    return drawn + " " * (cells - len(drawn))


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """What is seen as one character, with its columns."""
    cluster, taken, joined = "", 0, False
    for character in text:
        own = _columns(character)
        if cluster and (own == 0 or joined):
            cluster += character
            taken = 2 if character == EMOJI_STYLE else taken
        else:
            if cluster:
                yield cluster, taken
            cluster, taken = character, own
        joined = character == JOINER
    if cluster:
        yield cluster, taken


def _columns(character: str) -> int:
    if unicodedata.category(character) in BESIDE or ord(character) in SKIN_TONES:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
