"""Rules about preferences, likes and dislikes, and lasting instructions. Pure."""

import itertools
import re
from collections.abc import Iterator

from recall.remember.candidates import Fact
from recall.remember.lexicon import (
    CONTACTS,
    LASTING_VERBS,
    ONCE,
    OUTWARD_VERBS,
    POINTING,
    SPEAKING_VERBS,
    SUBJECTS,
)
from recall.remember.phrases import AND, TRIMMED, WORD, bare, languages, slug, term
from recall.remember.rule import IM, MUCH, Rule, rules_of, say
from recall.remember.statements import Statement

VERBS = re.compile(
    r"(?i)(?:(?:to |being |be )*(?:contacted|reached|called|messaged)? ?(?:by|via|over|through)|"
    r"(?:to )?(?:have|use|drink|eat|get|take|work with|using|having|drinking|eating|working with)) "
)
LASTING = r"(?:from now on|in (?:the )?future|going forward|at all times)"
EVERYWHERE = re.compile(
    r"(?i)\s+(?:everywhere|daily|always|exclusively|a lot|mostly|(?:all the|most of the) time|every ?day|"
    r"(?:at|for) (?:work|home|everything))\Z"
)
TOOLS = frozenset(
    ("editor", "theme", "browser", "shell", "operating_system", "programming_language", "units")
)
SCORE = re.compile(r"\d+\s?[-:]\s?\d+")
UNITS = {"metric", "imperial", "celsius", "fahrenheit"}
YOU_OR_IT = {"it", "that", "this", "you", "your"}  # what only the conversation knows
MOST_INSTRUCTED = 9  # words
MOST_PREFERRED = 5  # things in one breath
MOST_DESCRIBED = 3  # words for a thing that is of no known kind
# Where something is or goes to: links, hosts, addresses, numbers, people in copy. "Node.js" is no host.
DESTINATION = re.compile(
    r"(?i)://|@|\bwww\.|\b(?:b?cc|recipients?)\b|\d[\d ()/.-]{5,}\d|"
    r"[\w-]\.(?!(?:js|ts|txt|csv|json|pdf|ya?ml|html?|css|xml)\b)[a-z]{2,}\b"
)
LINKS = re.compile(r"(?i)\b(?:links?|urls?|hyperlinks?|webhooks?)\b")
TO_OTHERS = re.compile(r"(?i)\b(?:to|with|and|copy|copies) (?!(?:me|us)\b)")


def subject(value: str) -> str:
    """What the preferred thing is one of, such as `editor`; empty if that is not known."""
    if value.lower() in CONTACTS:
        return "contact"
    words = WORD.findall(value.lower())
    pairs = ("-".join(pair) for pair in itertools.pairwise(words))
    for one in (*pairs, *words[:1], *words[-1:]):
        if one in SUBJECTS:
            return SUBJECTS[one]
    return ""


