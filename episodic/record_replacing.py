"""Records that are saved again by their clients' ids: replaced in place, with their history.

What becomes of each is decided one by one, and written for all at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from episodic.announcements import tell_episodes
from episodic.editing import SAID, keep_revisions
from episodic.embedding import replace_vectors
from episodic.indexing import index_again
from episodic.merging import APART, MERGED, open_again, say_beside
from episodic.models import Episode
from episodic.rows import change_rows
from tenants.caller import Caller
from tenants.errors import Conflict
from webhooks.models import Event

HELD = ("content_hash", "memory_type", "session")  # beside what a revision keeps
WRITTEN = (
    *SAID, *HELD, "extraction", "pinned_at", "created_at", "valid_to", "superseded_by", "updated_at",
    "version", "embed_pending",
)  # fmt: skip
Key = tuple[str, str, str]  # user, namespace, the client's id


@dataclass(frozen=True, slots=True)
class Given:
    """A record as an unsaved episode, with what is kept beside it."""

    episode: Episode
    vector: NDArray[np.float32] | None
    is_dated: bool  # the client says when it was created
    last_accessed: datetime | None
    access_count: int


@dataclass(frozen=True, slots=True)
class Replaced:
    """A locked record that says something else by now, or holds again, and is to be stored so. `vector` is of
    what it says."""

    episode: Episode
    vector: NDArray[np.float32] | None
    has_history: bool  # what it said goes into it
    has_text: bool  # another than before
    was_closed: bool


def key_of(episode: Episode) -> Key:
    """By what a record is the same as one that was saved before."""
    return episode.user_id, episode.namespace, episode.external_id


def replace_record(prior: Episode, given: Given, *, caller: Caller, now: datetime) -> Replaced | None:
    """Has the locked record say what it is given as, and hold again if it held no more; None if it says that
    already. Saving again never unpins. Nothing is stored before `write_replaced`. Raises Conflict for one out
    of the key's reach."""
    for mine, theirs in ((caller.agent_id, prior.agent_id), (caller.project, prior.project)):
        if mine and mine != theirs:
            raise Conflict("This id stands for a memory that is out of the key's reach.")
    fields, was_closed = _differing(prior, given), prior.valid_to is not None
    if not fields and not was_closed:
        return None
    for name, value in fields.items():
        setattr(prior, name, value)
    prior.valid_to = prior.superseded_by = None
    prior.updated_at, prior.version = now, prior.version + 1
    if "text" in fields:
        prior.embed_pending = given.vector is None
    has_history = any(name in SAID for name in fields)
    return Replaced(prior, given.vector, has_history, "text" in fields, was_closed)


def add_to_record(said: Episode, new: Episode, *, now: datetime) -> Replaced | None:
    """Has the locked record stand for `new` as well, which says no more: it is pinned if that is, and has
    its topics, entities and metadata too, and its moment if it has none. None if it has them already. Nothing
    is stored before `write_replaced`."""
    changed = say_beside(said, new)
    if not changed:
        return None
    has_history = any(name in SAID for name in changed)
    if has_history:
        said.updated_at = now
    said.version += 1
    return Replaced(said, None, has_history, has_text=False, was_closed=False)


def both(one: Replaced, later: Replaced) -> Replaced:
    """What is to be stored of one record to which both happened."""
    return replace(
        later,
        vector=later.vector if later.has_text else one.vector,
        has_history=one.has_history or later.has_history,
        has_text=one.has_text or later.has_text,
        was_closed=one.was_closed or later.was_closed,
    )


def write_replaced(replaced: Sequence[Replaced], *, caller: Caller, now: datetime) -> None:
    """Stores them, with all that stands beside them, in the open scope: each statement serves all."""
    episodes = [one.episode for one in replaced]
    keep_revisions([one.episode for one in replaced if one.has_history], caller, now)
    change_rows(episodes, WRITTEN)
    replace_vectors([(one.episode, one.vector) for one in replaced if one.has_text])
    index_again(*episodes)
    open_again(*(one.episode for one in replaced if one.was_closed))
    tell_episodes([one.episode for one in replaced if not one.was_closed], Event.UPDATED)


def _differing(prior: Episode, given: Given) -> dict[str, Any]:
    new = given.episode
    wanted = {name: getattr(new, name) for name in (*SAID, *HELD) if name != "outcome"}  # a record has none
    kept = {name: value for name, value in (prior.extraction or {}).items() if name in (MERGED, APART)}
    wanted |= {
        "extraction": (new.extraction or {}) | kept,
        "pinned_at": prior.pinned_at or new.pinned_at,
        "created_at": new.created_at if given.is_dated else prior.created_at,
    }
    return {name: value for name, value in wanted.items() if value != getattr(prior, name)}
