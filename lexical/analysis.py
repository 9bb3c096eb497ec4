"""Text as lexemes, the units that are indexed and searched. Pure.

A word is a run of letters, digits and combining marks; everything else separates, `_` and emoji included,
as in SQLite's unicode61 tokenizer. `camelCase` is therefore one word and `snake_case` two. A word is folded
(compatibility forms, diacritics, case) and stemmed by Snowball's English stemmer. Stop words stay: whoever
searches decides about them.

Scripts that write no spaces between words, and Hangul, whose words carry their particles, become overlapping
pairs of characters.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import Stemmer

from lexical.stop_words import STOP_WORDS

LONGEST_LEXEME = 64  # characters; a SHA-256 in hex fits. PostgreSQL's tsvector takes less than 2 KB.
CACHED_STEMS = 32_768  # words, at most some 10 MB; looking one up takes a seventh of stemming it
LAST_MARK = 0x1F000  # all combining marks are below, apart from variation selectors

# Scripts whose words are not set apart. Assigned letters are picked from these blocks.
UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x31FF),  # Han radicals and signs, Kana, Bopomofo
    (0x3400, 0x9FFF),  # Han
    (0xA960, 0xA97F),  # Hangul letters
    (0xAC00, 0xD7FF),  # Hangul syllables
    (0xF900, 0xFAFF),  # Han
)
RARE_HAN = r"\U00020000-\U0002fffd\U00030000-\U0003fffd"  # as the inside of a regular expression's class


def analyse(text: str) -> list[str]:
    """The lexemes of `text` in order of occurrence, each of 1 to 64 characters. Any string is accepted."""
    if not text.isascii():
        text = _fold(text)
    if text.isascii():
        return [_stem(word[:LONGEST_LEXEME]) for word in text.translate(_ASCII).split()]
    return list(_lexemes(text.replace("_", " ")))


def analyse_query(text: str) -> tuple[tuple[str, ...], ...]:
    """One phrase per word between white space: `pool-size` is the phrase `pool size`. Words without lexemes,
    such as `?`, are dropped."""
    return tuple(tuple(phrase) for word in text.split() if (phrase := analyse(word)))


def is_stop_word(lexeme: str) -> bool:
    """Whether an English function word has this lexeme."""
    return lexeme in _STOP_LEXEMES


def _lexemes(text: str) -> Iterator[str]:
    for position, part in enumerate(_UNSPACED_RUN.split(text)):
        if position % 2:  # what a split finds stands between what it parts
            yield from _pairs(_UNSPACED_CHARACTER.findall(part))
        else:
            for word in _WORD.findall(part):
                yield _stem(word[:LONGEST_LEXEME])


def _pairs(characters: list[str]) -> Iterator[str]:
    """Overlapping pairs; a single character is itself."""
    if len(characters) == 1:
        yield characters[0][:LONGEST_LEXEME]
    for first, second in pairwise(characters):
        yield (first + second)[:LONGEST_LEXEME]


def _fold(text: str) -> str:
    """Compatibility forms, diacritics, case and invisible characters made alike.

    Marks that only modify a letter go: accents, Arabic vowel points, Hebrew points. Marks that are letters of
    their script stay: vowel signs and viramas of Indic scripts, Thai vowels and tones, voicing of Kana, the
    Cyrillic й (but ё loses its dots, as in most people's writing).
    """
    text = _RAISED_SIGN.sub(" ", _MANY_NONSTARTERS.sub(r"\1", text))
    text = _DROPPED.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", text).casefold()


@lru_cache(maxsize=CACHED_STEMS)
def _stem(word: str) -> str:
    stem: str = _own_stemmer().stemWord(word)
    return stem


def _own_stemmer() -> Stemmer.Stemmer:
    """This thread's stemmer: one has inner state and must not be called by two threads at a time."""
    try:
        return _threads.stemmer
    except AttributeError:
        _threads.stemmer = Stemmer.Stemmer("english", 0)  # its own cache is switched off
        return _threads.stemmer


def _only_modifies(mark: str) -> bool:
    """Whether a combining mark can go without making another word of it.

    By canonical combining class: overlays (1), Hebrew and Arabic points (10 to 36) and whatever is attached
    around a letter (200 and above) modify. Class 0 holds vowel signs, 7 to 9 nukta, Kana voicing and virama,
    84 to 132 the vowels and tones of Telugu, Thai, Lao and Tibetan. Enclosing marks draw a frame.
    """
    placed = unicodedata.combining(mark)
    return placed == 1 or 10 <= placed <= 36 or placed >= 200 or unicodedata.category(mark) == "Me"


def _ranges(characters: Iterable[str]) -> str:
    """Ascending characters as the inside of a regular expression's class."""
    ranges: list[list[int]] = []
    for code in map(ord, characters):
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


_threads = threading.local()

_ASCII = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))

_marks = [char for char in map(chr, range(0x300, LAST_MARK)) if unicodedata.category(char)[0] == "M"]
_nonstarters = _ranges(char for char in _marks if unicodedata.combining(char))
_unspaced = RARE_HAN + _ranges(
    char
    for first, last in UNSPACED_BLOCKS
    for char in map(chr, range(first, last + 1))
    if char.isalnum() and not char.isdecimal()
)

# Characters that are not seen and part no words: soft hyphen, joiners, direction and variation selectors.
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
)
_TATWEEL = r"\u0640"  # lengthens an Arabic word for looks
_modifying = _ranges(char for char in _marks if _only_modifies(char))
_DROPPED = re.compile(rf"(?!(?<=[Ии])\u0306)[{_INVISIBLE}{_TATWEEL}{_modifying}]")  # not the breve of й

_RAISED_SIGN = re.compile("[™℠]")  # would else become letters of the word before

# Normalisation sorts marks in quadratic time; no letter of any language has as many (UAX #15, section 13).
_MANY_NONSTARTERS = re.compile(f"([{_nonstarters}]{{30}})[{_nonstarters}]+")

_WORD = re.compile(rf"\w[\w{_ranges(_marks)}]*")
_UNSPACED_RUN = re.compile(f"([{_unspaced}][{_unspaced}{_ranges(_marks)}]*)")
_UNSPACED_CHARACTER = re.compile(f"[{_unspaced}][{_ranges(_marks)}]*")

_STOP_LEXEMES = frozenset(lexeme for word in STOP_WORDS for lexeme in analyse(word))
