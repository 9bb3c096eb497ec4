"""Social security numbers of the USA: named, or in their three groups. Pure."""

import re
from collections.abc import Iterator

from screening.findings import Finding
from screening.patterns import Haystack, compile_pattern

SSN = compile_pattern(
    r"\b(?:ssn|ss#|socials?|social[ _-]?security)(?:[ _-]?(?:numbers?|no\.?|nr\.?|#))?[\"'`]?"
    r"(?:[\s:=#,-]|\b(?:is|was|it's|it|are|my|the)\b){1,6}[\"'`]?(\d{3}[ -]?\d{2}[ -]?\d{4})(?:\D|$)"
)
SSN_PART = compile_pattern(
    r"\blast (?:4|four)(?: digits)? of (?:my|his|her|their|the) (?:ssn|social(?: security(?: number)?)?)\b"
    r"(?:[\s:=#,]|\b(?:is|are|was|were)\b){1,6}(\d{4})(?:\D|$)"
)
SSN_GROUPS = compile_pattern(r"(?:^|[^\pL\pN_.+/-])(\d{3}-\d{2}-\d{4})(?:[^\pL\pN_/-]|$)")
NUMBERED = re.compile(
    r"(?i)(?:order|invoice|tracking|ticket|serial|part|case|reference|ref|sku|model|item|phone|tel|call|fax|isbn)"
    r"(?:[ -]?(?:number|no\.?|nr\.?|id|#|code))?(?: is)?[ :=#]{0,3}$"
)
LABELLED = 32  # characters before a number that may say what it is


def find_social_security(text: Haystack) -> Iterator[Finding]:
    """Those in a folded text that can have been issued."""
    for pattern in (SSN, SSN_PART):
        for hit in text.find(pattern):
            if len(hit.group(1)) == len("0000") or _is_issued(hit.group(1)):
                yield Finding("secret", "ssn", *hit.span(1))
    for hit in text.find(SSN_GROUPS):
        start, end = hit.span(1)
        if _is_issued(hit.group(1)) and not NUMBERED.search(text.text[max(start - LABELLED, 0) : start]):
            yield Finding("secret", "ssn", start, end)


def _is_issued(number: str) -> bool:
    digits = "".join(filter(str.isdecimal, number))
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and area[0] != "9" and group != "00" and serial != "0000"
