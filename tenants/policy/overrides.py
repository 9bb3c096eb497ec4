"""Changing, checking, combining and comparing what a level holds. No database here."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tenants.errors import Invalid
from tenants.policy.document import AWAITED, Policy

Document = dict[str, Any]
LONGEST_NAME = 100  # characters of a client's own name that are repeated to it

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field, dotted, with its values before and after; None where the level leaves it open."""

    field: str
    before: Any
    after: Any


def merge(document: Mapping[str, Any], changes: Mapping[str, Any]) -> Document:
    """`changes` over `document` (RFC 7396): null removes a field or section; an emptied section goes too."""
    merged = dict(document)
    for section, values in changes.items():
        if isinstance(values, dict):
            inner = merged.get(section)
            fields = {**(inner if isinstance(inner, dict) else {}), **values}
            merged[section] = {name: value for name, value in fields.items() if value is not None}
        else:
            merged[section] = values
        if merged[section] is None or merged[section] == {}:
            del merged[section]
    return merged


def check_names(changes: Mapping[str, Any], document: Document) -> None:
    """Raises Invalid for a name that is neither known nor, from an earlier release, in the document: also
    where null is its value, so that a misspelt removal is noticed."""
    for section, values in changes.items():
        known = SECTIONS.get(section)
        if known is None and section not in document:
            raise Invalid("Unknown field.", f"document.{section[:LONGEST_NAME]}")
        if isinstance(values, dict):
            had = document.get(section)
            unknown = (
                set(values)
                - set(known.model_fields if known else ())
                - set(had if isinstance(had, dict) else ())
            )
            for name in sorted(unknown):
                raise Invalid("Unknown field.", f"document.{section}.{name[:LONGEST_NAME]}")


def check(document: Document, above: Document) -> None:
    """Raises Invalid, naming the field, when `document` cannot stand on top of `above`."""
    try:
        policy = Policy.model_validate(merge(_fitting(above), document))
    except ValidationError as error:
        raise _invalid(error.errors()[0]) from error
    own = flatten(document)
    for field in _awaited(document):
        raise Invalid(f"Nothing reads this yet: it awaits {AWAITED[field]}.", f"document.{field}")
    for field, limit in _exceeded(policy):
        raise Invalid(f"May not exceed this deployment's {limit}.", f"document.{field}")
    for fields, holds, sentence in RULES:
        named = [field for field in fields if field in own]
        if named and not holds(policy):
            others = ", ".join(field for field in fields if field not in AWAITED)
            raise Invalid(f"{sentence} See {others}.", f"document.{named[0]}")


def combine(*levels: Any) -> Policy:
    """The policy of documents as they are stored, the lowest level last."""
    merged: Document = {}
    for level in levels:
        if isinstance(level, dict):
            merged = merge(merged, level)
        else:  # one tenant's broken row must not stop what is done for all
            logger.warning("policy_not_read: a stored document is no object")
    return Policy.model_validate(_fitting(merged))


def flatten(document: Mapping[str, Any]) -> Document:
    """The fields by their dotted names."""
    return {
        f"{section}.{field}": value
        for section, values in document.items()
        if isinstance(values, dict)
        for field, value in values.items()
    }


def diff_policies(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """The fields that differ between two documents, by name."""
    old, new = flatten(before), flatten(after)
    return [
        Difference(field, old.get(field), new.get(field))
        for field in sorted(old.keys() | new.keys())
        if old.get(field) != new.get(field)
    ]


def _invalid(error: ErrorDetails) -> Invalid:
    field = ".".join(["document", *(str(step)[:LONGEST_NAME] for step in error["loc"])])
    sentences = {"extra_forbidden": "Unknown field.", "model_type": "Must be an object."}
    return Invalid(sentences.get(error["type"], f"{error['msg']}."), field)


def _awaited(document: Document) -> list[str]:
    """The fields in the document that nothing reads yet."""
    return [field for field in flatten(document) if field in AWAITED]


def _exceeded(policy: Policy) -> Iterator[tuple[str, int]]:
    """The fields above a ceiling of this deployment, with the ceiling."""
    for field, section, name, setting in CEILINGS:
        limit = getattr(settings, setting)
        if getattr(getattr(policy, section), name) > limit:
            yield field, limit


def _ceilings() -> Iterator[tuple[str, str, str, str]]:
    for section, model in SECTIONS.items():
        for name, field in model.model_fields.items():
            extra = field.json_schema_extra
            if isinstance(extra, dict) and "ceiling" in extra:
                yield f"{section}.{name}", section, name, str(extra["ceiling"])


def _fitting(document: Document) -> Document:
    """The document without what no longer fits since the product or the deployment has changed. That is
    logged, not raised: a policy that cannot be read would stop everything that asks for it."""
    while wrong := _misfits(document):
        for section, *rest in wrong:
            field = ".".join(map(str, (section, *rest)))
            logger.warning("policy field %s no longer fits and is left out", field)
            values = document.get(section)
            kept = {name: one for name, one in values.items() if [name] != rest} if rest and values else None
            document = {**document, section: kept} if kept else merge(document, {section: None})
    return document


def _misfits(document: Document) -> set[tuple[str, ...]]:
    try:
        policy = Policy.model_validate(document)
    except ValidationError as error:
        return {tuple(map(str, one["loc"][:2])) for one in error.errors()}
    wrong = [*_awaited(document), *(field for field, _limit in _exceeded(policy))]
    return {tuple(field.split(".")) for field in wrong}


SECTIONS: dict[str, type[BaseModel]] = {
    name: about.annotation
    for name, about in Policy.model_fields.items()
    if isinstance(about.annotation, type) and issubclass(about.annotation, BaseModel)
}
CEILINGS = tuple(_ceilings())


def _hold_fits(policy: Policy) -> bool:
    return policy.session.ttl_seconds <= policy.session.max_age_seconds


def _idle_in_time(policy: Policy) -> bool:
    return policy.session.idle_seconds <= policy.session.ttl_seconds


def _has_trigger(policy: Policy) -> bool:
    summary = policy.summary
    fires = summary.every_turns or summary.above_tokens or summary.on_end or summary.on_idle
    return bool(fires) or policy.write.episodes not in ("periodic", "both")


# Fields that go together: what must be true of them, and how to say that it is not.
RULES: tuple[tuple[tuple[str, ...], Callable[[Policy], bool], str], ...] = (
    (
        ("session.ttl_seconds", "session.max_age_seconds"),
        _hold_fits,
        "A session cannot be held for longer than its maximum age.",
    ),
    (
        ("session.idle_seconds", "session.ttl_seconds"),
        _idle_in_time,
        "A session must count as idle before Redis lets go of it.",
    ),
    (
        (
            "write.episodes",
            "summary.every_turns",
            "summary.above_tokens",
            "summary.on_end",
            "summary.on_idle",
        ),
        _has_trigger,
        "Periodic summaries need something that triggers them.",
    ),
)
