"""Payment cards: their numbers, what is left of them beside card words, and their check codes. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from screening.findings import Finding
from screening.patterns import Haystack, compile_pattern, words_of

# Issuers, by the lengths of their numbers: the first digits, from and to.
RANGES = (
    ((13, 16, 19), (("4", "4"),)),  # Visa
    ((16,), (("51", "55"), ("2221", "2720"))),  # Mastercard
    ((15,), (("34", "34"), ("37", "37"))),  # American Express
    ((14, 16, 17, 18, 19), (("300", "305"), ("3095", "3095"), ("36", "36"), ("38", "39"))),  # Diners Club
    ((16, 17, 18, 19), (("6011", "6011"), ("644", "659"), ("622126", "622925"))),  # Discover
    ((16, 17, 18, 19), (("62", "62"), ("3528", "3589"), ("60", "60"), ("81", "81"))),  # UnionPay, JCB, RuPay
    ((13, 14, 15, 16, 17, 18, 19), (("5018", "5018"), ("5020", "5020"), ("5038", "5038"), ("5893", "5893"),
                                    ("6304", "6304"), ("6759", "6759"), ("6761", "6763"))),  # Maestro
    ((16,), (("2200", "2204"), ("9792", "9792"))),  # Mir, Troy
)  # fmt: skip
SHORTEST, LONGEST = 13, 19
MOST_GROUPS = 16
FIRST = "2345689"  # digits that a number begins with
FIRST_GROUP = 4  # digits, at least
SMALLEST_GROUP = 3  # digits, but for the last: what is grouped finer has one space or dash between
GROUP = re.compile(r"\d+")
GAPS = frozenset((" ", "  ", "-", " - ", ".", "- ", " -", "\u2022"))
FINE_GAPS = frozenset((" ", "-"))
DOUBLED = dict(zip("0123456789", (0, 2, 4, 6, 8, 1, 3, 5, 7, 9), strict=True))
SPELT = compile_pattern(r"(?:^|[^\w.,-])(\d(?:[ -]\d){12,18})(?:\W|$)")
IBAN = compile_pattern(r"\b(?-i:[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b")

CARD = (
    r"(?:visa|master ?card|maestro|amex|american express|discover card|diners|unionpay|girocard|"
    r"(?:(?:credit|debit|payment|bank|charge|kredit|debit|bank)[ -]?)?(?:card|karte)|"
    r"tarjeta(?: de (?:cr[ée]dito|d[ée]bito))?|carte(?: (?:bancaire|bleue|de cr[ée]dit))?|cart[ãa]o)(?:'s)?"
)
COUNT = r"(?:4|6|four|six|vier|sechs|cuatro|seis|quatre)"
DIGITS = r"(?:digits|numbers|ziffern|d[íi]gitos|chiffres)"
LAST = r"(?:last|final|first|letzten?|ersten?|[úu]ltimos|primeros|derniers|premiers)"
ENDS = (
    r"((?:end|start|begin)(?:s|ed|n?ing)?(?: (?:in|with|on|at))?|end(?:et|end)(?: (?:auf|mit))?|"
    r"terminad[ao] en|"
    r"termina en|finissant par|se termin(?:e|ant) par|final|n(?:o|r|um)\.?|numm?er|num[ée]ro|n[úu]mero|"
    r"number|#|"
    rf"(?:the |its |die )?{LAST}(?: {COUNT})?(?: {DIGITS})?)"
)
BETWEEN = (
    r"(?:[\s:=,.#*x\x{2022}\x{2026}'\"()-]|\b(?:is|are|was|it|that|which|with|of|my|the|ist|sind|es|est|"
    r"son|sont|"
    r"mit|den|dem|der|in|on|number|digits)\b){0,12}"
)
PART = r"(\d{4}(?:\d{2})?)(?:[^\d\pL]|$)"
# Each with three groups: what stands before the card, how the digits are named, the digits.
NAMED = compile_pattern(rf"\b(?:([a-z]{{1,20}})[ -])?{CARD}{BETWEEN}{ENDS}{BETWEEN}{PART}")
FIRST_NAMED = compile_pattern(
    rf"\b({LAST} {COUNT}|{COUNT} {LAST})(?: {DIGITS})?(?: (?:of|on|for|from|von|de))?"
    r"(?: (?:my|the|his|her|our|their|your|meiner|der|mi|la|ma|sa))?"
    rf"((?: [a-z]{{1,20}}){{0,2}}?) {CARD}{BETWEEN}{PART}"
)
MASKED = compile_pattern(rf"(?:^|[^\w*])(?:[*x\x{{2022}}\x{{b7}}#]{{4}}[ -]?){{1,3}}{PART}")
MASKED_NAMED = compile_pattern(
    rf"\b{CARD}\b[^\n]{{0,20}}?(?:[*x\x{{2022}}\x{{b7}}#.\x{{2026}}]{{2,12}}[ -]?|[*x#\x{{2026}}]){PART}"
)
BRANDED = compile_pattern(
    rf"\b(?:my|use|the|with|on|visa|your|his|her) (?:visa|master ?card|amex|maestro) {PART}"
)
COMPACT = compile_pattern(
    rf"(?:^|[^\pL\pN_])(?:(?:[a-z]{{1,20}}_)?(?:{CARD}|cc|pan)[ _-]{{0,2}}(?:(?:number|no|num)["
    rf" _-]{{0,2}})?)?"
    r"(?:last|first)[_-]?(?:4|6|four|six)(?:[ _-]?digits)?[\"'`]?\s{0,3}(?::=|=>|=|:|\bis\b)\s{0,3}[\"'`]?"
    rf"{PART}"
)
SPOKEN = compile_pattern(
    rf"\b(?:{CARD}|cc)[ _-](?:(?:number|no|num)[ _-])?(?:last|first)[ _-]?(?:4|6|four|six)(?:[ _-]?digits)?"
    rf"[\"'`]?\s{{0,3}}(?::|=|\bis\b|\bare\b|\s)\s{{0,3}}[\"'`]?{PART}"
)
# The digits before what they are of. Groups: the digits, how they are named, what stands before the card.
BEFORE = compile_pattern(
    rf"(?:^|[^\pL\pN.,-])(\d{{4}}(?:\d{{2}})?) (?:is|are|was|were|sind) (?:the |my |its )?"
    rf"((?:end(?:ing)?|{LAST}(?: {COUNT})?(?: {DIGITS})?|{COUNT} {LAST}(?: {DIGITS})?)) (?:of|on|for|from) "
    rf"(?:my|the|his|her|our|their|your|an?)((?: [a-z]{{1,20}}){{0,2}}?) {CARD}(?:\W|$)"
)
# Behind a card's name, whatever groups the digits stand in.
GROUPED = compile_pattern(rf"\b{CARD}\b[^\d\n]{{0,24}}?(\d(?:[ -]?\d){{12,18}})(?:[^\pL\pN]|$)")
CODE = compile_pattern(
    r"\b(?:cvv2?|cvc2?|csc|card (?:security|verification) (?:code|number)|(?:karten)?prüfnummer)"
    r"(?: (?:code|number))?(?:\s{0,2}[:=#]\s{0,2}| (?:is|was|ist|es|est) | )(\d{3,4})(?:\D|$)"
)
# Cards that pay for nothing.
OTHER_CARDS = words_of("""
    sim sd micro graphics graphic video sound network memory report trello jira kanban index flash
    business greeting library id identity post score scrum playing wild green yellow red story punch key
    time tarot pokemon trading game baseball info feature ui react note task speicher grafik visiten a
