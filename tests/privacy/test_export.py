"""An export holds everything that is kept of a person, and nothing of anybody else."""

import os
import stat

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from tenants.jobs.progress import LeaseLost
from tenants.management.commands import export_subject
from tenants.models import ExportChunk, Job, JobState
from tenants.privacy import export
from tenants.privacy.erasure import begin_erasure
from tenants.privacy.export import export_file, read_export, request_export
from tenants.scope import scope
from tests.plugin import STORES
from tests.privacy import people


def exported(member, user):
    job = request_export(caller=member.caller, user_id=user, now=timezone.now())
    people.run_jobs()
    with scope(member.tenant.id):
        job.refresh_from_db()
    assert job.state == JobState.DONE, job.error
    return job, b"".join(read_export(tenant_id=member.tenant.id, job_id=job.id))


def test_everything_that_the_person_wrote_is_in_it(acme):
    people.live(acme, "ann")
    before = people.belongings(acme.tenant.id, "ann")
    job, file = exported(acme, "ann")
    header, *records, counts = people.lines(file)
    text = str(records)
    assert [word for word in people.WORDS if f"sesame {word}" not in text] == []
    assert (header["kind"], header["user_id"], header["tenant"]) == ("header", "ann", acme.tenant.slug)
    assert header["format"] == 2
    assert header["exported_at"].endswith("Z")
    kinds = [one["kind"] for one in records]
    assert counts == {
        "kind": "counts",
        "records": len(records),
        "by_kind": {k: kinds.count(k) for k in kinds},
    }
    stores = {
        "event": "Event", "checkpoint": "Checkpoint", "session_state": "SessionState", "session": "Session",
        "injection": "Injection", "episode": "Episode", "api_key": "ApiKey",
    }  # fmt: skip
    assert {kind: kinds.count(kind) for kind in stores} == {
        kind: len(before[m]) for kind, m in stores.items()
    }
    assert kinds.count("working_memory") == 1
    assert (job.done, job.total, job.result) == (
        len(records), len(records), {"records": len(records), "bytes": len(file)},
    )  # fmt: skip


def test_every_field_of_a_record_is_shown_and_no_secret(acme):
    people.live(acme, "ann")
    _job, file = exported(acme, "ann")
    by_kind = {one["kind"]: one for one in people.lines(file)}
    episode = by_kind["episode"]
    assert episode.keys() >= {"id", "text", "topics", "metadata", "created_at", "session", "agent_id"}
    assert by_kind["event"]["content"]
    assert by_kind["working_memory"]["data"] == {"scratchpad": "sesame field"}
    assert by_kind["job"]["job_kind"] == "subject.export"
    assert b"secret_hash" not in b"".join(str(one).encode() for one in by_kind.values())


def test_nothing_of_another_person_or_tenant_is_in_it(acme, globex):
    people.live(acme, "ann")
    for other in ("ann/x", "%", "bob"):
        people.live(acme, other, word="raisin")
    people.live(globex, "ann", word="raisin")
    for user in ("ann", "_nn"):
        _job, file = exported(acme, user)
        assert "raisin" not in str(people.lines(file))
    _header, record, counts = people.lines(file)  # of one of whom nothing is kept but this very job
    assert (record["kind"], counts["records"]) == ("job", 1)


def test_a_file_is_written_in_chunks_and_replaced_after_a_crash(acme, monkeypatch):
    people.live(acme, "ann")
    monkeypatch.setattr(export, "CHUNK", 200)
    store, seen = export._Writer._store, []

    def crash_at_the_third(self, data):
        store(self, data)
        seen.append(self.number)
        if len(seen) == 3:
            raise KeyError("crash")

    monkeypatch.setattr(export._Writer, "_store", crash_at_the_third)
    job = request_export(caller=acme.caller, user_id="ann", now=timezone.now())
    people.run_jobs()
    with scope(acme.tenant.id):
        assert ExportChunk.objects.filter(job_id=job.id).count() == 3
        ExportChunk.objects.filter(job_id=job.id).update(data=b"half of something else")
        Job.objects.filter(id=job.id).update(run_at=timezone.now())
    people.run_jobs()
    file = b"".join(read_export(tenant_id=acme.tenant.id, job_id=job.id))
    with scope(acme.tenant.id):
        sizes = [len(one.data) for one in ExportChunk.objects.filter(job_id=job.id).order_by("number")]
    assert len(sizes) > 3
    assert set(sizes[:-1]) == {200}
    assert people.lines(file)[-1]["kind"] == "counts"


