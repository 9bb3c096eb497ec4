"""Rules about somebody's life: where, work, family, animals, food. Pure."""

import re
from collections.abc import Iterator

from recall.remember.candidates import Fact
from recall.remember.lexicon import (
    BEHIND_TITLES,
    DIETS,
    JOBS,
    KIN,
    NO_EMPLOYERS,
    ONCE,
    PARTICLES,
    PETS,
    POINTING,
    TOOLS,
)
from recall.remember.phrases import is_country, name, names, place, slug, term
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
    by_team = found[0].lower().startswith("we") and not is_country(place(found["rest"], plain=one.plain))
    if by_team or first in TOOLS or re.match(r"\S+ v?\d", found["rest"]):
        return
    if not NO_TOWN.match(found["rest"]):
        yield from _lives(found, one)


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


def _kin(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    kin = KIN[found["kin"].lower()]
    value = names(found["rest"], plain=one.plain) if kin.endswith("s") or kin == "children" else name(
        found["rest"], plain=one.plain, most=2
    )  # fmt: skip
    if value:
        yield say(f"family:{kin}", value, 0.9, one)


def _kin_beside(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """ "my wife is Lena": only capitals tell that it is a name."""
    value = name(found["rest"], plain=False, most=2)
    if value and not value.isupper() and len(found["rest"].strip(" .!").split()) == len(value.split()):
        yield say(f"family:{KIN[found['kin'].lower()]}", value, 0.8, one)


def _kin_named(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if (value := name(found["rest"], plain=False, most=1)) and not value.isupper():
        yield say(f"family:{KIN[found['kin'].lower()]}", value, 0.8, one)


def _children(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("children", f"{found['many']} {found['what']}".lower(), 0.9, one)


def _married(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("marital_status", found["status"].lower(), 0.85, one)


def _pet(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if value := name(found["rest"], plain=one.plain, most=2):
        yield say(f"pet:{PETS[found['pet'].lower()]}", value, 0.9, one)


def _pet_is(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    value = name(found["rest"], plain=False, most=2)
    if value and value == found["rest"].strip(" .!"):
        yield say(f"pet:{PETS[found['pet'].lower()]}", value, 0.8, one)


def _pets(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("pets", f"{found['many']} {found['pet']}".lower(), 0.85, one)


def _allergy(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    value = term(found["what"])
    if key := slug(value):
        yield say(f"allergy:{key}", f"allergic to {value}", 0.95, one)


def _diet(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("diet", found["diet"].lower(), 0.9, one)


def _does_not_eat(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    value = term(found["rest"])
    vague = POINTING | ONCE | {"much", "enough", "a", "well", "out", "alone"}
    if (key := slug(value)) and not vague & set(value.lower().split()):
        yield say(f"diet:{key}", f"does not {found['verb'].lower()} {value}", 0.85, one)


REST = r"(?P<rest>\S.*)"
_KIN = rf"(?P<kin>{'|'.join(KIN)})"
_PET = rf"(?P<pet>{'|'.join(PETS)})"
_MANY = r"(?P<many>\d{1,2}|two|three|four|five|six|seven)"
# What a noun is followed by that is no part of a longer one: "two kids", not "two kids meals".
_ENDS = (
    r"(?=\Z|\s*[.,;:!()-]| (?:and|but|so|who|whom|which|with|at|in|from|of|aged?|under|over|named|called|now|"
    r"too|already|that|to (?:feed|raise)|together|as well)\b)"
)
_DIET = rf"(?P<diet>{'|'.join(sorted(DIETS))})(?![\w'])"
RULES: tuple[Rule, ...] = rules_of(
    (rf"(?:i|we) {MUCH}(?:live|reside) not in .{{2,40}}? but in {REST}", _place_not),
    (
        rf"(?:(?:i|we) {MUCH}(?:live|reside)|(?:i'm|i am|im|we're|we are) {MUCH}(?:living|based|located|"
        rf"residing|settled)|"
        rf"my (?:home|hometown|home town|home city) is|ich (?:wohne|lebe)(?: jetzt)?|(?:yo )?vivo|"
        rf"j'habite|je habite|j'habite maintenant|je vis) "
        rf"(?:here )?(?:in |en |à |au )?(?:downtown |central )?{REST}",
        _lives,
    ),
    (
        rf"(?:i|i've|we|we've|i have|we have) {MUCH}(?:moved|"
        rf"relocated)(?: back)?(?: from .{{2,40}}?)? to {REST}",
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
    (
        rf"my (?:older |younger |elder |little |big |eldest |youngest |oldest |"
        rf"late )?{_KIN}(?:'s name is|s' names are|"
        rf"'s names are| is called| is named| are called| are named| names are|'s called) {REST}",
        _kin,
    ),
    (rf"my (?:older |younger |elder |little |big )?{_KIN} is {REST}", _kin_beside),
    (rf"my (?:older |younger |elder |little |big )?{_KIN} (?P<rest>[A-Z]\w+)(?: |\Z)", _kin_named),
    (
        rf"(?:i|we) {MUCH}(?:have|'ve got) an? (?:\d+[- ]year[- ]old |little |baby |older |younger )?{_KIN} "
        rf"(?:named|called) {REST}",
        _kin,
    ),
    (rf"(?:i|we)(?:'ve got| {MUCH}have) {_MANY} (?:\w+ )?(?P<what>kids|children|sons|daughters|boys|"
     rf"girls){_ENDS}", _children),
    (r"(?:i|we)(?: just)? got (?P<status>married|divorced|engaged)\b", _married),
    (r"(?:i'm|i am|we're) (?:now |finally |recently |happily )?(?P<status>married|divorced|engaged|"
     r"widowed|single)"
     r"(?=\Z|[ .,!](?:to|now|and|with|for|last|since|\Z))", _married),
    (rf"(?:i|we)(?:'ve got| {MUCH}have| {MUCH}adopted| {MUCH}own| {MUCH}got) (?:an?|"
     rf"one) (?:\w+ ){{0,2}}{_PET},? "
     rf"(?:named|called|whose name is) {REST}", _pet),
    (rf"(?:my|our) (?:\w+ )?{_PET}(?:'s name is| is called| is named|'s called) {REST}", _pet),
    (rf"(?:my|our) {_PET} is {REST}", _pet_is),
    (rf"(?:i|we)(?:'ve got| {MUCH}have| {MUCH}own) {_MANY} (?:\w+ )?(?P<pet>dogs|cats|rabbits|horses|"
     rf"birds|hamsters){_ENDS}", _pets),
    (rf"(?:{IM}(?:severely |very |highly |deadly )?allergic to|"
     rf"i {MUCH}have an allergy to) (?P<what>\S.*)", _allergy),
    (rf"i {MUCH}have an? (?:severe |bad )?(?P<what>[\w -]{{2,30}}) allergy\b", _allergy),
    (rf"(?:{IM}(?:an? )?(?:strict |on an? )?|i {MUCH}(?:follow|eat|keep|"
     rf"am on)(?: an?)? (?:strict )?){_DIET}", _diet),
    (rf"i (?:don't|do not|never|can't|cannot) {MUCH}(?P<verb>eat|drink) {REST}", _does_not_eat),
)  # fmt: skip
