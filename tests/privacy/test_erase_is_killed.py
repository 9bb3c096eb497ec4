"""A worker that is killed in the middle of an erasure: the next one goes on to the same end."""

import time

from django.utils import timezone

from episodic.models import Episode
from tenants.jobs import querysets
from tenants.models import Job, Tombstone
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tests.jobs.killing import kill_a_worker
from tests.privacy import people

EPISODES = 2_000


def test_an_erasure_that_is_killed_goes_on_to_the_same_receipt(acme):
    people.live(acme, "ann")
    people.live(acme, "bob")
    now = timezone.now()
    with scope(acme.tenant.id):
        Episode.objects.bulk_create(
            Episode(tenant_id=acme.tenant.id, user_id="ann", text=f"{n}", created_at=now)
            for n in range(EPISODES)
        )
    expected = {name: len(rows) for name, rows in people.belongings(acme.tenant.id, "ann").items()}
    bobs = people.belongings(acme.tenant.id, "bob")
    people.run_jobs()
    job = begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=timezone.now())
    for kill_at in (400, 1_200):
        with scope(acme.tenant.id):
            Job.objects.filter(id=job.id).update(run_at=timezone.now())
        kill_a_worker(job, at=kill_at, module="tests.privacy.killed")
        with scope(acme.tenant.id):
            (tombstone,) = Tombstone.objects.all()
            assert 0 < Episode.objects.filter(user_id="ann").count() < EPISODES
        assert tombstone.completed_at is None
        time.sleep(3.2)  # its lease
        querysets.release_expired()
    people.run_jobs()
    with scope(acme.tenant.id):
        tombstone.refresh_from_db()
        job.refresh_from_db()
    assert (job.state, job.result) == ("done", tombstone.receipt)
    assert tombstone.receipt["residue"] == {}
    assert tombstone.receipt["erased"]["episode"] == expected["Episode"] == EPISODES + 4
    assert tombstone.receipt["erased"]["event"] == expected["Event"]
    assert not any(people.belongings(acme.tenant.id, "ann").values())
    assert people.belongings(acme.tenant.id, "bob") == bobs
