"""Rules about where somebody lives and works. Pure."""

import re
from collections.abc import Iterator
from dataclasses import replace

from recall.remember.candidates import Fact
from recall.remember.lexicon import BEHIND_TITLES, JOBS, NO_EMPLOYERS, PARTICLES, TOOLS
from recall.remember.phrases import is_country, is_known, place, term
from recall.remember.rule import IM, MUCH, Rule, rules_of, say
from recall.remember.statements import Statement

TEMPORARY = re.compile(
    r"(?i)\b(?:today|tonight|tomorrow|this (?:week|weekend|morning|afternoon|evening|month)|temporarily|"
    r"until|"
    r"for (?:the|a|two|three|a few) (?:days?|weeks?|weekend|conference|month))\b"
)
NO_TOWN = re.compile(
    r"(?i)(?:the |an? |our )?(?:new |another |bigger |smaller )?"
    r"(?:flat|house|apartment|office|team|project|company|desk)\b"
)
NOT_JOINED = re.compile(
    r"(?i)\b(?:call|meeting|channel|group|waitlist|class|course|server|community|late|session|club|gym)\b"
)
ONGOING = re.compile(r"(?i)\b(?:for (?!the\b)|since|all my life|my (?:whole|entire) life|ever since)")
LASTED = 0.85  # it may have ended since
NO_ROLES = frozenset(["bit", "lot", "fan", "big", "huge", "little", "morning", "night", "early"])
ORG_END = re.compile(
    r"(?i)[,;:.!(]|\s(?:as|and|but|in|on|with|for|since|where|which|who|that|because|so|now|right now|"
    r"currently|"
    r"these days|full[- ]time|part[- ]time|from|until|last|this|today|next|doing|near|remotely)\b"
)