def _prefers(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """Each of several things of different kinds is a preference of its own."""
    for raw in _apart(found["rest"]):
        yield from _preference(raw, found, one)


def _apart(raw: str) -> list[str]:
    """ "Dark mode and vim" as the two that they are. What is of one kind stays together, as do things of
    which no kind is known: "mac and cheese"."""
    parts = [part for part in AND.split(raw, maxsplit=MOST_PREFERRED) if part.strip()]
    if len(parts) < 2 or not any(map(subject, parts)):
        return [raw]
    groups, kinds = [parts[0]], [subject(parts[0])]
    for part in parts[1:]:
        kind, words = subject(part), part.lower().split()
        if kind == kinds[-1] or (not kind and len(words) == 1):
            groups[-1] += f" and {part}"
            continue
        strays = len(words) > MOST_DESCRIBED or (POINTING | ONCE) & set(words)
        if not kind and (strays or term(groups[-1]) != groups[-1].strip(TRIMMED)):
            break
        groups.append(part)
        kinds.append(kind)
    return groups if len(groups) > 1 or len(parts) > groups[0].count(" and ") + 1 else [raw]


def _preference(raw: str, found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """ "X over Y", "X as my editor", "X": about what it is one of, else about the two, else itself."""
    sure = 0.8 if re.match(r"(?i)i(?:'d| would)", found[0]) else 0.92
    rival = re.search(r"(?i)\s+(?:over|rather than|instead of|than|to)\s+", raw)
    if rival and rival[0].strip().lower() == "to" and not _compares(raw, rival):
        rival = None
    value = _thing(raw[: rival.start()] if rival else raw)
    vague = not value or value.split()[0].lower() in POINTING
    if vague or ("rather" in found[0].lower()[:40] and not rival and not VERBS.match(raw)):
        return
    purpose = re.search(r"(?i)\A(.+?) (?:as (?:my|our|an?|the)|for (?:my|our|the)?) ?(.+)\Z", value)
    about = subject(value)
    if known := languages(value)[:1]:
        yield say("preferred_language", known[0], sure, one)
    elif purpose and (key := slug(term(purpose[2]))):
        yield say(f"preference:{key}", bare(purpose[1]), sure, one)
    elif about:
        yield say(f"preference:{about}", value, sure, one)
    elif rival and (other := slug(_thing(raw[rival.end() :]))) and slug(value):
        yield say("preference:" + "_or_".join(sorted((slug(value), other))), value, sure, one)
    elif slug(value):
        yield say(f"preference:{slug(value)}", value, sure, one)


def _compares(raw: str, rival: re.Match[str]) -> bool:
    """Whether "to" stands between two things: not in "prefer to walk", nor in "prefer going to the gym"."""
    left, right = raw[: rival.start()].split(), raw[rival.end() :].split()
    walks = left and left[0].lower().endswith("ing") and not (right and right[0].lower().endswith("ing"))
    return bool(left and right) and len(left) <= 4 and left[0].lower() != "to" and not walks


def _thing(raw: str) -> str:
    value = term(raw)
    plain = VERBS.sub("", value, count=1) if VERBS.match(value) else value
    return bare(plain)


def _favourite(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    key, value = slug(found["what"]), bare(term(found["rest"]))
    if key and value and value.split()[0].lower() not in POINTING:
        yield say(f"favorite:{key}", value, 0.92, one)


def _is_favourite(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    key, value = slug(term(found["what"])), bare(term(found["rest"]))
    if key and value and value.split()[0].lower() not in POINTING:
        yield say(f"favorite:{key}", value, 0.9, one)


def _taste(found: re.Match[str], one: Statement, verb: str) -> Iterator[Fact]:
    for raw in _apart(found["rest"]):
        yield from _one_taste(raw, one, verb)


def _one_taste(raw: str, one: Statement, verb: str) -> Iterator[Fact]:
    value = term(raw)
    words = value.lower().split()
    key = slug(re.sub(r"(?i)\Ato ", "", value))
    vague = not words or words[0] in POINTING - {"to"} or words[:2] == ["to", "be"] or YOU_OR_IT & set(words)
    if key and not vague:
        yield say(f"preference:{key}", f"{verb} {value}", 0.85, one)


def _likes(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield from _taste(found, one, "likes")


def _dislikes(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield from _taste(found, one, "dislikes")


def _uses(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    value, key = _thing(found["rest"]), slug(term(found["what"]))
    if value and key and value.split()[0].lower() not in POINTING:
        yield say(f"preference:{key}", value, 0.9, one)


def _uses_known(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """ "I use vim and dark mode everywhere": only what is known to be one of these tools, and no more."""
    for raw in _apart(found["rest"]):
        value = EVERYWHERE.sub("", term(raw))
        words = {"-".join(part.lower().split()) for part in AND.split(value)}
        about = subject(value)
        if about in TOOLS and words <= SUBJECTS.keys():
            yield say(f"preference:{about}", value, 0.8, one)


def _mine(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """A name of something, not how it is: "my browser is Firefox", "my browser is slow"."""
    value = bare(term(found["rest"]))
    key = "operating_system" if found["what"].lower() == "os" else slug(found["what"])
    if value and (subject(value) or any(map(str.isupper, value))) and not value.isupper():
        yield say(f"preference:{key}", value, 0.9, one)


def _owned(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    value = bare(term(found["rest"]))
    if found["what"].lower() == "goal" and SCORE.match(value):
        return
    if value and not ((POINTING - {"and", "or"}) | ONCE) & set(value.lower().split()):
        yield say(slug(found["what"]), value, 0.85, one)


def _plan(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("subscription_tier", found["tier"].lower(), 0.9, one)


def _style(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    yield say("preference:answer_length", found["style"].lower(), 0.9, one)


def _asks_not_to(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """ "Don't …" alone is about this once; "don't …, please" and "don't ever …" are not."""
    if found["always"] or re.search(rf"(?i)\bplease\b|\b{LASTING}\b", one.words):
        yield from _instructs(found, one)


def _instructs(found: re.Match[str], one: Statement) -> Iterator[Fact]:
    """What is to be done always, or never. Without a word that says so, only what is not about this once."""
    groups = found.groupdict()
    what = term(re.sub(rf"(?i)[\s,]+(?:please|{LASTING})\Z", "", found["rest"].rstrip(" .!")))
    words = what.lower().split()
    if not words or len(words) > MOST_INSTRUCTED:
        return
    verb = re.sub(r"(?:ing)\Z", "", words[0])
    lasting = bool(groups.get("always")) or bool(re.search(rf"(?i)\b{LASTING}\b", one.words))
    known = {verb, verb + "e", words[0]} & LASTING_VERBS
    if not known or ONCE & set(words[1:]) or (not lasting and "the" in words):
        return
    base = next(iter(sorted(known & {verb + "e"} or known)))
    phrase = " ".join([base, *what.split()[1:]])
    negative = bool(groups.get("no"))
    if _leads_elsewhere(base, one.text, negative=negative):
        return
    if UNITS & set(words):
        yield say("preference:units", next(word for word in words if word in UNITS), 0.88, one)
    elif not (
        negative is False and base in {"answer", "reply", "respond"} and languages(what.partition(" in ")[2])
    ):
        yield say(
            f"instruction:{slug(phrase)}", f"{'do not' if negative else 'always'} {phrase}",
            0.9 if lasting else 0.8, one,
        )  # fmt: skip


def _leads_elsewhere(verb: str, text: str, *, negative: bool) -> bool:
    """Whether it says where answers lead or who gets them. A message that somebody forwards may say so, and
    would have it done for ever."""
    if DESTINATION.search(text):
        return True
    if negative:
        return False
    if verb in OUTWARD_VERBS:
        to_me = re.search(rf"(?i)\b{verb} (?:me|us)\b", text)
        return to_me is None or bool(TO_OTHERS.search(text))
    return bool(LINKS.search(text)) or (
        verb in SPEAKING_VERBS and bool(re.search(r"(?i)\bto (?!(?:me|us|the point)\b)", text))
    )


REST = r"(?P<rest>\S.*)"
_NO = r"(?P<no>don't|do not|never|stop|avoid|no more)"
_WHAT = (
    r"(?P<what>editor|ide|shell|browser|os|operating system|terminal|keyboard layout|"
    r"programming language|framework|"
    r"database|theme|code style|coding style|airline|seat|font)"
)
RULES: tuple[Rule, ...] = rules_of(
    (rf"i(?:'d| would)? {MUCH}(?:prefer|like|want) (?:my|your|the|all) (?:answers|replies|responses|"
     r"explanations) (?:to be |kept )?(?P<style>short|brief|concise|simple|long|detailed)\b", _style),
    (rf"(?:i(?:'d| would)? {MUCH}prefer|i(?:'d| would) {MUCH}rather(?! not)|"
     rf"my preference is(?: for)?) {REST}", _prefers),
    (rf"(?:my|our) (?:all-time |absolute )?(?:favou?rite|preferred) (?P<what>[\w' -]{{2,40}}?)"
     rf"(?: is| are|'s| has always been|:) {REST}", _favourite),
    (r"(?P<rest>[\w'][\w' -]{1,40}?) (?:is|are) my (?:all-time |"
     r"absolute )?favou?rite (?P<what>\S.*)", _is_favourite),
    (rf"(?:i {MUCH}(?:like|love|enjoy|adore)|{IM}(?:a )?(?:big |huge |great )?(?:fan of|into|fond of|"
     rf"keen on)) {REST}", _likes),
    (rf"(?:i {MUCH}(?:hate|dislike|detest|loathe|despise)|i (?:can't|cannot|can not) (?:stand|bear)|"
     rf"i (?:don't|do not) {MUCH}(?:like|enjoy)|(?:i'm|i am|im) not (?:really )?(?:a )?(?:big |huge |"
     rf"great )?(?:fan of|into|"
     rf"fond of|keen on)) {REST}", _dislikes),
    (rf"i {MUCH}use (?P<rest>\S.{{0,60}}?) (?:as|for) my (?P<what>\S.*)", _uses),
    (rf"i {MUCH}use {REST}", _uses_known),
    (rf"my {_WHAT}(?: of choice)? is {REST}", _mine),
    (rf"my (?P<what>hobby|hobbies|zodiac sign|goal)(?: is| are|:) (?:to )?{REST}", _owned),
    (r"my (?P<what>budget|clothing size|shoe size)(?: is|:) (?P<rest>[^,.]*\d.*|(?:xs|s|m|l|xl|"
     r"xxl)\Z)", _owned),
    (r"my (?P<what>website|homepage)(?: is|:) (?P<rest>\S+\.\w\S*)", _owned),
    (r"my (?P<what>github)(?: username| handle| account)?(?: is|:) (?P<rest>@?[\w-]+)\Z", _owned),
    (r"(?:i'm|i am|we're|we are) on the (?P<tier>free|basic|pro|plus|premium|team|business|enterprise|"
     r"starter) (?:plan|tier)\b",
     _plan),
    (r"(?:please )?keep (?:your |the |all )?(?:answers|replies|responses|explanations) (?P<style>short|"
     r"brief|concise|simple|"
     r"long|detailed)\b", _style),
    (r"(?:please )?(?:always )?be (?P<style>brief|concise)\b", _style),
    (rf"(?:please |{LASTING},? (?:please )?)*(?P<always>always) {REST}", _instructs),
    (rf"(?:{LASTING},? (?:please )?)(?:(?P<no>don't|do not|never|stop|"
     rf"avoid) (?P<ever>ever )?)?{REST}", _instructs),
    (rf"please (?:{_NO} )(?P<ever>ever )?{REST}", _instructs),
    (rf"(?P<no>don't|do not|avoid) (?P<always>ever )?{REST}", _asks_not_to),
    (rf"(?P<no>(?P<always>never)|stop) {REST}", _instructs),
    (r"please (?P<rest>use \S.*)", _instructs),
)  # fmt: skip
