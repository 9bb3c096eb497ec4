"""Long-term memories on their way in: those that are new, and those that say something else by now."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from episodic.duplicates import content_hash
from episodic.episodes import CLOCKS_DIFFER
from episodic.models import Episode
from episodic.record_reading import LONGEST_ID
from episodic.records import save_records
from episodic.types import NewRecord
from memoryproject.importing.batches import write_batch
from memoryproject.importing.fields import derived_id
from memoryproject.importing.rows import Kind, Memory
from memoryproject.importing.run import Run
from memoryproject.importing.screening import screen_record
from tenants.scope import scope

MARK = "imported"  # the member of a memory's metadata that says where it is from, and what it said there
KIND: Kind = "memories"
TAKEN = "its id stands for another memory here"
Key = tuple[str, str, str]  # user, namespace, id


@dataclass(frozen=True, slots=True)
class _Known:
    """What stands here under an id."""

    mark: Any
    digest: str


def write_memories(run: Run, rows: Sequence[Memory]) -> None:
    """Writes, in one commit for each agent, those that may come in and are not here yet."""
    now = run.clock()
    admitted = _screened(run, _named(run, rows), now)
    known, said = _known(run, admitted, now)
    groups: dict[str, list[tuple[Memory, bool]]] = {}
    for row in admitted:
        is_update = _key(row.record) in known
        if is_update and not _has_changed(run, row, known[_key(row.record)]):
            continue
        if not is_update and _is_said(run, row, said):
            continue
        groups.setdefault(row.agent_id, []).append((row, is_update))
    for agent_id, group in groups.items():
        save = partial(_save, run, agent_id, now)
        write_batch(run, group, save, tell=lambda pair: (KIND, pair[0].place))


def _named(run: Run, rows: Sequence[Memory]) -> list[Memory]:
    """Each id once, with the person and the agent whose it becomes."""
    named = []
    for row in rows:
        user_id = run.whose(row.record.user_id)
        if user_id is None:
            run.report.leave(KIND, "passed_by", "another person's", place=row.place)
            continue
        own = row.record.id or ""
        own = own if 0 < len(own) <= LONGEST_ID else derived_id(run.source, own)
        if not run.seen.is_new(KIND, user_id, row.record.namespace, own):
            run.report.leave(KIND, "duplicates", "the same id again", place=row.place)
            continue
        record = replace(row.record, id=own, user_id=user_id)
        named.append(replace(row, record=record, agent_id=row.agent_id or run.agent_id))
    return named


def _screened(run: Run, rows: Sequence[Memory], now: datetime) -> list[Memory]:
    standings = run.standings({row.record.user_id or "" for row in rows})
    admitted = []
    for row in rows:
        record, user_id = row.record, row.record.user_id or ""
        if reason := _junk(run, row, now):
            run.report.leave(KIND, "junk", reason, place=row.place, sample=record.text)
        elif not run.is_barred(KIND, user_id, standings, since=record.created_at, place=row.place):
            screened = screen_record(record, policy=run.policy(row.agent_id), keeps=run.keeps_secrets)
            if run.admit(KIND, screened, place=row.place, sample=record.text):
                admitted.append(replace(row, record=_marked(run, screened.value, row.agent_id)))
    return admitted


def _junk(run: Run, row: Memory, now: datetime) -> str:
    longest = run.policy(row.agent_id).limits.episode_chars
    if len(row.record.text) > longest:
        return f"longer than {longest:,} characters"
    created_at = row.record.created_at
    is_later = created_at is not None and created_at > now + CLOCKS_DIFFER
    return "created_at is in the future" if is_later else ""


def _marked(run: Run, record: NewRecord, agent_id: str) -> NewRecord:
    """With the mark by which it is known when it comes again: of what is written, never of what is masked."""
    told = [
        record.text, record.user_id, agent_id, record.session_id, record.namespace, record.created_at,
        record.event_date, record.topics, record.entities, record.memory_type, record.pinned, record.metadata,
    ]  # fmt: skip
    digest = hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:32]
    return replace(record, metadata={**record.metadata, MARK: {"from": run.source, "said": digest}})


def _known(run: Run, rows: Sequence[Memory], now: datetime) -> tuple[dict[Key, _Known], set[Key]]:
    """What stands here under the ids, also what holds no more; and which of the texts hold: each as user,
    namespace with agent, and digest."""
    if not rows:
        return {}, set()
    records = [row.record for row in rows]
    users = {one.user_id or "" for one in records}
    tenant_id = run.caller.tenant_id
    with scope(tenant_id):
        mine = Episode.objects.filter(tenant_id=tenant_id, user_id__in=users)
        by_id = mine.filter(
            namespace__in={one.namespace for one in records}, external_id__in=[one.id for one in records]
        ).values_list("user_id", "namespace", "external_id", "metadata", "content_hash")
        known = {
            (user, space, own): _Known(meta.get(MARK), digest) for user, space, own, meta, digest in by_id
        }
        by_text = mine.filter(
            content_hash__in={content_hash(one.text) for one in records}, valid_to=None
        ).values_list("user_id", "namespace", "agent_id", "content_hash")
        said = {(user, f"{space}\x00{agent}", digest) for user, space, agent, digest in by_text}
    return known, said


def _has_changed(run: Run, row: Memory, known: _Known) -> bool:
    """Whether the source says something else than when it was imported last. What became of the memory here
    since does not matter: an import undoes no edit, no merge and no retraction."""
    mark = (row.record.metadata or {})[MARK]
    if isinstance(known.mark, dict) and known.mark.get("from") == run.source:
        if known.mark.get("said") != mark["said"]:
            return True
        run.report.count(KIND, "unchanged")
    elif known.digest == content_hash(row.record.text):
        run.report.leave(KIND, "duplicates", "here already, not from this source", place=row.place)
    else:
        run.report.leave(KIND, "refused", TAKEN, place=row.place)
    run.seen.is_new("text", *_text(row))
    return False


def _is_said(run: Run, row: Memory, said: set[Key]) -> bool:
    """Whether the same person, agent and namespace has the text, here or from further above."""
    is_first = run.seen.is_new("text", *_text(row))
    if _text(row) in said:
        run.report.leave(KIND, "duplicates", "the same text is here already", place=row.place)
    elif not is_first:
        run.report.leave(KIND, "duplicates", "the same text again", place=row.place)
    else:
        return False
    return True


def _save(run: Run, agent_id: str, now: datetime, group: Sequence[tuple[Memory, bool]]) -> None:
    if not run.is_dry:
        caller, records = run.as_agent(agent_id), [row.record for row, _is_update in group]
        save_records(caller=caller, records=records, deduplicate=False, now=now)
    for _row, is_update in group:
        run.report.count(KIND, "updated" if is_update else "written")


def _key(record: NewRecord) -> Key:
    return record.user_id or "", record.namespace, record.id or ""


def _text(row: Memory) -> Key:
    record = row.record
    return record.user_id or "", f"{record.namespace}\x00{row.agent_id}", content_hash(record.text)
