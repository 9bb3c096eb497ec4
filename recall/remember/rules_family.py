"""Rules about the people and animals that somebody has, and what they eat. Pure."""

import re
from collections.abc import Iterator

from recall.remember.candidates import Fact
from recall.remember.lexicon import DIETS, JOBS, KIN, ONCE, PEOPLE, PETS, POINTING
from recall.remember.phrases import name, names, slug, term
from recall.remember.rule import IM, MUCH, Rule, rules_of, say
from recall.remember.statements import Statement

SWEETHEARTS = {"love", "best", "high", "college", "childhood", "first", "soulmate", "sweetheart"}


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


def _person(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if value := name(found["rest"], plain=one.plain, most=2):
        yield say(f"person:{PEOPLE[found['who'].lower()]}", value, 0.85, one)


def _children(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("children", f"{found['many']} {found['what']}".lower(), 0.9, one)


def _married(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """To somebody: "married to the idea" is no more than a figure of speech."""
    to = re.match(r"(?i) (?:to|with) (?:(my|our|an?|the|this|that|it) ?)?(\S*)", found.string[found.end() :])
    if to and to[1]:
        word = to[2].strip(".,!")
        known = (
            JOBS if to[1].lower() in {"a", "an"} else {*KIN, *SWEETHEARTS} if to[1].lower() == "my" else ()
        )
        if word.lower() not in known and not (known is JOBS and word[:1].isupper()):
            return
    if found["status"].lower() == "engaged" and found.string.startswith(" for ", found.end()):
        return
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


def _intolerance(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    what = found["what"].lower()
    yield say(f"allergy:{what}", f"{what} intolerant", 0.95, one)


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
_PEOPLE = rf"(?P<who>{'|'.join(PEOPLE)})"
# What a noun is followed by that is no part of a longer one, and not somebody else's: "two kids", neither
# "two kids meals" nor "two kids in my class".
_ENDS = (
    r"(?=\Z|\s*[.,;:!()-]| (?:and|but|so|who|whom|which|with|aged?|under|over|named|called|now|too|already|"
    r"that|to (?:feed|raise)|together|as well|in (?:\w+ )?(?:school|college|university|kindergarten|"
    r"preschool|daycare|(?:the|our|my) (?:house|home|flat|apartment|family|garden))|"
    r"at (?:home|school|university|college)|from (?:my|a|our|his|her) )\b)"
)
_DIET = rf"(?P<diet>{'|'.join(sorted(DIETS))})(?![\w'])"
RULES: tuple[Rule, ...] = rules_of(
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
    (rf"my (?:new |current |direct |line )*{_PEOPLE}(?:'s name is| is called| is named|"
     rf"'s called) {REST}", _person),
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
    (rf"{IM}(?:severely |slightly |mildly )?(?P<what>lactose|gluten|histamine|fructose)[ -]intolerant\b",
     _intolerance),
    (rf"(?:{IM}(?:an? )?(?:strict |on an? )?|i {MUCH}(?:follow|eat|keep|"
     rf"am on)(?: an?)? (?:strict )?){_DIET}", _diet),
    (rf"i (?:don't|do not|never|can't|cannot|no longer) {MUCH}(?P<verb>eat|drink) {REST}", _does_not_eat),
)  # fmt: skip