def _lives(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if TEMPORARY.search(one.text):
        return
    value = place(found["rest"], plain=one.plain)
    sure = 0.8 if found[0].lower().startswith("we") else 0.92
    head, _comma, tail = value.rpartition(", ")
    if head and is_country(tail):
        yield say("home_city", head, sure, one)
        yield say("home_country", tail, 0.9, one)
    elif value:
        yield say("home_country" if is_country(value) else "home_city", value, sure, one)


def _moved(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """ "from A to B" or "to B". A team moves to a tool rather than to a town."""
    first = found["rest"].split()[0].strip(".,!").lower()
    there, here = place(found["there"] or "", plain=one.plain), place(found["rest"], plain=one.plain)
    by_team = found[0].lower().startswith("we") and not (is_known(here) or is_known(there))
    if by_team or first in TOOLS or re.match(r"\S+ v?\d", found["rest"]):
        return
    if not NO_TOWN.match(found["rest"]):
        yield from _lives(found, one)


def _lived(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """Only what still goes on: "for ten years", "since 2019"."""
    if "living" in found[0] or ONGOING.search(found["rest"]):
        yield from (replace(fact, confidence=LASTED * one.certainty) for fact in _lives(found, one))


def _left_place(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if value := place(found["rest"], plain=one.plain):
        yield say("home_country" if is_country(value) else "home_city", value, 0.9, one, how="retract")


def _place_not(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if value := place(found["rest"], plain=one.plain):
        yield say("home_city", value, 0.95, one)


def _organisation(raw: str, one: Statement) -> str:
    """A company's name: capitalised words at the beginning."""
    cut = ORG_END.search(raw)
    words = (raw[: cut.start()] if cut else raw).split()[:6]
    if len(words) > 1 and words[0] == "the" and words[1][:1].isupper():
        words = words[1:]
    kept: list[str] = []
    for word in words:
        core = word.strip(".,!?\"'")
        if not (core[:1].isupper() or core[:1].isdigit() or (kept and core.lower() in {"&", *PARTICLES})):
            break
        kept.append(core)
    if not kept and one.plain and len(words) == 1 and words[0].lower() not in NO_EMPLOYERS:
        kept = [words[0]]
    while kept and kept[-1].lower() in PARTICLES | {"&"}:
        kept.pop()
    return " ".join(kept) if kept and kept[0].lower() not in NO_EMPLOYERS - {"the"} else ""


def _employer(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if (value := _organisation(found["rest"], one)) and not TEMPORARY.search(one.text):
        yield say("employer", value, 0.9, one)
        as_what = re.search(r"(?i)\bas (?:an?|the) (.+)", found["rest"])
        if as_what and (title := _title(as_what[1])[0]):
            yield say("role", title, 0.9, one)


def _worked(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if ONGOING.search(found["rest"]):
        yield from _employer(found, one)


def _joined(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    value = _organisation(found["rest"], one)
    if value and value.split()[0].lower() not in TOOLS and not NOT_JOINED.search(found["rest"]):
        yield say("employer", value, 0.85, one)


def _left_employer(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if value := _organisation(found["rest"], one):
        yield say("employer", value, 0.9, one, how="retract")


def _role(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """ "a software engineer at Siemens", or whatever somebody calls their title."""
    value, rest = _title(found["rest"])
    if not value and "title" in found[0].lower().partition(" is ")[0]:
        value = term(found["rest"])
    if not value or TEMPORARY.search(one.text):
        return
    yield say("role", value, 0.9, one)
    employed = re.match(r"(?i)(?:at|for|of|with|by) (.+)", rest)
    if employed and (organisation := _organisation(employed[1], one)):
        yield say("employer", organisation, 0.9, one)


def _title(raw: str) -> tuple[str, str]:
    """A title, which ends in a word that is a job, and what comes after it. Empty if another noun follows: a
    model citizen is no model."""
    words, end = raw.split()[:8], 0
    bare = [word.strip(".,;:!?\"'()") for word in words]
    for number, core in enumerate(map(str.lower, bare)):
        if core in BEHIND_TITLES or (number and words[number - 1][-1:] in ",;:.!"):
            break
        end = number + 1 if core in JOBS else end
    if not end or bare[0].lower() in NO_ROLES:
        return "", ""
    after = bare[end].lower() if end < len(bare) and words[end - 1][-1:] not in ",;:.!" else ""
    if after and after not in BEHIND_TITLES:
        return "", ""
    return " ".join(bare[:end]), " ".join(words[end:])


REST = r"(?P<rest>\S.*)"
RULES: tuple[Rule, ...] = rules_of(
    (rf"(?:i|we) {MUCH}(?:live|reside) not in .{{2,40}}? but in {REST}", _place_not),
    (
        rf"(?:(?:i|we) {MUCH}(?:live|reside)|(?:i'm|i am|im|we're|we are) {MUCH}(?:living|based|located|"
        rf"residing|settled)|"
        rf"my (?:home|hometown|home town|home city) is|ich (?:wohne|lebe)(?: jetzt)?|(?:yo )?vivo|"
        rf"j'habite|je habite|j'habite maintenant|je vis) "
        rf"(?:here )?(?:out of |in |en |à |au )?(?:downtown |central )?{REST}",
        _lives,
    ),
    (
        rf"(?:i've|i have|we've|we have) {MUCH}(?:lived|been living|been based|resided|been residing) "
        rf"(?:here )?in {REST}",
        _lived,
    ),
    (
        rf"(?:i've|i have) {MUCH}(?:been working (?:at|for)|worked (?:at|for)|"
        rf"been employed (?:at|by)) {REST}",
        _worked,
    ),
    (
        rf"(?:i|i've|we|we've|i have|we have) {MUCH}(?:moved|"
        rf"relocated)(?: back)?(?: from (?P<there>.{{2,40}}?))? to {REST}",
        _moved,
    ),
    (
        r"(?:i|we) (?:no longer (?:live|reside) in|don't (?:live|reside) in|do not live in) "
        r"(?P<rest>\S.*?)(?: any ?more)?\Z",
        _left_place,
    ),
    (
        rf"(?:i {MUCH}work (?:at|for)|{IM}(?:employed (?:at|by)|working (?:at|for))|my (?:new |current )*"
        rf"(?:employer|company) is(?: called)?|"
        rf"ich arbeite (?:bei|für)|trabajo (?:en|para)|je travaille (?:chez|pour)) {REST}",
        _employer,
    ),
    (rf"(?:i(?:'ve| have)? {MUCH}(?:joined|started (?:working )?at)) {REST}", _joined),
    (
        r"(?:i(?:'ve| have)? (?:just |recently |finally )*(?:(?:quit|left|lost) my (?:old )?"
        r"(?:job|position|role|post) (?:at|with)|resigned from|(?:got |was |been |am )(?:fired from|"
        r"laid off (?:from|by)|fired by))|"
        r"i (?:no longer|don't|do not) work (?:at|for)|i(?:'ve| have)? (?:just |recently )?(?:left|quit)|"
        r"i(?:'m| am) no longer (?:at|with)) (?P<rest>\S.*?)(?: any ?more)?\Z",
        _left_employer,
    ),
    (
        rf"(?:{IM}(?:an?|the)|i {MUCH}work(?:ed)? as (?:an?|the)|i was (?:just )?promoted to|my (?:new |"
        rf"current )*"
        rf"(?:job|role|position|profession|occupation|job title|title) is(?: an?| the)?|"
        rf"by (?:trade|profession) i'm an?) {REST}",
        _role,
    ),
)
