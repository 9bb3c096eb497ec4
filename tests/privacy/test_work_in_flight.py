"""Work that was begun before an erasure leaves nothing after it."""

import threading

import pytest
from django.db import connections
from django.utils import timezone

from episodic import episodes
from episodic.episodes import store_episode
from episodic.models import Episode
from episodic.types import NewEpisode
from tenants.embedding import try_embed
from tenants.jobs import runner
from tenants.models import Job
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tenants.tombstones import Erased, bury, refuse_erased
from tests.jobs import work
from tests.privacy import people
from working.events import append_events
from working.types import NewEvent, SessionAddress


def in_thread(run):
    def closing():
        try:
            run()
        finally:
            connections.close_all()

    thread = threading.Thread(target=closing, daemon=True)
    thread.start()
    return thread


def write_episode(tenant_id, text):
    Episode.objects.create(tenant_id=tenant_id, user_id="ann", text=text, created_at=timezone.now())


@pytest.mark.parametrize("keep", [True, False])
def test_an_extraction_that_waits_for_its_provider_while_the_person_is_erased(acme, keep):
    asked, answer = threading.Event(), threading.Event()

    def extract(task):
        asked.set()
        assert answer.wait(30)
        return "ann likes sesame"

    def apply(task, text):
        write_episode(task.tenant_id, text)
        return {"said": text}

    name = work.kind(apply, prepare=extract, slow=True, keep=keep)
    people.live(acme, "ann")
    job_id = work.add(acme.tenant, name, user_id="ann", payload={"about": "ann"})
    worker = in_thread(lambda: runner.run_jobs(slow=True))
    assert asked.wait(30)
    receipt = people.erase(acme, "ann").receipt
    answer.set()
    worker.join(30)
    people.run_jobs()
    assert not any(people.belongings(acme.tenant.id, "ann").values())
    assert receipt["erased"]["job"] >= 1
    assert work.job(acme.tenant, job_id) is None


def test_a_job_that_was_recorded_after_the_erasure_is_done(acme):
    people.erase(acme, "ann")
    name = work.kind(lambda task, prepared: write_episode(task.tenant_id, "new"))
    work.add(acme.tenant, name, user_id="ann")
    people.run_jobs()
    with scope(acme.tenant.id):
        assert Episode.objects.get(user_id="ann").text == "new"


def test_a_write_that_embeds_while_the_person_is_erased_is_refused(acme, monkeypatch):
    def erase_meanwhile(texts, **named):
        people.erase(acme, "ann")
        return try_embed(texts, **named)

    monkeypatch.setattr(episodes, "try_embed", erase_meanwhile)
    with pytest.raises(Erased):
        store_episode(caller=acme.caller, new=NewEpisode(text="sesame", user_id="ann"), now=timezone.now())
    assert not any(people.belongings(acme.tenant.id, "ann").values())


def test_turns_that_arrive_late_are_refused_and_leave_no_mark(acme):
    began = timezone.now()
    people.erase(acme, "ann")
    turn = NewEvent(event_type="user_message", role="user", content="sesame", created_at=began)
    with pytest.raises(Erased):
        append_events(caller=acme.caller, address=SessionAddress("talk", "ann"), events=[turn], now=began)
    assert not any(people.belongings(acme.tenant.id, "ann").values())
    append_events(
        caller=acme.caller, address=SessionAddress("talk", "ann"), events=[turn], now=timezone.now()
    )


def test_a_write_that_looked_before_the_erasure_is_committed_before_it(acme):
    """The writer holds the person; the erasure waits, and then finds what was written."""
    looked, go_on = threading.Event(), threading.Event()
    tenant_id, since = acme.tenant.id, timezone.now()

    def write():
        with scope(tenant_id):
            refuse_erased(tenant_id=tenant_id, user_id="ann", since=since)
            looked.set()
            assert go_on.wait(30)
            write_episode(tenant_id, "sesame")

    writer = in_thread(write)
    assert looked.wait(30)
    eraser = in_thread(
        lambda: begin_erasure(tenant_id=tenant_id, user_id="ann", actor="test", now=timezone.now())
    )
    eraser.join(0.5)
    assert eraser.is_alive()  # it waits for the writer
    begin_erasure(tenant_id=tenant_id, user_id="bob", actor="test", now=timezone.now())  # nobody else does
    go_on.set()
    writer.join(30)
    eraser.join(30)
    people.run_jobs()
    assert not any(people.belongings(tenant_id, "ann").values())


def test_a_write_that_looks_during_the_request_waits_and_is_refused(acme):
    tenant_id, since = acme.tenant.id, timezone.now()
    buried, go_on, told = threading.Event(), threading.Event(), []

    def ask():
        with scope(tenant_id):
            bury(tenant_id=tenant_id, user_id="ann", requested_by="test", now=timezone.now())
            buried.set()
            assert go_on.wait(30)

    def write():
        try:
            with scope(tenant_id):
                refuse_erased(tenant_id=tenant_id, user_id="ann", since=since)
                write_episode(tenant_id, "sesame")
        except Erased as error:
            told.append(error)

    eraser = in_thread(ask)
    assert buried.wait(30)
    writer = in_thread(write)
    writer.join(0.5)
    assert writer.is_alive()
    go_on.set()
    writer.join(30)
    eraser.join(30)
    assert len(told) == 1
    with scope(tenant_id):
        assert not Episode.objects.exists()


def test_an_export_that_is_being_written_goes_with_the_person(acme, monkeypatch):
    from tenants.privacy import export
    from tenants.privacy.export import request_export

    people.live(acme, "ann")
    monkeypatch.setattr(export, "CHUNK", 64)
    store = export._Writer._store

    def erase_meanwhile(self, data):
        store(self, data)
        monkeypatch.setattr(export._Writer, "_store", store)
        people.erase(acme, "ann")

    monkeypatch.setattr(export._Writer, "_store", erase_meanwhile)
    job = request_export(caller=acme.caller, user_id="ann", now=timezone.now())
    people.run_jobs()
    with scope(acme.tenant.id):
        assert not Job.objects.filter(id=job.id).exists()
        assert not export._chunks(acme.tenant.id, job.id).exists()
    assert not any(people.belongings(acme.tenant.id, "ann").values())
