"""Which candidates may become records, and what is noted of the others."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from episodic.types import NewEpisode
from ledger.decisions import Refused
from recall.extracting.types import Candidate, Material
from recall.extracting.wording import shorten
from recall.gate import judge
from recall.holding import hold_episode
from screening.values import mask_value, told


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate as it may be saved, or why it is not."""

    candidate: Candidate
    refused: Refused | None = None


def judge_all(candidates: Iterable[Candidate], material: Material) -> list[Judged]:
    """By what they say and what the policy says of that, in their order."""
    return [_judged(one, material) for one in candidates]


def _judged(candidate: Candidate, material: Material) -> Judged:
    one = replace(candidate, text=shorten(candidate.text, material.policy.limits.episode_chars))
    if one.refusal:
        return Judged(one, Refused("episode", one.refusal, one.text))
    said = "\n".join(filter(None, (one.words, one.text, told(one.topics), told(one.entities))))
    verdict = judge(said, policy=material.policy)
    if verdict.action == "write":
        return Judged(one)
    if verdict.action == "redact":
        topics, entities = mask_value(one.topics), mask_value(one.entities)
        return Judged(replace(one, text=mask_value(one.text), topics=tuple(topics), entities=tuple(entities)))
    is_held = verdict.action == "hold"
    refused = Refused(
        kind="episode",
        reason=verdict.reason,
        text=one.text,
        findings=verdict.findings,
        held=hold_episode(_episode(one, material)) if is_held else None,
        outcome="held" if is_held else "skipped",
    )
    return Judged(one, refused)


def _episode(one: Candidate, material: Material) -> NewEpisode:
    session = material.session
    return NewEpisode(
        text=one.text,
        user_id=session.user_id,
        agent_id=session.agent_id,
        project=session.project,
        session_id=session.external_id,
        namespace=session.namespace,
        memory_type=one.memory_type,
        topics=one.topics,
        entities=one.entities,
        event_date=one.event_date,
    )
