"""Everything that is kept of a person, in one zip file: as JSON Lines, and as a page to read.

The first line is a header, the last one counts the records by kind. Each store is read page by page, once for
each of the two, not at one moment: what is written meanwhile may be in it or not.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
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
from tenants.privacy.archive import in_parts, zipped
from tenants.privacy.erasure import is_under_way
from tenants.privacy.page import Page
from tenants.privacy.receipts import plain
from tenants.privacy.registry import Record, Subject, handlers, tell_exported, with_sessions
from tenants.scope import scope
from tenants.subjects import actor_of, asked_by, confine, pseudonym
from tenants.tombstones import subject_of

KIND = "subject.export"
DOWNLOAD = "export.download"  # in the audit log
FORMAT = 2
CHUNK = 256 * 1024  # bytes of the compressed file in one row
README = b"""\
index.html is everything to read: open it with a browser. It needs no network.
memories.jsonl is the same for machines, one JSON object per line; the last one counts them.
Keep both as you would a diary: they are not encrypted, and whoever has them can read them.
"""
REPORT_EVERY = 1_000  # records
AWAY = 5.0  # seconds after which a store that was away is tried again
Watch = Callable[[Iterator[Record]], Iterator[Record]]


def request_export(*, caller: Caller, user_id: str, now: datetime) -> Job:
    """Has everything of the person written into one file; the job that does it. Raises Forbidden when the key
    does not reach all of the person's memory."""
    confine(caller, user_id)
    actor = actor_of(caller, user_id)
    subject = subject_of(tenant_id=caller.tenant_id, user_id=user_id)
    with scope(caller.tenant_id):
        record(tenant_id=caller.tenant_id, user_id=user_id, actor=actor, action=KIND)
        job_id = enqueue(
            KIND, payload={}, user_id=user_id, requested_by=actor, dedup_key=asked_by(subject, actor), now=now
        )
        job = Job.objects.get(tenant_id=caller.tenant_id, id=job_id)
        idempotency.keep(job, user_id=user_id)
    return job


def access_export(*, caller: Caller, job_id: UUID) -> tuple[Job, int]:
    """A finished export and its size in bytes, for a download, which is entered in the audit log. Raises
    NotFound for any other job, Conflict before it is done."""
    job = access_job(caller=caller, job_id=job_id)
    if job.kind != KIND:
        raise NotFound("There is no such export.")
    if job.state != JobState.DONE:
        raise Conflict(f"The export is {job.state}, not done.")
    with scope(caller.tenant_id):
        actor = actor_of(caller, job.user_id)
        record(tenant_id=job.tenant_id, user_id=job.user_id, actor=actor, action=DOWNLOAD)
        return job, size_of(job)


def size_of(job: Job) -> int:
    """Bytes of the file, in the open scope; 0 when there is none any longer."""
    return _chunks(job.tenant_id, job.id).aggregate(size=Sum(Length("data")))["size"] or 0


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
        record(tenant_id=tenant_id, user_id=user_id, actor=actor, action=KIND)
    yield from _archive(Subject(tenant_id, user_id, now), iter, iter)


def record(*, tenant_id: UUID, user_id: str, actor: str, action: str) -> None:
    """The entry of the audit log, in the open scope."""
    target = pseudonym(tenant_id=tenant_id, user_id=user_id)
    audit.record(tenant_id=tenant_id, actor=actor, action=action, target=target)


def _chunks(tenant_id: UUID, job_id: UUID) -> Any:
    return ExportChunk.objects.filter(tenant_id=tenant_id, job_id=job_id)


def _archive(subject: Subject, watch: Watch, watch_page: Watch) -> Iterator[bytes]:
    """The zip file. The records pass through `watch` for their lines and `watch_page` for the page."""
    with scope(subject.tenant_id):
        tenant = Tenant.objects.get(id=subject.tenant_id).slug
    subject = with_sessions(subject)
    stores = {name: watch_page(one.export(subject)) for name, one in handlers().items()}
    page = Page(tenant=tenant, user_id=subject.user_id, at=subject.until, stores=stores)

    def members() -> Iterator[tuple[str, Iterator[bytes]]]:
        yield "README.txt", iter([README])
        yield from in_parts("memories", ".jsonl", map(_line, _records(subject, tenant, watch)))
        yield "index.html", page.pieces()

    return zipped(members(), now=subject.until)


def _records(subject: Subject, tenant: str, watch: Watch) -> Iterator[Record]:
    yield {
        "kind": "header",
        "format": FORMAT,
        "tenant": tenant,
        "user_id": subject.user_id,
        "exported_at": subject.until,
    }
    counts = Counter[str]()
    for handler in handlers().values():
        for one in watch(handler.export(subject)):
            counts[one["kind"]] += 1
            yield one
    yield {"kind": "counts", "records": counts.total(), "by_kind": dict(counts)}


def _line(one: Record) -> bytes:
    return json.dumps(one, ensure_ascii=False, separators=(",", ":"), default=plain).encode() + b"\n"


class _Writer:
    """Collects pieces and stores them as numbered chunks, as long as the job is ours."""

    def __init__(self, task: Task) -> None:
        self.task, self.number, self.size, self.records, self._seen = task, 0, 0, 0, 0
        self._waiting = bytearray()

    def counted(self, records: Iterator[Record]) -> Iterator[Record]:
        for one in self.watched(records):
            self.records += 1
            yield one

    def watched(self, records: Iterator[Record]) -> Iterator[Record]:
        """Raises LeaseLost when another worker has the job."""
        for one in records:
            self._seen += 1
            if self._seen % REPORT_EVERY == 0:
                progress.report(self.task, done=self.records)
            yield one

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
        subject = Subject(task.tenant_id, task.user_id, timezone.now())
        for piece in _archive(subject, writer.counted, writer.watched):
            writer.add(piece)
        writer.close()
    except Unavailable as error:
        raise RetryLater(str(error), after=AWAY) from error
    return {"records": writer.records, "bytes": writer.size}


def _apply(task: Task, prepared: dict[str, Any]) -> dict[str, Any]:
    total = prepared["records"]
    Job.objects.filter(tenant_id=task.tenant_id, id=task.id).update(done=total, total=total)
    tell_exported(tenant_id=task.tenant_id, user_id=task.user_id, job_id=task.id)
    return prepared


def register_kinds() -> None:
    """Called once the models are loaded."""
    register_kind(
        Kind(
            KIND,
            _apply,
            prepare=_prepare,
            slow=True,
            urgent=True,
            keep=True,
            sees_restricted=True,
            for_privacy=True,
        )
    )
