"""Rules about the person: names, contact, languages, dates. Pure."""

import re
from collections.abc import Iterator

from recall.remember.candidates import Fact
from recall.remember.lexicon import NO_NAMES
from recall.remember.phrases import DATE, MONTH, ends_there, languages, name, place, slug
from recall.remember.rule import IM, MUCH, Rule, rules_of, say
from recall.remember.statements import Statement

EMAIL = r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
ZONE = (
    r"(?:(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|US)/\w+(?:/\w+)?|"
    r"(?:UTC|GMT) ?[+-] ?\d{1,2}(?::?\d{2})?|"
    r"(?:UTC|GMT|CET|CEST|EET|EEST|WET|BST|IST|JST|KST|SGT|HKT|MSK|AEST|AEDT|ACST|AWST|NZST|NZDT|PST|"
    r"PDT|MST|MDT|CST|"
    r"CDT|EST|EDT|AKST|HST|BRT|ART|PT|ET|CT|MT)|"
    r"(?:pacific|eastern|central|mountain|central european|eastern european|western european|indian standard|"
    r"british summer|japan standard)(?: (?:standard|daylight|summer))?(?= time))(?![\w/])"
)


INTRODUCED = re.compile(r"(?i)[,.]?\s*(?:from\b|at\b|here\b|(?:and |an? |the )?(?:i|i'm|my|an?|the)\s)")
AGES = range(5, 120)


