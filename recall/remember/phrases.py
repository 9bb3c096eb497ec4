"""Cutting a value out of what somebody said: names, places, terms, dates, keys. Pure."""

import re

from recall.remember.lexicon import (
    AFTER_PLACES,
    CITIES,
    COUNTRIES,
    LANGUAGES,
    NO_NAMES,
    NO_PLACES,
    PARTICLES,
    SPELLINGS,
)

LONGEST_TERM, MOST_WORDS = 80, 7
LONGEST_KEY = 60
TRIMMED = " \t\n.,;:!?…\"'`*_~()[]-"
CUT = re.compile(
    r"(?i)\s*(?:[;:()!…]|,(?!\d{3}\b))|"
    r"\s+(?:because|since|but|so that|so|when|whenever|while|unless|although|though|"
    r"who|which|where|"
    r"as well|right now|these days|at the moment|for now|any ?more|nowadays|currently|please|thanks?|"
    r"by the way|btw|"
    r"lol|haha|too|instead|if possible|again|at the end|is|are|was)(?![\w-])|\s--?\s|\s+now\Z|\.\s|"
    r"[\U0001F300-\U0001FAFF]"
)
URL = re.compile(r"(?i)\b(?:[a-z][a-z+.-]{1,15}://|www\.)\S*[^\s.,;:!?()\[\]\"']")
ARTICLE = re.compile(r"(?i)(?:a|an|the|some|my|our)\s+")
NAME = re.compile(r"[^\W\d_]+(?:[-'.][^\W\d_]+)*\.?")
TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof"))
LATELY = re.compile(r"(?i)\s+now\Z")
AND = re.compile(r"\s*(?:,|&|\band\b|\bund\b|\by\b|\bet\b)\s*")
WORD = re.compile(r"[\w+#]+(?:['-]\w+)*")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
DAY = r"\d{1,2}(?:st|nd|rd|th|\.)?"
DATE = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[./]\d{{1,2}}(?:[./](?:\d{{4}}|\d{{2}}))?|"
    rf"(?:the )?{DAY}(?: of)? {MONTH}"
    rf"(?:,? \d{{4}})?|{MONTH} (?:the )?{DAY}(?:,? \d{{4}})?)(?![\w/])"
)


def term(raw: str) -> str:
    """What is liked, preferred, used: up to where the sentence goes on. Empty if it is too long for one."""
    links = [found.span() for found in URL.finditer(raw)]
    cuts = (max(found.start() - 1, 0) for found in CUT.finditer(f" {raw}"))
    cut = next((at for at in cuts if not any(begin <= at < end for begin, end in links)), len(raw))
    kept = LATELY.sub("", raw[:cut].strip(TRIMMED))
    return kept if 0 < len(kept) <= LONGEST_TERM and kept.count(" ") < MOST_WORDS else ""


def bare(value: str) -> str:
    """Without the article before it."""
    return ARTICLE.sub("", value, count=1) if ARTICLE.match(value) else value


def slug(value: str) -> str:
    """A term as part of a key: its words in lower case, joined; empty if it has none."""
    words = [word.replace("'", "").replace("-", "_") for word in WORD.findall(bare(value).lower())]
    words = [SPELLINGS.get(word, word) for word in words]  # "colour" and "color" are one slot
    return "_".join(words)[:LONGEST_KEY].strip("_")


def name(raw: str, *, plain: bool, most: int = 3) -> str:
    """A person's name at the beginning: capitalised words, or one of a writer who uses no capitals."""
    words: list[str] = []
    for word in raw.strip(" \"'*_").split()[: most + 2]:
        abbreviated = len(word) <= 3 or word[:-1].lower() in TITLES
        mark = word[-1:] in ",;:!?)…" or (word.endswith(".") and not abbreviated)
        core = word.strip(TRIMMED)
        if not NAME.fullmatch(core) or (core.lower() in NO_NAMES and not (words and core[:1].isupper())):
            break
        if not (core[:1].isupper() or (core.lower() in PARTICLES and words) or (plain and not words)):
            break
        words.append(f"{core}." if word[:-1].lower() in TITLES else core)
        if mark or len(words) == most:
            break
    while words and words[-1].lower() in PARTICLES and not words[-1][:1].isupper():
        words.pop()
    if not words or (len(words[0]) < 2 and len(words) < 2) or words[0].lower() in LANGUAGES:
        return ""
    return words[0].capitalize() if plain and words[0].islower() else " ".join(words)


def names(raw: str, *, plain: bool) -> str:
    """Several names, as "Ann, Bob and Cleo" tells them."""
    found = []
    for part in AND.split(raw, maxsplit=6):
        one = name(part, plain=plain, most=2)
        if not one:
            break
        found.append(one)
        if len(part.split()) > len(one.split()):
            break
    return ", ".join(found)


def place(raw: str, *, plain: bool) -> str:
    """A town, region or country at the beginning, with the larger ones behind it."""
    parts = []
    for part in raw.split(",", maxsplit=2)[:3]:
        one = _place(part.strip(), plain=plain)
        if not one:
            break
        parts.append(one)
        if len(part.split()) > len(one.split()):
            break
    return ", ".join(parts)


def ends_there(raw: str, value: str) -> bool:
    """Whether the place is all that is named, and not the beginning of a longer name: "the IT department"."""
    after = raw[raw.lower().find(value.lower()) + len(value) :]
    words = after.split()
    return (
        not words
        or after[0] in ".,;:!?)"
        or (after[0] == " " and words[0].strip(TRIMMED).lower() in AFTER_PLACES)
    )


def is_known(value: str) -> bool:
    """Whether the place is a country or one of the larger towns."""
    town = value.partition(",")[0].lower()
    return town in CITIES or is_country(town)


def is_country(value: str) -> bool:
    return value.lower() in COUNTRIES


def languages(raw: str) -> list[str]:
    """The languages named at the beginning, in English."""
    found: list[str] = []
    for part in AND.split(raw, maxsplit=8):
        words = [word.strip(TRIMMED).lower() for word in part.split()]
        words = [
            word for word in words if word not in {"fluent", "fluently", "native", "both", "also", "a", "bit"}
        ]
        if not words:
            continue
        known = LANGUAGES.get(words[0]) or (LANGUAGES.get(words[-1]) if len(words) == 2 else None)
        if known is None:
            break
        if known not in found:
            found.append(known)
        if len(words) > 1 and words[0] in LANGUAGES:
            break
    return found


def _place(raw: str, *, plain: bool) -> str:
    words: list[str] = []
    for word in raw.split()[:6]:
        core = word.strip(TRIMMED)
        if not core or not (NAME.fullmatch(core) or core == "St"):
            break
        capital = core[:1].isupper()
        connects = core.lower() in PARTICLES
        if (
            not capital
            and not connects
            and not (plain and len(words) < 2 and core not in NO_PLACES | AFTER_PLACES)
        ):
            break
        words.append(core)
        if word[-1:] in ".!?;" and len(core) > 2:
            break
    while words and not words[-1][:1].isupper() and (words[-1].lower() in PARTICLES or not plain):
        words.pop()
    if not words or words[0].lower() in NO_PLACES - {"the"} or (len(words) == 1 and len(words[0]) < 2):
        return ""
    return " ".join(words) if not plain else " ".join(word.capitalize() for word in words)
