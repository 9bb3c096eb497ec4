"""Characters that look like others, made the same before anything is looked for. Pure."""

import re
import unicodedata

PLANES = 0x20000  # characters above are ideographs, tags and private
APOSTROPHES = "\u2018\u2019\u201a\u201b\u00b4"
QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb"
HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)


def _table() -> dict[int, str]:
    table = {}
    for code in range(0x80, PLANES):
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Nd":
            table[code] = str(unicodedata.decimal(character))
        elif category in {"Zs", "Zl", "Zp", "Cf"}:
            table[code] = " "
        elif category == "Pd":
            table[code] = "-"
        elif 0xFF01 <= code <= 0xFF5E:  # full-width forms of ASCII
            table[code] = chr(code - 0xFEE0)
    return table | dict.fromkeys(map(ord, APOSTROPHES), "'") | dict.fromkeys(map(ord, QUOTES), '"')


TABLE = _table()


def fold(text: str) -> str:
    """The text with digits, spaces, dashes, quotation marks and full-width letters in their ASCII form, and
    with as many characters as before."""
    return text if text.isascii() else text.translate(TABLE)


def plain(text: str) -> str:
    """Likewise, with ligatures and letters of mathematics as ordinary ones and without what is not shown:
    for a search that need not say where."""
    return text if text.isascii() else fold(unicodedata.normalize("NFKC", HIDDEN.sub("", text)))