def _name(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if value := name(found["rest"], plain=one.plain):
        yield say("name", value, 0.95, one)


def _is_somebody(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """ "I'm Ada" may be anything: the name must be capitalised, stand alone, and be no ordinary word. It is
    believed of somebody who introduces themselves: who greets, or tells more of themselves in the sentence.
    """
    rest = found["rest"].strip()
    value = name(rest, plain=False)
    words = value.split()
    after = rest[len(value) :].strip()
    ordinary = any(word.lower() in NO_NAMES for word in words) or value.isupper() or languages(value)
    verb = words and re.search(r"(?:ing|ed)\Z", words[0].lower()) and len(words) == 1
    if (
        not value
        or ordinary
        or verb
        or not re.match(r"(?i)(?:\Z|[.,!(]|from\b|here\b|and\b|with\b|at\b|the\b)", after)
    ):
        return
    introduced = one.greets or INTRODUCED.match(after) or INTRODUCED.match(_behind(value, one.words))
    yield say("name", value, 0.9 if introduced else 0.7, one)
    if came := re.match(r"(?i)from (.+)", after):
        yield from _origin(came[1], one)


def _behind(value: str, words: str) -> str:
    return words.partition(value)[2].strip()


def _renamed(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """Not what somebody is called in one place: "I changed my name to Zoe on Discord"."""
    value = name(found["rest"], plain=one.plain)
    if value and not re.match(r"(?i)(?:on|in the|for)\b", _behind(value.lower(), found["rest"].lower())):
        yield say("name", value, 0.95, one)


def _called(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    rest = found["rest"].strip()
    value = name(rest, plain=one.plain, most=2)
    after = rest[len(value) :].strip(" .,!")
    if value and not re.match(r"(?i)(?:back|when|at|if|in|later|on|tomorrow|asap|after|before)\b", after):
        yield say("preferred_name", value[:1].upper() + value[1:], 0.95, one)


def _origin(raw: str, one: Statement) -> Iterator[Fact]:
    if (value := place(raw, plain=one.plain)) and ends_there(raw, value):
        yield say("origin", value, 0.85, one)


def _from(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield from _origin(found["rest"], one)


def _email(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("email", found["email"].rstrip("."), 0.95, one)


def _phone(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if sum(map(str.isdigit, found["phone"])) >= 6:
        yield say("phone", found["phone"].strip(" .-"), 0.95, one)


def _address(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    value = found["rest"].strip(" .!")
    if any(map(str.isdigit, value)) and len(value) <= 200:
        yield say("address", value, 0.95, one)


def _speaks(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    known = languages(found["rest"])
    if known and not re.match(r"(?i)\S+ (?:badly|poorly|class|lesson)", found["rest"]):
        yield say("language", ", ".join(known), 0.9, one, how="add" if "also" in one.words.lower() else "set")


def _native(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    for known in languages(found["rest"])[:1]:
        yield say("native_language", known, 0.95, one)


def _answers_in(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    for known in languages(found["rest"])[:1]:
        yield say("preferred_language", known, 0.9, one)


def _zone(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    value = found["zone"]
    if len(value) <= 4 and not value.isupper():  # "in art"
        return
    yield say("timezone", f"{value} time" if value[-1].islower() and "/" not in value else value, 0.95, one)


def _birthday(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("birthday", found["date"].removeprefix("the ").rstrip("."), 0.95, one)


def _year(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("birth_year", found["year"], 0.95, one)


def _age(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if int(found["age"]) in AGES:
        yield say("age", found["age"], 0.9, one)


def _date(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    if what := slug(found["what"]):
        yield say(f"date:{what}", found["date"].removeprefix("the ").rstrip("."), 0.85, one)


def _pronouns(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("pronouns", found["pronouns"].lower().replace(" ", ""), 0.95, one)


REST = r"(?P<rest>\S.*)"
RULES: tuple[Rule, ...] = rules_of(
    (rf"my (?:(?:full|first|real) )?name(?: is|'s|:) (?:actually |really )?{REST}", _name),
    (rf"my name (?:is not|isn't) .{{1,40}}?,? (?:but|it's) {REST}", _name),
    (rf"(?:mein name ist|ich hei(?:ß|ss)e|me llamo|mi nombre es|je m'appelle|mon nom est) {REST}", _name),
    (rf"{IM}(?:called|named) {REST}", _name),
    (
        r"i(?:'ve| have)? (?:just |recently |legally |officially |now )*changed my (?:full |first |legal )?"
        rf"name (?:from .{{1,40}}? )?to {REST}",
        _renamed,
    ),
    (rf"{IM}{REST}", _is_somebody),
    (
        r"(?:(?:please |just |you can |you may |feel free to )*(?:call me|"
        r"(?:address|refer to) me as)|i (?:usually |just |mostly )?go by|"
        r"i(?:'d)? prefer to be called|(?:everyone|everybody|people|my friends|friends|"
        r"they all) (?:just )?calls? me|"
        rf"my (?:nickname|preferred name) is|nenn mich|appelle[- ]moi|llámame) {REST}",
        _called,
    ),
    (
        rf"(?:{IM}(?:originally |actually )?from|i {MUCH}come from|i was born in|i grew up in|"
        rf"ich komme (?:ursprünglich )?aus|vengo de|je viens de) {REST}",
        _from,
    ),
    (
        r"(?:my (?:work |personal |private |new |contact )*e-?mail(?: address)?(?: is|'s|:)|"
        r"(?:you can |please |just )*(?:e-?mail me|reach me|contact me|write to me) (?:at|on|under|via)|"
        rf"i can be reached at) (?P<email>{EMAIL})",
        _email,
    ),
    (
        r"my (?:new |work |mobile |cell |home )*(?:phone|phone number|number|cell|mobile)(?: is|'s|:) "
        r"(?P<phone>\+?[\d][\d ()/.-]{5,24})",
        _phone,
    ),
    (rf"(?:my (?:home |new |postal |mailing )*address(?: is|'s|:)|i live at) {REST}", _address),
    (rf"(?:i (?:can )?{MUCH}speak|{IM}fluent in|ich spreche|hablo|yo hablo|je parle) {REST}", _speaks),
    (
        r"(?:my (?:native (?:language|tongue)|mother tongue|first language) is|meine muttersprache ist|"
        rf"mi lengua materna es|ma langue maternelle est (?:le |l')?|{IM}a native speaker of) ?{REST}",
        _native,
    ),
    (
        r"(?:from now on,? |in (?:the )?future,? |"
        r"going forward,? )?(?:please )?(?:always )?(?:please )?(?:(?:answer|reply|respond|speak|talk|"
        r"write) ?(?:to me |me )?(?:always )?in|"
        r"(?:let's )?speak|i(?:'d)? prefer (?:answers in|to speak|speaking|replies in)|"
        r"my preferred language is|"
        r"i(?:'d| would) (?:much )?(?:rather|prefer(?: it)?(?: that)?) you (?:would |always )?(?:wrote|write|"
        r"answered|answer|replied|reply|responded|respond|spoke|speak|talked|talk)(?: to me| back)? in|"
        r"i(?:'d| would)? (?:like|prefer|want) you to (?:always )?(?:write|answer|reply|respond|speak|talk)"
        r"(?: to me| back)? in|"
        r"(?:bitte )?antworte(?:n sie)?(?: mir)?(?: bitte)?(?: immer)? auf|(?:por favor )?responde(?:me)? en|"
        rf"prefiero(?: hablar)?(?: en)?|réponds(?:-moi)? en|{IM}more comfortable in) {REST}",
        _answers_in,
    ),
    (
        rf"(?:(?:my|our) (?:current |local )?(?:time ?zone|tz)(?: is|'s|:)|"
        rf"{IM}(?:in|on) (?:the )?(?:time ?zone )?|i {MUCH}(?:live|"
        rf"work) in the )\s*"
        rf"(?P<zone>{ZONE})",
        _zone,
    ),
    (
        rf"(?:my birthday(?: is|'s)|i was born|my date of birth is|"
        rf"i have my birthday) (?:on )?(?P<date>{DATE})",
        _birthday,
    ),
    (rf"i was born (?:in|back in)(?: {MONTH})? (?P<year>(?:19|20)\d\d)", _year),
    (r"(?:i'm|i am|im) (?P<age>\d{1,3})(?: years? old| yo\b| y/o)", _age),
    (r"(?:i'm|i am|im) (?P<age>\d{1,3})(?=\Z|[.,!](?!\d)| and\b(?! a half)| but\b| from\b| now\b)", _age),
    (r"i (?:just |recently )?turned (?P<age>\d{2,3})(?! (?:it|down|off|on|pages|degrees))", _age),
    (
        r"(?:my|our) (?P<what>(?!birthday|date of birth)[\w' -]{2,40}?) (?:is|starts|begins|ends|leaves|"
        r"departs|arrives|takes place)"
        rf"(?: due| scheduled| planned)?(?: on| for| by)? (?P<date>{DATE})",
        _date,
    ),
    (
        r"(?:my pronouns are|i use|i go by) (?:the pronouns )?"
        r"(?P<pronouns>(?:he|she|they|xe|ze)(?: ?/ ?\w{2,6}){1,2})(?: pronouns)?",
        _pronouns,
    ),
)