def test_a_writer_that_lost_its_lease_writes_nothing_more(acme, monkeypatch):
    people.live(acme, "ann")
    store, told = export._Writer._store, []

    def lose_the_lease(self, data):
        with scope(acme.tenant.id):
            Job.objects.filter(id=self.task.id).update(lease=self.task.id)
        try:
            store(self, data)
        except LeaseLost as error:
            told.append(error)
            raise

    monkeypatch.setattr(export._Writer, "_store", lose_the_lease)
    job = request_export(caller=acme.caller, user_id="ann", now=timezone.now())
    people.run_jobs()
    assert told
    with scope(acme.tenant.id):
        assert not ExportChunk.objects.filter(job_id=job.id).exists()


def test_it_waits_while_the_person_is_being_erased(acme):
    people.live(acme, "ann")
    erasure = begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=timezone.now())
    with scope(acme.tenant.id):
        Job.objects.filter(id=erasure.id).update(run_at=timezone.now() + timezone.timedelta(hours=1))
    job = request_export(caller=acme.caller, user_id="ann", now=timezone.now())
    people.run_jobs()
    with scope(acme.tenant.id):
        waiting = Job.objects.get(id=job.id)
        assert (waiting.state, waiting.error) == ("queued", "The person is being erased.")
        Job.objects.update(run_at=timezone.now())
    people.run_jobs()
    with scope(acme.tenant.id):
        Job.objects.update(run_at=timezone.now())
    people.run_jobs()
    assert "sesame" not in str(people.lines(b"".join(read_export(tenant_id=acme.tenant.id, job_id=job.id))))


def test_redis_away_is_tried_again(acme):
    people.live(acme, "ann")
    job = request_export(caller=acme.caller, user_id="ann", now=timezone.now())
    STORES.redis.stop()
    try:
        people.run_jobs()
        with scope(acme.tenant.id):
            assert Job.objects.get(id=job.id).error == "Redis is away."
    finally:
        STORES.redis.start()


def test_the_command_makes_the_same_file(acme, tmp_path):
    people.live(acme, "ann")
    call_command("export_subject", acme.tenant.slug, "ann", str(tmp_path / "ann.zip"))
    by_command = people.lines((tmp_path / "ann.zip").read_bytes())
    by_job = people.lines(exported(acme, "ann")[1])
    same = [one for one in by_job[1:-1] if one["kind"] not in {"job", "working_memory"}]
    assert [one for one in by_command[1:-1] if one["kind"] not in {"job", "working_memory"}] == same


def test_only_its_owner_can_read_the_file_of_the_command(acme, tmp_path):
    path = tmp_path / "ann.zip"
    before = os.umask(0o022)
    try:
        call_command("export_subject", acme.tenant.slug, "ann", str(path))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_command_that_breaks_off_leaves_no_file_and_touches_none_that_there_is(acme, tmp_path, monkeypatch):
    def breaks_off(**named):
        yield b"PK"
        raise OSError("No space left on device")

    path = tmp_path / "ann.zip"
    path.write_bytes(b"kept")
    with pytest.raises(CommandError, match="exists"):
        call_command("export_subject", acme.tenant.slug, "ann", str(path))
    assert path.read_bytes() == b"kept"
    path.unlink()
    monkeypatch.setattr(export_subject, "export_file", breaks_off)
    with pytest.raises(CommandError, match="No space"):
        call_command("export_subject", acme.tenant.slug, "ann", str(path))
    assert not path.exists()


def test_a_person_with_many_rows_is_read_page_by_page(acme, monkeypatch):
    from episodic.models import Episode
    from tenants.privacy import registry
    from tests.isolation.tables import FACTORIES

    monkeypatch.setattr(registry, "PAGE", 7)
    monkeypatch.setattr(registry, "IDS", 20)
    with scope(acme.tenant.id):
        for n in range(50):
            row = FACTORIES[Episode](acme.tenant.id)
            row.user_id, row.text = "ann", f"number {n}"
            row.save(force_insert=True)
    found = people.lines(b"".join(export_file(
        tenant_id=acme.tenant.id, user_id="ann", actor="test", now=timezone.now())))  # fmt: skip
    assert [one["text"] for one in found if one["kind"] == "episode"] == [f"number {n}" for n in range(50)]


def test_a_download_holds_no_connection_between_two_pieces(acme):
    people.live(acme, "ann")
    job, _file = exported(acme, "ann")
    pieces = read_export(tenant_id=acme.tenant.id, job_id=job.id)
    assert next(pieces)
    assert connection.connection is None
    assert list(pieces) == []
    assert connection.connection is None
