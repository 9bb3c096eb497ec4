"""One call's records on their way into the store: replaced, dropped, merged or added. In one scope, with the
people and the memories that they belong to locked (`records.save_records`)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from episodic import access_queries
from episodic.announcements import tell_episodes
from episodic.duplicates import record_hash
from episodic.embedding import vector_of
from episodic.indexing import entry_of
from episodic.item_edits import is_item
from episodic.likeness import unit_rows
from episodic.merging import (
    Entry,
    close_unsaved,
    covers,
    is_mergeable,
    keep_taken_in,
    merge,
    merged_ids,
    say_beside,
    says_now,
    stands_alone,
    stored_vectors,
    take_in,
    together,
    united_access,
)
from episodic.models import Episode, EpisodeAccess
from episodic.record_neighbours import NEIGHBOURS, StoredRecords
from episodic.record_replacing import (
    Given,
    Key,
    Replaced,
    add_to_record,
    both,
    key_of,
    replace_record,
    write_replaced,
)
from episodic.rows import insert_rows
from episodic.superseding import close
from episodic.types import SavedRecord
from tenants.caller import Caller
from webhooks.models import Event


class Batch:
    """What is to be written, and what was there before, of which everything that changes is locked."""

    def __init__(self, *, caller: Caller, given: Sequence[Given], distance: float, now: datetime) -> None:
        self._caller, self._tenant_id, self._now = caller, caller.tenant_id, now
        self._distance = distance  # cosine; below 0: nothing is compared
        self._new: dict[UUID, Entry] = {}
        self._replaced: dict[UUID, Replaced] = {}  # not written yet
        self._stored = StoredRecords(caller=caller, distance=distance)
        self._known = self._stored_by_key(given)
        self._same = self._stored_by_hash(given)
        self._like: list[Entry | None] = []  # what says what each record with a vector said
        self._units = _units(given)
        self._accesses: dict[UUID, tuple[datetime, int]] = {}
        self._used: dict[UUID, datetime] = {}
        self._stored.compare([None if key_of(one.episode) in self._known else one for one in given])

    def save(self, given: Given) -> SavedRecord:
        """Decides about one record, after those before it."""
        new, number = given.episode, len(self._like)
        self._like.append(None)
        prior = self._known.get(key_of(new))
        if prior is not None:
            return self._saved_again(prior, given, number)
        if self._distance >= 0 and not stands_alone(new):
            if (same := self._said_already(new)) is not None:
                self._add_to(same, given)
                return SavedRecord(new.external_id, same, "dropped")
            self._same[self._hash(new)] = new
            if (found := self._alike(given, number)) is not None:
                self._like[number] = found
                return SavedRecord(new.external_id, found.episode, "merged")
        self._like[number] = self._add(given)
        return SavedRecord(new.external_id, new, "created")

    def told(self, saved: SavedRecord) -> SavedRecord:
        """The same, once all are decided: later ones may have been merged with it."""
        now = self._says_now(saved.episode)
        return saved if now is None or now is saved.episode else replace(saved, episode=now, outcome="merged")

    def flush(self) -> None:
        """Writes what is new and what is replaced, with all that stands beside it."""
        self._write_replaced()
        entries = list(self._new.values())
        for one in entries:
            one.episode.embed_pending = one.vector is None
        episodes = [one.episode for one in entries]
        insert_rows(episodes)
        insert_rows([entry_of(one) for one in episodes])
        insert_rows([vector_of(one.episode, one.vector) for one in entries if one.vector is not None])
        insert_rows([self._access(one) for one in episodes if one.id in self._accesses])
        if self._used:
            access_queries.note(tenant_id=self._tenant_id, accesses=self._used, apart=0)
        tell_episodes([one for one in episodes if one.valid_to is None], Event.CREATED)

    def _write_replaced(self) -> None:
        """Before anything else happens to one of them in the store."""
        write_replaced(list(self._replaced.values()), caller=self._caller, now=self._now)
        self._replaced = {}

    def _stored_by_key(self, given: Sequence[Given]) -> dict[Key, Episode]:
        """Those of the same ids, also such as hold no more, locked."""
        keys = [key_of(one.episode) for one in given]
        users, namespaces, ids = (set(column) for column in zip(*keys, strict=True))
        found = Episode.objects.select_for_update(no_key=True).filter(
            ~Q(external_id=""),  # or many ids are not looked for in the index of those that have one
            tenant_id=self._tenant_id,
            user_id__in=users,
            namespace__in=namespaces,
            external_id__in=ids,
        )
        return {key_of(one): one for one in self._stored.each_once(found.order_by("id"))}

    def _stored_by_hash(self, given: Sequence[Given]) -> dict[tuple[str, ...], Episode]:
        """Those that say the same, locked, and hold or were merged; of several the newest that holds."""
        if self._distance < 0:
            return {}
        found = Episode.objects.filter(
            tenant_id=self._tenant_id,
            user_id__in={one.episode.user_id for one in given},
            content_hash__in={one.episode.content_hash for one in given},
        )
        holds = found.filter(Q(valid_to=None) | Q(superseded_by__isnull=False))
        wanted = {self._hash(one.episode) for one in given}
        # Not an item, which goes when it expires.
        ids = sorted(one.id for one in holds if self._hash(one) in wanted and not is_item(one))
        said = self._stored.lock(ids)
        ranked = sorted(said, key=lambda one: (one.valid_to is None, one.created_at, one.id))
        return {self._hash(one): one for one in ranked}

    def _hash(self, episode: Episode) -> tuple[str, ...]:
        """What another agent or project says is another memory."""
        return record_hash(episode), episode.agent_id, episode.project

    def _said_already(self, new: Episode) -> Episode | None:
        """What says it word for word, or all of it and more, locked; None if nothing does."""
        same = self._same.get(self._hash(new))
        if same is None or self._hash(same) != self._hash(new):  # by now it says something else
            return None
        return self._says_now(same)

    def _says_now(self, said: Episode) -> Episode | None:
        found = says_now(self._stored.rows.get(said.id, said), self._stored.rows)
        locked = [] if found is None else self._stored.lock([found.id])
        return next((one for one in locked if one.valid_to is None), None)

    def _saved_again(self, prior: Episode, given: Given, number: int) -> SavedRecord:
        """One that was merged and comes again as it was, stays merged: the call came twice."""
        new, merged = given.episode, self._says_now(prior)
        if merged is not None and merged is not prior and record_hash(prior) == record_hash(new):
            self._add_to(merged, given)
            return SavedRecord(new.external_id, merged, "merged")
        replaced = replace_record(prior, given, caller=self._caller, now=self._now)
        if replaced is not None:
            self._change(replaced)
            self._stored.changed.add(prior.id)
            self._like[number] = Entry(prior, given.vector)
        if given.last_accessed is not None and given.last_accessed > prior.created_at:
            self._used[prior.id] = given.last_accessed
        return SavedRecord(new.external_id, prior, "replaced")

    def _add_to(self, said: Episode, given: Given) -> None:
        """What says it already stands for it as well, and counts as used."""
        self._used[said.id] = self._now
        if said.id in self._new:
            say_beside(said, given.episode)
        elif (added := add_to_record(said, given.episode, now=self._now)) is not None:
            self._change(added)

    def _change(self, replaced: Replaced) -> None:
        earlier = self._replaced.get(replaced.episode.id)
        self._replaced[replaced.episode.id] = replaced if earlier is None else both(earlier, replaced)

    def _add(self, given: Given) -> Entry:
        entry = Entry(given.episode, given.vector)
        self._keep(entry)
        last, count = given.last_accessed, given.access_count
        if count or (last is not None and last > given.episode.created_at):
            self._accesses[given.episode.id] = last or given.episode.created_at, count
        return entry

    def _keep(self, entry: Entry) -> None:
        self._new[entry.episode.id] = entry
        self._stored.rows[entry.episode.id] = entry.episode

    def _access(self, one: Episode) -> EpisodeAccess:
        last, count = self._accesses[one.id]
        return EpisodeAccess(
            id=one.id,
            tenant_id=one.tenant_id,
            user_id=one.user_id,
            agent_id=one.agent_id,
            last_accessed_at=last,
            access_count=count,
        )

    # What says the same in other words

    def _alike(self, given: Given, number: int) -> Entry | None:
        """What says all that the record says once the record is in it; None if nothing does."""
        new = given.episode
        if given.vector is None or self._distance == 0 or not is_mergeable(new):
            return None
        near = self._near(given, number)
        fuller = next((one for one in near if covers(one.episode, new)), None)
        if fuller is not None and merged_ids(fuller.episode):
            self._add(given)
            self._take_in(fuller.episode, new)
            return fuller
        said = together(one for one in near if covers(new, one.episode))
        if said:
            return self._merged(self._add(given), said)
        return None if fuller is None else self._merged(fuller, [self._add(given)])

    def _near(self, given: Given, number: int) -> list[Entry]:
        """What holds of the same memory and is near in meaning: what this call brought, then what is stored;
        the nearest first in each."""
        cosines = self._units[:number] @ self._units[number]
        numbers = np.flatnonzero(cosines >= 1 - self._distance)
        mine = [
            self._like[place] for place in sorted(numbers, key=lambda place: -cosines[place])[:NEIGHBOURS]
        ]
        here = {one.episode.id: one for one in mine if one is not None}
        stored = self._stored.near(given, number)
        left = [Entry(one, None) for one in stored if one.id not in here]
        return [one for one in (*here.values(), *left) if is_mergeable(one.episode)]

    def _with_vector(self, entry: Entry) -> Entry:
        if entry.vector is not None or entry.episode.id in self._new:
            return entry
        vectors = stored_vectors(self._caller, [entry.episode.id])
        return replace(entry, vector=vectors.get(entry.episode.id))

    def _merged(self, fullest: Entry, others: Sequence[Entry]) -> Entry:
        self._write_replaced()
        entry = merge(fullest=self._with_vector(fullest), others=others, now=self._now)
        self._keep(entry)
        sources = [fullest.episode, *(one.episode for one in others)]
        self._unite_accesses(entry.episode, sources)
        stored = [one for one in sources if one.id not in self._new]
        ids = [one.id for one in stored]
        close(
            Episode.objects.filter(tenant_id=self._tenant_id, id__in=ids), at=self._now, by=entry.episode.id
        )
        merged = {one.id for one in sources}
        for one in sources:
            close_unsaved(one, by=entry.episode, now=self._now)
        self._like = [
            entry if like is not None and like.episode.id in merged else like for like in self._like
        ]
        return entry

    def _unite_accesses(self, merged: Episode, sources: Sequence[Episode]) -> None:
        ids = [one.id for one in sources]
        new = [self._accesses[one] for one in ids if one in self._accesses]
        if (used := united_access(self._tenant_id, ids, new)) is not None:
            self._accesses[merged.id] = used

    def _take_in(self, merged: Episode, new: Episode) -> None:
        self._write_replaced()
        take_in(merged, [new], self._now)
        self._used[merged.id] = self._now
        if merged.id in self._new:
            return
        keep_taken_in(merged)


def _units(given: Sequence[Given]) -> NDArray[np.float32]:
    """Their vectors, each of length 1, shape (len(given), dimensions); zeros where there is none."""
    dimensions = next((len(one.vector) for one in given if one.vector is not None), 0)
    vectors = np.zeros((len(given), dimensions), dtype=np.float32)
    for number, one in enumerate(given):
        if one.vector is not None:
            vectors[number] = one.vector
    return unit_rows(vectors)
