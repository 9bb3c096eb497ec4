"""What a person says of themselves, found by rules. Pure; linear in the message's length.

The statements of a message are looked at one by one; for each the rules that fit its beginning say what it
means. Sentences that tell a decision, an event or something to be remembered, and yield no fact, are the
summary.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from recall.remember import rules_family, rules_life, rules_self, rules_tastes
from recall.remember.candidates import MOST_FACTS, Extraction, Fact, ended, settle
from recall.remember.endings import read_ended
from recall.remember.lexicon import EMPTY, ONCE, POINTING
from recall.remember.phrases import WORD, name, place, term
from recall.remember.statements import Statement, read_statements

RULES = (*rules_self.RULES, *rules_life.RULES, *rules_family.RULES, *rules_tastes.RULES)
LONGEST_SUMMARY = 500
SHORTEST_EVENT = 3  # words
REMEMBER = re.compile(
    r"(?i)[\s,]*(?:please |also |and |ok |hey |now )*(?:remember|keep in mind|don't forget|"
    r"do not forget|note)"
    r"(?: that|:)[\s,]*(?P<what>\S.*)"
)
HAPPENED = re.compile(
    r"(?i)(?:(?:we|i)(?:'ve| have)? (?:just |finally |already |both |all )*(?:decided|agreed|settled on|"
    r"chose|chosen|"
    r"booked|ordered|launched|shipped|released|deployed|migrated|cancelled|canceled|signed|hired|"
    r"finished|completed|"
    r"fixed|resolved|bought|sold|switched|renamed|approved|rejected|scheduled|postponed)\b|"
    r"(?:let's|we'll|we will|we're going to|i'll) (?:go with|stick with|use)\b|(?:the|our) (?:decision|"
    r"plan|agreement) is\b)"
)
NOT_BUT = re.compile(
    r"(?i)(?:(?:it's|it is|that's|make that|make it|should be) )?(?:not|isn't) (.{1,60}?),?(?: but|"
    r",) (?:it's )?(\S.*)"
)
BUT_NOT = re.compile(
    r"(?i)(?:(?:it's|it is|that's|make that|make it|i meant|"
    r"should be) )?(\S.{0,60}?),? (?:and )?not (\S.{0,60})\Z"
)
MEANT = re.compile(r"(?i)\b(?:i meant?|actually|correction|scratch that|or rather)\b")
NAMES = {
    "name",
    "preferred_name",
    "home_city",
    "home_country",
    "origin",
    "employer",
    "family",
    "person",
    "pet",
}
NOW_IT_IS = re.compile(r"(?i)(?:it's|it is|that's|make that|make it|should be)(?: actually)? (\S.*)")


def extract(message: str) -> Extraction:
    """What the message tells of its writer; contradictions are settled, a correction having the last word."""
    found: list[Fact] = []
    told: dict[str, bool] = {}
    for one in read_statements(message):
        if len(found) >= MOST_FACTS:
            break
        facts = _facts_of(one, found)
        found = [*(_without_corrected(found, facts) if one.corrects else found), *facts]
        if not facts and one.certainty == 1 and (event := _event_of(one)):
            told.setdefault(*event)
    known = {fact.words for fact in found}
    told = {sentence: holds for sentence, holds in told.items() if sentence not in known}
    stand, losers = settle(found)
    summary = _joined(told)
    return Extraction(stand, losers, summary, lasting=bool(summary) and all(told.values()))


def _facts_of(one: Statement, before: list[Fact]) -> list[Fact]:
    """What no longer holds; else what does; else what a correction corrects."""
    if (past := read_ended(one.text)) and (gone := _matched(replace(one, text=past))):
        keys = {fact.key for fact in gone}
        # Who leaves a town may stay in the country.
        ends = [fact for fact in gone if fact.key != "home_country" or "home_city" not in keys]
        return [replace(ended(fact), clause=one.text) for fact in ends if not fact.ends]
    if facts := _matched(one):
        return facts
    return _corrections(one, before) if one.corrects or " not " in f" {one.text} " else []


def _matched(one: Statement) -> list[Fact]:
    """The first rule that finds something has spoken."""
    for rule in RULES:
        found = rule.pattern.match(one.text)
        if found is not None and (facts := list(rule.build(found, one))):
            return facts
    return []


def _corrections(one: Statement, before: list[Fact]) -> list[Fact]:
    """ "It's Munich, not Berlin": of what, the wrong value tells, or what was said just before."""
    for pattern, right, wrong in ((NOT_BUT, 2, 1), (BUT_NOT, 1, 2)):
        if (found := pattern.match(one.text)) and (one.corrects or pattern is BUT_NOT):
            value, old = _value(found[right], one), _value(found[wrong], one)
            if not value or not old:
                return []
            same = next((fact for fact in before if fact.value.casefold() == old.casefold()), None)
            key = same.key if same else ""
            return [Fact(key, value, 0.9 * one.certainty, one.words, replaces="" if key else old)]
    if one.corrects and before and (found := NOW_IT_IS.match(one.text)) and (value := _value(found[1], one)):
        return [Fact(before[-1].key, value, 0.9 * one.certainty, one.words)]
    return _meant(one, before)


def _meant(one: Statement, before: list[Fact]) -> list[Fact]:
    """ "I live in Oslo. No, I meant Bergen": of the one fact that was told just before, if it is a name."""
    if not (before and one.corrects and MEANT.search(one.words)):
        return []
    last = before[-1]
    told = [fact for fact in before if fact.words == last.words]
    value = _value(one.text, one)
    if len(told) > 1 or last.how != "set" or last.key.partition(":")[0] not in NAMES:
        return []
    whole = value and value.casefold() == one.text.strip(" .!").casefold()
    return [Fact(last.key, value, 0.9 * one.certainty, one.words)] if whole else []


def _value(raw: str, one: Statement) -> str:
    """What stands in for a name, a place or a number. Other words could be anything."""
    value = term(raw)
    if any(map(str.isdigit, value)) and len(value.split()) <= 3:
        return value
    return place(value, plain=one.plain) or name(value, plain=one.plain)


def _without_corrected(found: list[Fact], facts: list[Fact]) -> list[Fact]:
    corrected = {fact.key for fact in facts}
    return [fact for fact in found if fact.key not in corrected]


def _event_of(one: Statement) -> tuple[str, bool] | None:
    """The sentence worth remembering, and whether it is something that holds."""
    if one.asked:
        return None
    if (found := REMEMBER.match(one.words)) and len(found["what"].split()) >= SHORTEST_EVENT:
        text = found["what"]
        return text[:1].upper() + text[1:], True
    happened = HAPPENED.match(one.text)
    if happened and len(one.text.split()) >= SHORTEST_EVENT and _tells(one.text[happened.end() :]):
        return one.words, False
    return None


def _tells(what: str) -> bool:
    """Whether it says what was decided or booked, and not only "it" or "nothing"."""
    return any(word not in POINTING | ONCE | EMPTY for word in WORD.findall(what.lower()))


def _joined(sentences: Iterable[str]) -> str:
    """As many of the sentences as fit."""
    summary = ""
    for sentence in sentences:
        longer = f"{summary} {sentence}".strip()
        if len(longer) > LONGEST_SUMMARY:
            break
        summary = longer
    return summary
