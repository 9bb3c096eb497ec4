"""Changing, checking, combining and comparing what a level holds. No database here."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tenants.errors import Invalid, refuse
from tenants.policy.document import TENANT_ONLY, Policy

Document = dict[str, Any]
LONGEST_NAME = 100  # characters of a client's own name that are repeated to it

# In the words of whoever writes a document, where the checker speaks of its own types.
SENTENCES = {
    "extra_forbidden": "Unknown field.",
    "model_type": "Must be an object.",
    "dict_type": "Must be an object.",
    "tuple_type": "Must be a list.",
}

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


def check_level(document: Document, agent_id: str) -> None:
    """Raises Invalid when an agent's level decides what is the tenant's alone."""
    for section in TENANT_ONLY & document.keys() if agent_id else ():
        raise Invalid("Only the tenant decides this, not an agent's level.", f"document.{section}")


def check(document: Document, above: Document) -> None:
    """Raises Invalid when `document` cannot stand on top of `above`: of the first field that is wrong, with
    all others that are."""
    whole, own = merge(_fitting(above), document), flatten(document)
    errors = _errors(whole)
    wrong = [_invalid(one) for one in errors]
    policy = Policy.model_validate(_without(whole, _places(errors)))
    for field, limit in _exceeded(policy):
        wrong.append(Invalid(f"May not exceed this deployment's {limit}.", f"document.{field}"))
    broken = {".".join(place) for place in _places(errors)}
    for fields, holds, sentence in RULES:
        named = [field for field in fields if field in own]
        if named and broken.isdisjoint(fields) and not holds(policy):
            wrong.append(Invalid(f"{sentence} See {', '.join(fields)}.", f"document.{named[0]}"))
    refuse(wrong)


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
    return Invalid(SENTENCES.get(error["type"], f"{error['msg']}."), field)


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
        for place in wrong:
            logger.warning("policy field %s no longer fits and is left out", ".".join(place))
        document = _without(document, wrong)
    return document


def _misfits(document: Document) -> set[tuple[str, ...]]:
    if errors := _errors(document):
        return _places(errors)
    policy = Policy.model_validate(document)
    return {tuple(field.split(".")) for field, _limit in _exceeded(policy)}


def _errors(document: Document) -> list[ErrorDetails]:
    """Every value that the policy cannot hold."""
    try:
        Policy.model_validate(document)
    except ValidationError as error:
        return error.errors()
    return []


def _places(errors: Iterable[ErrorDetails]) -> set[tuple[str, ...]]:
    """Sections and fields that they are in."""
    return {tuple(map(str, one["loc"][:2])) for one in errors}


def _without(document: Document, places: Iterable[tuple[str, ...]]) -> Document:
    for section, *rest in places:
        values = document.get(section)
        kept = {name: one for name, one in values.items() if [name] != rest} if rest and values else None
        document = {**document, section: kept} if kept else merge(document, {section: None})
    return document


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
