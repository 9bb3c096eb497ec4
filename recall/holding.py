"""Writes as they are kept until somebody decides them: JSON, and back. Pure."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from episodic.slots import NewEntity
from episodic.types import NewEpisode

MOMENTS = frozenset({"event_date", "valid_from"})
TUPLES = frozenset({"topics", "entities", "covers_turns"})


def hold_entity(new: NewEntity) -> dict[str, Any]:
    """What `ledger.decisions.Refused.held` keeps of a slot's value."""
    return _held(new)


def hold_episode(new: NewEpisode) -> dict[str, Any]:
    """Likewise, of an episode."""
    return _held(new)


def held_entity(held: Mapping[str, Any]) -> NewEntity:
    """The value as somebody who knows says it, no longer as it was extracted."""
    return NewEntity(**{**_read(held), "extracted": False})


def held_episode(held: Mapping[str, Any]) -> NewEpisode:
    """The episode as it was to be stored."""
    return NewEpisode(**_read(held))


def _held(new: NewEntity | NewEpisode) -> dict[str, Any]:
    return {one.name: _plain(getattr(new, one.name)) for one in fields(new)}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def _read(held: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(name, value) for name, value in held.items()}


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in MOMENTS:
        return datetime.fromisoformat(value)
    return tuple(value) if name in TUPLES else value