""")
YEAR = re.compile(r"(?:19|20)\d\d")
# What has numbers of its own, by the same check digit as cards or by chance.
LABEL = re.compile(
    r"(?i)(?:order|invoice|tracking|ticket|serial|reference|sku|imei|isbn|ean|gtin|upc|timestamp|epoch)"
    r"(?:[ -]?(?:number|no\.?|nr\.?|id|#|code))?(?: is)?[ :=#]{0,3}$"
)
LABELLED = 32  # characters before a number that may say what it is


def find_cards(text: Haystack) -> Iterator[Finding]:
    """Cards in a folded text."""
    yield from _numbers(text)
    for hit in text.find(NAMED):
        if not _is_other(hit.group(1)) and not _is_end_of_visa(hit.group(2), hit.group(3)):
            yield Finding("card", "fragment", *hit.span(3))
    for hit in text.find(FIRST_NAMED):
        if not _is_other(hit.group(2)):
            yield Finding("card", "fragment", *hit.span(3))
    for hit in text.find(BEFORE):
        if not _is_other(hit.group(3)) and not _is_end_of_visa(f"{hit.group(2)} ", hit.group(1)):
            yield Finding("card", "fragment", *hit.span(1))
    for pattern in (MASKED, MASKED_NAMED, COMPACT, SPOKEN):
        yield from (Finding("card", "fragment", *hit.span(1)) for hit in text.find(pattern))
    for hit in text.find(BRANDED):
        if not YEAR.fullmatch(hit.group(1)):
            yield Finding("card", "fragment", *hit.span(1))
    yield from (Finding("card", "check_code", *hit.span(1)) for hit in text.find(CODE))


def _is_other(before: str) -> bool:
    return bool(OTHER_CARDS.intersection(before.lower().split()))


def _is_end_of_visa(named: str, digits: str) -> bool:
    """A permit to travel ends in a year."""
    return named.lower().startswith(("ends", "ended", "end ")) and YEAR.fullmatch(digits) is not None


def _numbers(text: Haystack) -> Iterator[Finding]:
    accounts = [hit.span() for hit in text.find(IBAN) if _is_iban(hit.group())]
    for start, end in _candidates(text.text):
        before = bisect_right(accounts, (start, len(text.text))) - 1
        if before < 0 or accounts[before][1] < end:
            yield Finding("card", "number", start, end)
    for pattern in (SPELT, GROUPED):
        for hit in text.find(pattern):
            digits = hit.group(1).replace(" ", "").replace("-", "")
            if _is_issued(digits) and _luhn(digits):
                yield Finding("card", "number", *hit.span(1))


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    """Where numbers of cards stand, whole or in groups. Each group is looked at as the beginning of a number,
    whatever stands before it."""
    groups = [one.span() for one in GROUP.finditer(text)]
    after = 0
    for position, (start, end) in enumerate(groups):
        if start < after or not FIRST_GROUP <= end - start <= LONGEST or text[start] not in FIRST:
            continue
        if _is_inside(text, start):
            continue
        stop = _end_of_number(text, groups[position : position + MOST_GROUPS])
        if stop == end and LABEL.search(text[max(start - LABELLED, 0) : start]):
            continue
        if stop:
            yield start, stop
            after = stop


def _end_of_number(text: str, groups: Sequence[tuple[int, int]]) -> int:
    """Where the longest number of a card that begins with the first group ends; 0: it begins none."""
    found, digits, before, is_fine = 0, "", 0, False
    for start, end in groups:
        if digits and text[before:start] not in (FINE_GAPS if is_fine else GAPS):
            break
        digits += text[start:end]
        if len(digits) > LONGEST:
            break
        if len(digits) >= SHORTEST and _luhn(digits) and _is_issued(digits) and not _goes_on(text, end):
            found = end
        before, is_fine = end, is_fine or end - start < SMALLEST_GROUP
    return found


def _is_inside(text: str, start: int) -> bool:
    """Whether the digits go on with a word, a decimal or a telephone number."""
    before = text[start - 1 : start]
    return (
        before.isalpha() or before in {"_", "+"} or (before == "." and text[start - 2 : start - 1].isdigit())
    )


def _goes_on(text: str, end: int) -> bool:
    after = text[end : end + 1]
    return after.isalpha() or after == "_"


def _is_issued(digits: str) -> bool:
    return any(
        len(digits) in lengths and any(low <= digits[: len(low)] <= high for low, high in ranges)
        for lengths, ranges in RANGES
    )


def _luhn(digits: str) -> bool:
    return (sum(map(int, digits[-1::-2])) + sum(map(DOUBLED.__getitem__, digits[-2::-2]))) % 10 == 0


def _is_iban(text: str) -> bool:
    """Whether the check digits are right (ISO 13616)."""
    packed = text.replace(" ", "")
    return int("".join(str(int(one, 36)) for one in packed[4:] + packed[:4])) % 97 == 1
