"""Memories, slots and conversations, made through the domain as agents make them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from episodic.entities import NewEntity, put_entity
from episodic.episodes import store_episode
from episodic.models import Episode
from episodic.types import NewEpisode
from ledger.injections import Reason, mark_items
from recall.turns import append_turns
from tenants.caller import Caller
from working.events import event_type_of
from working.models import Session
from working.sessions import access_session
from working.types import NewEvent, SessionAddress

HOSTILE = (
    '<script>alert(1)</script><svg onload="alert(2)"><img src=x onerror=alert(3)>'
    " [x](javascript:alert(4)) \u202egnp.exe \"quoted\" 'single' & {{ braces }}"
)
ODD = "a/b c?d#e%2F\u202ef"  # a user id
EARLY = datetime(2026, 1, 1, tzinfo=UTC)


def episode(caller: Caller, text: str, **named: Any) -> Episode:
    return store_episode(caller=caller, new=NewEpisode(text=text, **named), now=timezone.now())


def slot(caller: Caller, value: Any, *, key: str = "city", user: str = "ann", **named: Any) -> UUID:
    """The id of the value."""
    new = NewEntity(user_id=user, key=key, value=value, **named)
    written = put_entity(caller=caller, new=new, now=timezone.now())
    assert written.entity is not None, written
    return written.entity.id


def waiting(caller: Caller, value: Any, *, key: str = "email", user: str = "ann") -> UUID:
    """What an agent says of a key that the policy does not leave to agents."""
    return slot(replace(caller, agent_id="bot"), value, key=key, user=user)


def turn(role: str, content: Any, **tool: Any) -> NewEvent:
    return NewEvent(
        event_type=event_type_of(role, tool.get("tool_calls")),
        role=role,
        content=content,
        tool=tool or None,
        created_at=timezone.now(),
    )


def talk(
    caller: Caller, *turns: NewEvent, session: str = "talk", user: str | None = None, **named: Any
) -> Session:
    address = SessionAddress(session, user)
    append_turns(caller=caller, address=address, events=turns, now=timezone.now(), **named)
    return access_session(caller=caller, address=address)


def tell(caller: Caller, session: Session, *, query: str, **items: str) -> None:
    """Has the session been told items for a query: `episode=id`."""
    mark_items(
        caller=caller,
        address=SessionAddress(session.external_id, session.user_id, session.namespace),
        items={f"{kind}:{one}": "mark" for kind, one in items.items()},
        now=timezone.now(),
        query=query,
        reasons={
            f"{kind}:{one}": Reason(place, 0.75, "recalled")
            for place, (kind, one) in enumerate(items.items(), 1)
        },
    )
