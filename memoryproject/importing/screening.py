"""What sensitive stands in what comes in, and what the tenant's policy has done with it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from episodic.types import NewRecord
from memoryproject.importing.report import NOT_WRITTEN
from observations.transfer import ImportedObservation
from recall.gate import STRICTNESS, judge
from recall.saving_records import judge_record
from screening.sensitive import find_sensitive
from screening.values import mask_value, told
from tenants.policy.document import Policy
from working.types import NewEvent

MASKED, KEPT, LEFT_OUT = "masked", "kept", NOT_WRITTEN


@dataclass(frozen=True, slots=True)
class Screened:
    """`value` is what may be written, None if it may not. `kinds` tells what was found, and `done` what is
    done with it; without `done`, those are orders to a model, which nothing lets in."""

    value: Any
    kinds: tuple[str, ...] = ()
    done: str = ""


def screen_record(record: NewRecord, *, policy: Policy, keeps: bool) -> Screened:
    """A memory, as the gate judges every record. What the policy would hold for somebody to confirm is left
    out: the report is where that is decided. `keeps`: what is sensitive comes in to the letter."""
    judged = judge_record(record, policy=policy)
    verdict = judged.verdict
    if verdict.action == "write":
        return Screened(record)
    if verdict.reason == "injection":
        return Screened(None, verdict.findings)
    if keeps:
        return Screened(record, verdict.findings, KEPT)
    if verdict.action == "redact":
        return Screened(judged.record, verdict.findings, MASKED)
    return Screened(None, verdict.findings, LEFT_OUT)


def screen_value(value: Mapping[str, Any], *, policy: Policy, keeps: bool) -> Screened:
    """An item of the store, likewise."""
    verdict = judge(told(value), policy=policy)
    if verdict.action == "write":
        return Screened(value)
    if verdict.reason == "injection":
        return Screened(None, verdict.findings)
    if keeps:
        return Screened(value, verdict.findings, KEPT)
    if verdict.action == "redact":
        return Screened(mask_value(dict(value)), verdict.findings, MASKED)
    return Screened(None, verdict.findings, LEFT_OUT)


def screen_observation(row: ImportedObservation, *, policy: Policy, keeps: bool) -> Screened:
    """An observation, for what is sensitive alone: it may well tell of orders."""
    new = row.new
    action, kinds = _sensitive({"title": new.title, "content": new.content, "tags": list(new.tags)}, policy)
    if not kinds:
        return Screened(row)
    if keeps:
        return Screened(row, kinds, KEPT)
    if action != "redact":
        return Screened(None, kinds, LEFT_OUT)
    tags = tuple(map(str, mask_value(list(new.tags))))
    masked = replace(new, title=mask_value(new.title), content=mask_value(new.content), tags=tags)
    return Screened(replace(row, new=masked), kinds, MASKED)


def screen_event(event: NewEvent, *, policy: Policy, keeps: bool) -> Screened:
    """An event of a session. A gap would change the talk: what the policy does not want is masked in it."""
    _action, kinds = _sensitive([event.content, dict(event.metadata)], policy)
    if not kinds or keeps:
        return Screened(event, kinds, KEPT if kinds else "")
    masked = replace(event, content=mask_value(event.content), metadata=mask_value(dict(event.metadata)))
    return Screened(masked, kinds, MASKED)


def screen_beside(value: Any, *, policy: Policy, keeps: bool) -> Screened:
    """What stands beside a session's events, its data or its summary, likewise."""
    _action, kinds = _sensitive(value, policy)
    if not kinds or keeps:
        return Screened(value, kinds, KEPT if kinds else "")
    return Screened(mask_value(value), kinds, MASKED)


def _sensitive(value: Any, policy: Policy) -> tuple[str, tuple[str, ...]]:
    """The strictest of what the policy says of what is found in the value, and what that is."""
    sensitive = policy.sensitive
    handling = {"secret": sensitive.secrets, "card": sensitive.cards, "health": sensitive.health}
    found = find_sensitive(told(value))
    kinds = tuple(dict.fromkeys(f"{one.category}:{one.kind}" for one in found))
    return max((handling[one.category] for one in found), key=STRICTNESS.index, default=""), kinds
