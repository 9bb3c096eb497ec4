"""The second password of a sentence, and the third: "… and tulip99", "but I changed it to …", "the old one
was …". Pure; what is looked at behind a password is bounded."""

import re
from collections.abc import Iterator

from screening.findings import Finding
from screening.password_values import CLAUSE_END, MEASURES, PLAIN, is_silent, looks_made_up
from screening.secrets import is_placeholder

LONGEST_LOOK = 240  # characters behind a password
MOST_SENTENCES = 3  # that go on about it
NEXT = 24  # characters behind a value that say what it is
QUOTES = "\"'`"
TRAILING = f".,;:)]}}>!?{QUOTES}"
IS = r"(?:'s|\s(?:is|was|are|were|will\sbe|used\sto\sbe|ist|war|es|era|est|était))"
VALUE = r"(?:\"[^\"\n]{1,128}\"|'[^'\n]{1,128}'|`[^`\n]{1,128}`|[^\s\"'`(\[{,;]\S{0,127})"
# What says that a password follows, also if it is an ordinary word.
SAYS = (
    r"(?:chang|switch|reset|set|updat|rotat|turn|mov|replac|geänder)\w{0,4}\s"
    r"(?:(?:it|that|them|this|one|mine|both)\s)?(?:back\s)?(?:to|into|with|by|auf|zu|in)\s|"
    r"(?:now|then|today|currently|before(?:\sthat)?|earlier|previously|jetzt|vorher|früher|ahora|antes|maintenant|"
    rf"avant)[,:]?\s(?:(?:it|that){IS}|is(?:\sit)?|was|ist(?:\ses)?|war(?:\ses)?|es|c'est)\s|"
    rf"(?:it|that|this|which){IS}\s(?:(?:now|still|then)\s)?|"
    r"(?:the|my|an?|der|die|das|mein|el|la|le)\s(?:old|new|other|second|third|previous|former|first|last|next|"
    r"current|backup|spare|one|alte|neue|andere|otra|nueva|vieja|autre|ancien|nouveau|"
    r"[\w-]{2,20}(?=\sone\b))(?:\sone)?"
    rf"(?:\s(?:for|on|of|at)(?:\s[\w.-]{{1,20}}){{1,3}}?)?(?:{IS}|\s?[=:])\s|"
    rf"(?:mine|his|hers|yours|theirs|ours){IS}\s|"
    r"(?:for|on|at|of|für|para|pour)(?:\s(?:the|my|our|your))?(?:\s[\w.-]{1,20}){1,3}?"
    rf"(?:(?:,?\sit)?{IS}|\s?[=:]|(?=\s\d))\s"
)
# What may lead to one that is spelt like no word.
JOINS = (
    r"(?:[,;/|&+\n]|\b(?:and|or|und|oder|y|o|et|ou|then|before\sthat|from|to|not|with)\b|[\w.-]{2,20}\s?[:=])"
    r"[\s*•-]{0,4}(?:(?:and|or|also|maybe|then|sometimes|even|with|for)\s){0,2}"
)
LINK = re.compile(rf"(?i)(?:\b(?P<says>{SAYS})|(?P<joins>{JOINS}))(?P<value>{VALUE})")
BESIDE = re.compile(r"[\"'`]?\s{1,3}([^\W\d_][^\s:=./@]*\d[^\s:=/@]*)(?=\s|\Z)")
DIGITS = re.compile(r"\d[\d -]{2,12}")
NO_PASSWORD = re.compile(
    r"(?i)\d{1,4}(?:[:.]\d\d)?(?:am|pm|st|nd|rd|th|h|k|%|x|kg|km|min|ms|mb|gb)\Z|//|(?:[\w-]+\.)+[a-z]{2,6}(?:[:/]\S*)?\Z"
)
# What tells of it is found by itself.
NAMED = re.compile(
    r"(?i)pass[\s-]?(?:w|phrase|code)|\bpwd?\b|\bpin\b|kennwort|contrase|\bclave\b|mot de passe|\bssn\b|senha"
)
ENDS = re.compile(r"[.!?](?=\s|\Z)|\n")
GOES_ON = re.compile(
    r"(?i)\s*(?:(?:and|but|or|then|now|before|previously|earlier|jetzt|vorher)\b|(?:it|that|this)(?:'s|\s(?:is|was))|"
    r"(?:i|we)\s(?:(?:just|have|then|now|recently)\s)*(?:chang|switch|reset|set|updat|rotat)|"
    r"(?:the|my)\s(?:old|new|other|second|third|previous|former|current|backup)\b|[-*•]\s)"
)


def find_further(text: str, at: int, *, kind: str, plural: bool = False) -> Iterator[Finding]:
    """Those behind the password or PIN that ends at `at`. `plural`: several were announced, so that a list of
    ordinary words is one of passwords."""
    end = _end(text, at)
    behind = at  # the last one
    beside = _beside(text, at, end)
    while True:
        if beside is None:
            link = LINK.search(text, at, end)
            if link is None:
                return
            start, stop = _core(link)
            after, said, listed = text[stop : stop + NEXT], bool(link["says"]), link.start() <= behind + 1
            if not _is_one(text[start:stop], after, kind=kind, said=said, listed=listed, plural=plural):
                at = link.start() + 1
                beside = None if said else _beside(text, stop, end)
                continue
            beside = (start, stop)
        yield Finding("secret", kind, *beside)
        at = behind = beside[1]
        beside = None


def _beside(text: str, at: int, end: int) -> tuple[int, int] | None:
    """Where one stands beside its name: "gitlab rose99"."""
    found = BESIDE.match(text, at, end)
    value = found[1].rstrip(TRAILING) if found else ""
    if found is None or not looks_made_up(value):
        return None
    return found.start(1), found.start(1) + len(value)


def _end(text: str, at: int) -> int:
    """Where what is said of it ends: with the sentence, unless the next one goes on, or before what is found
    by itself."""
    end, begin = min(at + LONGEST_LOOK, len(text)), at
    for _ in range(MOST_SENTENCES):
        ended = ENDS.search(text, begin, end)
        if ended is None or not GOES_ON.match(text, ended.end(), end):
            end = ended.start() if ended else end
            break
        begin = ended.end()
    named = NAMED.search(text, at, end)
    return named.start() if named else end


def _core(link: re.Match[str]) -> tuple[int, int]:
    start, stop = link.span("value")
    value = link["value"]
    if value[0] in QUOTES and value[0] == value[-1] and len(value) > 2:
        return start, stop
    return start, stop - (len(value) - len(value.rstrip(TRAILING)))


def _is_one(value: str, after: str, *, kind: str, said: bool, listed: bool, plural: bool) -> bool:
    if len(value) < 3 or is_placeholder(value):
        return False
    if kind == "pin":
        ended = CLAUSE_END.match(after) and not MEASURES.match(after)
        return bool(DIGITS.fullmatch(value) and ended and (said or listed))
    if value[0] in QUOTES:
        return (said or listed) and after.lstrip()[:1] not in {":", "="}
    if value.isdecimal():
        return said and len(value) >= 4 and not MEASURES.match(after)
    if looks_made_up(value):
        return not NO_PASSWORD.match(value)
    ordinary = PLAIN.match(value) and is_silent(value) and CLAUSE_END.match(after)
    return bool(ordinary and (said or (listed and plural)))
