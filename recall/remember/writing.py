"""What passed the gate becomes memory, in the open scope; what does not is noted with its reason."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from episodic.duplicates import content_hash, find_duplicate, lock_memory
from episodic.entities import current_slots, delete_entity, is_removed, put_extracted
from episodic.episodes import build_episode
from episodic.inserting import insert_episode
from episodic.metrics import counted_at_commit
from episodic.models import Entity, Episode
from episodic.slots import SlotWrite, is_high_impact, slot_key, slot_keys, slot_text
from episodic.superseding import supersede
from episodic.types import NewEpisode
from ledger.decisions import Refused, masked, note_decision
from ledger.models import WriteDecision
from recall.remember.candidates import MOST_FACTS, Fact, without
from recall.remember.gating import Gated, entity_of, refuse_episode, refuse_fact
from recall.remember.passing import REASON, count_passed
from recall.remember.types import Remembered, Skipped, Written
from tenants.errors import Forbidden, Invalid
from tenants.policy.document import Policy

Vectors = Mapping[str, NDArray[np.float32]]
MOST_SLOTS = 1_000  # of a user, looked at for what a correction corrects
MOST_TOLD = 500  # items of a session's ledger that are compared


def write(
    *,
    gated: Gated,
    policy: Policy,
    told: Mapping[str, str],
    vectors: Vectors,
    said_at: datetime | None,
    now: datetime,
) -> Remembered:
    """Writes facts and highlight, and notes every skip. `told` is the session's ledger, `vectors` the texts'
    embeddings, where the model answered; `said_at` is when the turn was recorded, if that was before now, and
    dates its facts."""
    return _Writer(gated, policy, told, vectors, said_at, now).run()


def text_of_fact(fact: Fact) -> str:
    """What is embedded of it, as of any slot."""
    try:
        return slot_text(slot_key(fact.key), fact.value)
    except Invalid:  # no slot is called like that: the write will be refused
        return ""


class _Writer:
    """One turn's writes, in order."""

    def __init__(
        self,
        gated: Gated,
        policy: Policy,
        told: Mapping[str, str],
        vectors: Vectors,
        said_at: datetime | None,
        now: datetime,
    ) -> None:
        self._gated, self._policy, self._vectors = gated, policy, vectors
        self._said_at, self._now = said_at, now
        self._source, self._caller = gated.source, gated.source.caller
        self._written: list[Written] = []
        self._skipped: list[Skipped] = []
        self._slots: dict[str, Entity] | None = None
        self._told = self._told_texts(told) if gated.facts or gated.episode else frozenset()

    def run(self) -> Remembered:
        if self._gated.episode is not None:  # its lock comes before those of slots, for every turn
            self._write_episode(self._gated.episode)
        for refused in self._gated.refused:
            self._skip(refused)
        for fact in self._gated.facts:
            self._write_fact(fact)
        self._skip_beyond(self._gated.extracted.beyond)
        if not self._written and all(one.reason.startswith("llm_") for one in self._skipped):
            self._skipped.append(Skipped("", REASON))
            transaction.on_commit(count_passed)
        extractor = self._gated.extracted.extractor
        return Remembered(tuple(self._written), tuple(self._skipped), extractor)

    def _write_fact(self, fact: Fact) -> None:
        resolved = self._resolved(fact)
        if resolved is None:
            return None
        if self._was_told(resolved.words):
            return self._skip_fact(resolved, "injected")
        if resolved.how == "retract":
            return self._retract(resolved)
        new = entity_of(resolved, source=self._source, extracted=self._gated.extracted)
        new = replace(new, valid_from=self._said_at)
        vector = self._vectors.get(text_of_fact(resolved))
        done = put_extracted(caller=self._caller, new=new, vector=vector, now=self._now)
        reason = self._reason(done)
        if done.entity is None or reason:
            return self._skip_fact(
                resolved, reason, held=done.action == "pending" and reason == "unconfirmed"
            )
        self._slots = None
        text = slot_text(done.entity.key, done.entity.value)
        return self._written.append(Written("entity", done.entity.id, done.entity.key, text))

    def _reason(self, done: SlotWrite) -> str:
        """Why it is no news; a value that waits already does not wait twice."""
        if done.action == "confirmed_again":
            return "duplicate"
        if done.action == "pending" and done.entity is not None and done.entity.created_at != self._now:
            return "duplicate"
        return done.reason

    def _resolved(self, fact: Fact) -> Fact | None:
        """The fact with its slot and value, of what the slots hold; None if it is about nothing they hold."""
        if not fact.key:
            wrong = fact.replaces.casefold()
            of = next((key for key, one in self._current().items() if str(one.value).casefold() == wrong), "")
            return replace(fact, key=of) if of else None
        if fact.how == "add":
            held = self._current().get(slot_key(fact.key))
            return replace(fact, how="set", value=_joined(held.value if held else "", fact.value))
        if fact.how == "remove":
            held = self._current().get(slot_key(fact.key))
            left = without(str(held.value), fact.value) if held else None
            if held is None or left is None:  # it was none of them
                return replace(fact, how="retract")
            return (
                replace(fact, how="set", value=left)
                if left
                else replace(fact, how="retract", value=str(held.value))
            )
        return fact

    def _retract(self, fact: Fact) -> None:
        """Ends the slot if it holds that value."""
        held = self._current().get(slot_key(fact.key))
        if held is None or str(held.value).casefold() != fact.value.casefold():
            return self._skip_fact(fact, "not_memorable")
        if reason := self._keeps(held, fact):
            return self._skip_fact(fact, reason)
        named: dict[str, Any] = {
            "user_id": held.user_id,
            "key": held.key,
            "now": self._now,
            "at": self._said_at,
        }
        try:
            delete_entity(caller=self._caller, hard=False, **named)
        except Forbidden:  # a person said it, and an agent's key reports that it holds no more
            return self._skip_fact(fact, "unconfirmed")
        self._slots = None
        return self._written.append(Written("entity", held.id, held.key, f"no longer {fact.value}"))

    def _keeps(self, held: Entity, fact: Fact) -> str:
        """Why the slot is not ended by what a turn says; empty if it may be."""
        entities = self._policy.entities
        allowed = slot_keys(entities.allowed_keys)
        if fact.confidence < entities.min_confidence:
            return "low_confidence"
        if allowed and held.key not in allowed:
            return "allowlist"
        if held.pinned_at is not None:
            return "pinned"
        if is_high_impact(held.key, held.value, entities.high_impact_keys):
            return "unconfirmed"
        is_old = self._said_at is not None and self._said_at < held.updated_at
        return "outdated" if is_old else ""

    def _write_episode(self, new: NewEpisode) -> None:
        if self._was_told(new.text):
            return self._skip(Refused("episode", "injected", new.text))
        episode = build_episode(caller=self._caller, new=new, now=self._now)
        where: dict[str, Any] = {
            name: getattr(episode, name)
            for name in ("tenant_id", "user_id", "agent_id", "project", "namespace")
        }
        lock_memory(**where)
        if find_duplicate(text=episode.text, now=self._now, **where) is not None:
            return self._skip(replace(refuse_episode(new, "duplicate"), held=None))
        vector = self._vectors.get(episode.text)
        episode.supersedes = supersede(episode, vector)
        with counted_at_commit():
            insert_episode(episode, vector)
        return self._written.append(Written("episode", episode.id, "", episode.text))

    def _current(self) -> dict[str, Entity]:
        if self._slots is None:
            found = current_slots(caller=self._caller, user_id=self._source.user_id, limit=MOST_SLOTS)
            self._slots = {one.key: one for one in found}
        return self._slots

    def _told_texts(self, told: Mapping[str, str]) -> frozenset[str]:
        """Hashes of what the session was told, as it reads now."""
        ids = [
            (kind, _id(rest)) for kind, _colon, rest in (key.partition(":") for key in [*told][:MOST_TOLD])
        ]
        episodes = [one for kind, one in ids if kind == "episode" and one]
        slots = [one for kind, one in ids if kind == "entity" and one]
        hashes: set[str] = set()
        if episodes:
            mine = Episode.objects.filter(tenant_id=self._caller.tenant_id, id__in=episodes)
            hashes |= set(mine.exclude(content_hash="").values_list("content_hash", flat=True))
        if slots:
            rows = Entity.objects.filter(tenant_id=self._caller.tenant_id, id__in=slots)
            hashes |= {content_hash(slot_text(one.key, one.value)) for one in rows}
        return frozenset(hashes)

    def _was_told(self, text: str) -> bool:
        message = self._gated.turn.user_message
        return bool(self._told) and (content_hash(text) in self._told or content_hash(message) in self._told)

    def _skip_fact(self, fact: Fact, reason: str, *, held: bool = False) -> None:
        self._skip(refuse_fact(fact, reason, source=self._source, extracted=self._gated.extracted, held=held))

    def _skip_beyond(self, texts: Sequence[str]) -> None:
        """Facts above the number that one message may hold: each is told, one decision says how many."""
        if texts:
            many = f"{len(texts)} facts more than {MOST_FACTS} of one message"
            self._note(Refused("entity", "limit", many))
        self._skipped += [Skipped(masked(text), "limit") for text in texts]

    def _skip(self, refused: Refused) -> None:
        decision = self._note(refused)
        self._skipped.append(Skipped(decision.text, decision.reason))

    def _note(self, refused: Refused) -> WriteDecision:
        if refused.kind == "entity" and refused.key:
            refused = self._of_slot(refused)
        return note_decision(
            caller=self._caller,
            session_id=self._source.session_id,
            user_id=self._source.user_id,
            agent_id=self._source.agent_id,
            project=self._source.project,
            refused=refused,
            now=self._now,
        )

    def _of_slot(self, refused: Refused) -> Refused:
        """By the slot's own key, by which a later write finds what waits for it. Of a slot that was removed
        since this was said, nothing is kept."""
        try:
            key = slot_key(refused.key)
        except Invalid:
            return refused
        since = self._said_at or self._now
        tenant_id, user_id = self._caller.tenant_id, self._source.user_id
        if is_removed(tenant_id=tenant_id, user_id=user_id, key=key, since=since):
            return Refused("entity", "outdated", "")
        return replace(refused, key=key)


def _joined(held: object, more: str) -> str:
    """ "German" and "French, German" as "German, French"."""
    parts = [part.strip() for part in f"{held}, {more}".split(",")] if held else [more]
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
