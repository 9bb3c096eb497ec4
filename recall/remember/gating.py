"""Which candidates may be written, by what they say and what the policy says."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from episodic.models import MemoryType, Origin
from episodic.slots import NewEntity
from episodic.types import NewEpisode
from ledger.decisions import Refused
from recall.gate import Verdict, judge, part_to_hold
from recall.holding import hold_entity, hold_episode
from recall.remember.answers import LONGEST_SUMMARY
from recall.remember.candidates import Fact
from recall.remember.extraction import Extracted, Turn
from recall.remember.statements import split_sentences
from recall.remember.types import Source
from screening.injection import find_injection, poses_as_configuration
from screening.sensitive import find_sensitive, mask
from tenants.policy.document import Policy

HIGHLIGHT = "highlight"  # the kind that an episode's metadata names
TURN = "turn"  # the kind of a refusal that is of no single memory


@dataclass(frozen=True, slots=True)
class Gated:
    """What may be written, and what may not."""

    source: Source
    turn: Turn
    extracted: Extracted
    facts: tuple[Fact, ...]
    episode: NewEpisode | None
    refused: tuple[Refused, ...]


def gate(*, source: Source, turn: Turn, extracted: Extracted, policy: Policy) -> Gated:
    """Sorts the candidates. What is wrong with the message as such is told, too, when no candidate shows it:
    whoever pastes a secret learns that it is not kept."""
    found = extracted.found
    refused = [Refused(TURN, extracted.failure, "")] if extracted.failure else []
    refused += [Refused(TURN, "injected", "")] if turn.emptied else []
    refused += [Refused(TURN, "not_memorable", text) for text in found.unworthy]
    refused += [refuse_fact(fact, "unconfirmed", source=source, extracted=extracted) for fact in found.losers]
    throughout = _is_ordered_throughout(turn.user_message)
    facts = []
    for fact in found.facts:
        passed = _judged(fact, source, extracted, policy, poisoned=throughout)
        if isinstance(passed, Fact):
            facts.append(passed)
        else:
            refused.append(passed)
    episode = None
    if found.summary:
        new = _episode_of(found.summary, lasting=found.lasting, source=source, extracted=extracted)
        passed_episode = _judged_episode(new, policy, poisoned=throughout)
        if isinstance(passed_episode, NewEpisode):
            episode = passed_episode
        else:
            refused.append(passed_episode)
    whole = judge(turn.user_message, policy=policy)
    if whole.action != "write":
        refused += _waiting(turn.user_message, refused, source, extracted, policy)
        refused += _of_message(turn.user_message, refused, whole)
    return Gated(source, turn, extracted, tuple(facts), episode, tuple(refused))


def entity_of(fact: Fact, *, source: Source, extracted: Extracted) -> NewEntity:
    """The fact as it is put into its slot."""
    return NewEntity(
        user_id=source.user_id,
        key=fact.key,
        value=fact.value,
        confidence=fact.confidence,
        source=extracted.extractor,
        session_id=source.session_id,
        turn=source.turn,
        agent_id=source.agent_id or None,
        extracted=True,
    )


def refuse_fact(
    fact: Fact, reason: str, *, source: Source, extracted: Extracted, held: bool = False
) -> Refused:
    """A fact that is not written. What ends a slot is not kept to be written later."""
    new = entity_of(fact, source=source, extracted=extracted)
    return Refused(
        kind="entity",
        reason=reason,
        text=fact.text,
        key=fact.key,
        confidence=fact.confidence,
        held=hold_entity(new) if fact.how == "set" and fact.key else None,
        outcome="held" if held else "skipped",
    )


def refuse_episode(new: NewEpisode, reason: str, *, held: bool = False) -> Refused:
    """A highlight that is not written."""
    kept = hold_episode(new)
    return Refused("episode", reason, new.text, held=kept, outcome="held" if held else "skipped")


def _judged(
    fact: Fact, source: Source, extracted: Extracted, policy: Policy, *, poisoned: bool
) -> Fact | Refused:
    if poisoned or find_injection(fact.words) or poses_as_configuration(fact.key, fact.value):
        return replace(refuse_fact(fact, "injection", source=source, extracted=extracted), held=None)
    verdict = judge(_said(fact), policy=policy)
    if verdict.action == "redact" and (harmless := _masked(fact)) is not None:
        fact = harmless
    elif verdict.action != "write":
        is_held = verdict.action == "hold"
        refused = refuse_fact(fact, verdict.reason, source=source, extracted=extracted, held=is_held)
        return replace(refused, findings=verdict.findings, held=refused.held if is_held else None)
    if policy.write.entities == "off":
        return refuse_fact(fact, "policy", source=source, extracted=extracted)
    return fact


def _said(fact: Fact) -> str:
    """The fact as a person says it: what a bare key and value do not show, a sentence may."""
    key = fact.key.replace("_", " ").replace(":", " ")
    return "\n".join((fact.clause, fact.text, f"My {key} is {fact.value}.", f"I have {fact.value}."))


def _masked(fact: Fact) -> Fact | None:
    """The fact without what is sensitive in its value; None if what is left still tells."""
    harmless = replace(fact, value=mask(fact.value, find_sensitive(fact.value)), clause="")
    return harmless if harmless.value != fact.value and not find_sensitive(_said(harmless)) else None


def _judged_episode(new: NewEpisode, policy: Policy, *, poisoned: bool) -> NewEpisode | Refused:
    if poisoned:
        return Refused("episode", "injection", new.text)
    if len(new.text) > min(policy.limits.episode_chars, LONGEST_SUMMARY):
        return Refused("episode", "limit", new.text)
    verdict = judge(new.text, policy=policy)
    if verdict.action == "redact":
        new = replace(new, text=verdict.text)
    elif verdict.action != "write":
        is_held = verdict.action == "hold"
        refused = refuse_episode(new, verdict.reason, held=is_held)
        return replace(refused, findings=verdict.findings, held=refused.held if is_held else None)
    if policy.write.episodes not in {"selective", "both"}:
        return refuse_episode(new, "policy")
    return new


def _episode_of(text: str, *, lasting: bool, source: Source, extracted: Extracted) -> NewEpisode:
    metadata = {"kind": HIGHLIGHT, "extractor": extracted.extractor}
    if extracted.model:
        metadata |= {"model": extracted.model, "prompt": extracted.prompt}
    return NewEpisode(
        text=text,
        user_id=source.user_id,
        agent_id=source.agent_id or None,
        project=source.project or None,
        session_id=source.session_id,
        namespace=source.namespace,
        memory_type=MemoryType.SEMANTIC if lasting else MemoryType.EPISODIC,
        origin=Origin.SESSION,
        covers_turns=None if source.turn is None else (source.turn, source.turn),
        metadata=metadata,
    )


def _is_ordered_throughout(message: str) -> bool:
    """Whether an order to the model runs through several sentences: then none of them is trusted."""
    return bool(find_injection(message)) and not any(map(find_injection, split_sentences(message)))


def _waiting(
    message: str, refused: Iterable[Refused], source: Source, extracted: Extracted, policy: Policy
) -> list[Refused]:
    """What the policy holds and no candidate does, such as a password that somebody tells."""
    held = {name for one in refused if one.outcome == "held" for name in one.findings}
    text, findings = part_to_hold(message, list(split_sentences(message)), policy=policy, held=held)
    if not text or len(text) > policy.limits.episode_chars:
        return []
    new = _episode_of(text, lasting=True, source=source, extracted=extracted)
    return [replace(refuse_episode(new, "blocklist", held=True), findings=findings)]


def _of_message(message: str, refused: Iterable[Refused], verdict: Verdict) -> list[Refused]:
    told = {one.reason for one in refused}
    if verdict.action == "redact" or verdict.reason in told:
        return []
    return [Refused(TURN, verdict.reason, message, findings=verdict.findings)]
