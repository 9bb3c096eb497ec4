"""Everything that is kept of a person, as JSON Lines in one gzip file.

The first line is a header, the last one counts the records by kind. Each store is read page by page, not at
one moment: what is written meanwhile may be in it or not.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Sum
from django.db.models.functions import Length
from django.utils import timezone

from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, NotFound, Unavailable
from tenants.jobs import progress
from tenants.jobs.kinds import Kind, RetryLater, Task
from tenants.jobs.kinds import register as register_kind
from tenants.jobs.queue import access_job, enqueue
from tenants.models import ExportChunk, Job, JobState, Tenant
from tenants.privacy.erasure import is_under_way
from tenants.privacy.registry import Record, Subject, handlers
from tenants.scope import scope
from tenants.subjects import actor_of, asked_by, confine
from tenants.tombstones import subject_of

KIND = "subject.export"
FORMAT = 1
CHUNK = 256 * 1024  # bytes of the compressed file in one row
GZIP = 31  # zlib's window bits: the largest window, in gzip's frame
REPORT_EVERY = 1_000  # records
AWAY = 5.0  # seconds after which a store that was away is tried again


def request_export(*, caller: Caller, user_id: str, now: datetime) -> Job:
    """Has everything of the person written into one file; the job that does it. Raises Forbidden when the key
    does not reach all of the person's memory."""
    confine(caller, user_id)
    actor = actor_of(caller, user_id)
    with scope(caller.tenant_id):
        subject = _record(caller.tenant_id, user_id, actor)
        job_id = enqueue(
            KIND, payload={}, user_id=user_id, requested_by=actor, dedup_key=asked_by(subject, actor), now=now
        )
        job = Job.objects.get(tenant_id=caller.tenant_id, id=job_id)
        idempotency.keep(job, user_id=user_id)
    return job


def access_export(*, caller: Caller, job_id: UUID) -> tuple[Job, int]:
    """A finished export and its size in bytes. Raises NotFound for any other job, Conflict before it is
    done."""
    job = access_job(caller=caller, job_id=job_id)
    if job.kind != KIND:
        raise NotFound("There is no such export.")
    if job.state != JobState.DONE:
        raise Conflict(f"The export is {job.state}, not done.")
    with scope(caller.tenant_id):
        size = _chunks(job.tenant_id, job.id).aggregate(size=Sum(Length("data")))["size"]
    return job, size or 0


def read_export(*, tenant_id: UUID, job_id: UUID) -> Iterator[bytes]:
    """The pieces of the file, each read when it is asked for. It ends early when the export is deleted.

    Between two pieces it holds no connection: a client may take hours to fetch them.
    """
    number = 0
    while True:
        with scope(tenant_id):
            chunk = _chunks(tenant_id, job_id).filter(number=number).first()
        connection.close()
        if chunk is None:
            return
        yield bytes(chunk.data)
        number += 1


def export_file(*, tenant_id: UUID, user_id: str, actor: str, now: datetime) -> Iterator[bytes]:
    """The same file for whoever may have it anyway, made while it is read, in pieces of any size; `actor` is
    the name for the audit log."""
    with scope(tenant_id):
        _record(tenant_id, user_id, actor)
    yield from _compressed(_lines(Subject(tenant_id, user_id, now)))


def _record(tenant_id: UUID, user_id: str, actor: str) -> str:
    """The entry of the audit log; answers who it is about, by a pseudonym."""
    subject = subject_of(tenant_id=tenant_id, user_id=user_id)
    audit.record(tenant_id=tenant_id, actor=actor, action=KIND, target=subject[:12])
    return subject


def _chunks(tenant_id: UUID, job_id: UUID) -> Any:
    return ExportChunk.objects.filter(tenant_id=tenant_id, job_id=job_id)


def _lines(subject: Subject) -> Iterator[Record]:
    with scope(subject.tenant_id):
        tenant = Tenant.objects.get(id=subject.tenant_id).slug
    yield {
        "kind": "header",
        "format": FORMAT,
        "tenant": tenant,
        "user_id": subject.user_id,
        "exported_at": subject.until,
    }
    counts = Counter[str]()
    for handler in handlers().values():
        for record in handler.export(subject):
            counts[record["kind"]] += 1
            yield record
    yield {"kind": "counts", "records": counts.total(), "by_kind": dict(counts)}


def _compressed(records: Iterator[Record]) -> Iterator[bytes]:
    gzip = zlib.compressobj(wbits=GZIP)
    for record in records:
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=_plain)
        if piece := gzip.compress(line.encode() + b"\n"):
            yield piece
    yield gzip.flush()


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return str(value)


class _Writer:
    """Collects pieces and stores them as numbered chunks, as long as the job is ours."""

    def __init__(self, task: Task) -> None:
        self.task, self.number, self.size, self.records = task, 0, 0, 0
        self._waiting = bytearray()

    def counted(self, records: Iterator[Record]) -> Iterator[Record]:
        for record in records:
            self.records += 1
            if self.records % REPORT_EVERY == 0:
                progress.report(self.task, done=self.records)
            yield record

    def add(self, piece: bytes) -> None:
        self._waiting += piece
        while len(self._waiting) >= CHUNK:
            self._store(bytes(self._waiting[:CHUNK]))
            del self._waiting[:CHUNK]

    def close(self) -> None:
        self._store(bytes(self._waiting))

    def _store(self, data: bytes) -> None:
        """In one commit with the proof that no other worker writes the same file."""
        with scope(self.task.tenant_id):
            progress.report(self.task, done=self.records)
            if self.number == 0:  # what an attempt before this one has left
                _chunks(self.task.tenant_id, self.task.id).delete()
            ExportChunk.objects.create(
                tenant_id=self.task.tenant_id, job_id=self.task.id, number=self.number, data=data
            )
        self.number, self.size = self.number + 1, self.size + len(data)


def _prepare(task: Task) -> dict[str, Any]:
    """Writes the chunks. While the person is being erased it waits: what is about to go must not be kept."""
    with scope(task.tenant_id):
        if is_under_way(tenant_id=task.tenant_id, user_id=task.user_id):
            raise RetryLater("The person is being erased.", after=1.0)
    writer = _Writer(task)
    try:
        records = writer.counted(_lines(Subject(task.tenant_id, task.user_id, timezone.now())))
        for piece in _compressed(records):
            writer.add(piece)
        writer.close()
    except Unavailable as error:
        raise RetryLater(str(error), after=AWAY) from error
    return {"records": writer.records - 2, "bytes": writer.size}  # without header and counts


def _apply(task: Task, prepared: dict[str, Any]) -> dict[str, Any]:
    total = prepared["records"]
    Job.objects.filter(tenant_id=task.tenant_id, id=task.id).update(done=total, total=total)
    return prepared


def register_kinds() -> None:
    """Called once the models are loaded."""
    register_kind(Kind(KIND, _apply, prepare=_prepare, slow=True, urgent=True, keep=True))
