"""Erasing a person: all of it, nobody else's, and what comes later stays."""

import itertools
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from api.errors import problem_of
from episodic.models import Episode, EpisodeEmbedding
from tenants import api_keys
from tenants.errors import Forbidden, Unauthenticated
from tenants.jobs import querysets
from tenants.jobs.queue import access_job
from tenants.models import ApiKey, AuditEntry, Job, StoredAnswer, Tombstone
from tenants.privacy import erasure, registry
from tenants.privacy.erasure import begin_erasure, request_erasure
from tenants.privacy.registry import handlers
from tenants.scope import scope
from tenants.tombstones import Erased
from tests.conftest import make_member
from tests.jobs import work
from tests.plugin import STORES
from tests.privacy import people
from working.models import Event, Session


def test_nothing_of_an_erased_person_is_left(acme):
    people.live(acme, "ann")
    before = people.belongings(acme.tenant.id, "ann")
    assert {name for name, found in before.items() if not found} <= {"Job", "Restriction", "Delivery"}
    receipt = people.erase(acme, "ann").receipt
    assert not any(people.belongings(acme.tenant.id, "ann").values())
    assert receipt["residue"] == {}
    assert receipt["erased"].keys() == handlers().keys()
    for store, model in {"episode": "Episode", "event": "Event", "injection": "Injection"}.items():
        assert receipt["erased"][store] == len(before[model])


OTHERS = ["ann/x", "Ann", "ann ", "%", "a%n", "_nn", "an", "*", "a*", "ann}", "{ann}", "x/ann", '"ann"', "\\"]


@pytest.fixture(scope="module")
def crowd(server):
    member = make_member("acme", server)
    for name in ["ann", *OTHERS, ""]:
        if name:
            people.live(member, name)
    member.http.put("/working-memory/ann", json={"data": {"session": "is called ann, and nobody's"}})
    with scope(member.tenant.id):  # what waits for a while does not begin in the middle of a test
        waiting = Job.objects.filter(tenant_id=member.tenant.id, state="queued")
        waiting.update(run_at=timezone.now() + timedelta(days=1))
    return member


@pytest.mark.parametrize("erased", ["ann", "%", "*", "ann/x"])
def test_people_with_similar_ids_keep_all_they_have(crowd, globex, erased):
    people.live(globex, erased)
    everybody = [name for name in ["ann", *OTHERS] if name != erased]
    before = {name: people.belongings(crowd.tenant.id, name) for name in everybody}
    elsewhere = people.belongings(globex.tenant.id, erased)
    people.live(crowd, erased)
    receipt = people.erase(crowd, erased).receipt
    # A session that somebody named after her is not hers, and is told.
    named = {"working_session.external_id": 1, "redis.sessions": 1}
    assert receipt["residue"] == (named if erased == "ann" else {})
    assert not any(people.belongings(crowd.tenant.id, erased).values())
    assert {name: people.belongings(crowd.tenant.id, name) for name in everybody} == before
    assert people.belongings(globex.tenant.id, erased) == elsewhere
    assert crowd.http.get("/working-memory/ann").json()["session"]
    people.live(crowd, erased)  # for the next


def test_ten_thousand_episodes_go_in_batches(acme, monkeypatch):
    now = timezone.now()
    with scope(acme.tenant.id):
        Episode.objects.bulk_create(
            Episode(tenant_id=acme.tenant.id, user_id="ann", text=f"{n}", created_at=now)
            for n in range(10_000)
        )
        Episode.objects.create(tenant_id=acme.tenant.id, user_id="bob", text="bob's", created_at=now)
    steps = []
    report = erasure._Erasure._report

    def noted(self):
        steps.append((self.done, self.total))
        report(self)

    monkeypatch.setattr(erasure._Erasure, "_report", noted)
    receipt = people.erase(acme, "ann").receipt
    assert (receipt["erased"]["episode"], receipt["residue"]) == (10_000, {})
    done = [one for one, _total in steps]
    assert max(b - a for a, b in itertools.pairwise(done)) <= registry.BATCH == 1_000
    assert {total for _done, total in steps} == {10_000}
    with scope(acme.tenant.id):
        assert list(Episode.objects.values_list("user_id", flat=True)) == ["bob"]


def test_erasing_twice_and_a_stranger_gives_receipts_of_zeros(acme):
    people.live(acme, "ann")
    assert sum(people.erase(acme, "ann").receipt["erased"].values()) > 10
    for user in ("ann", "nobody"):
        again = people.erase(acme, user)
        assert set(again.receipt["erased"].values()) == {0}
        assert (again.receipt["residue"], again.receipt["passes"]) == ({}, 1)
        assert again.completed_at >= again.erased_at


def test_two_requests_at_once_both_get_their_receipt(acme):
    people.live(acme, "ann")
    now = timezone.now()
    first = begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=now)
    second = begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=now)
    assert first.id == second.id  # one of them does for both
    people.run_jobs()
    with scope(acme.tenant.id):
        assert [one.receipt["residue"] for one in Tombstone.objects.exclude(completed_at=None)] == [{}, {}]


def test_afterwards_nothing_says_whom_it_was(acme):
    people.live(acme, "ann-of-a-kind")
    token = acme.caller.__class__(
        tenant_id=acme.tenant.id, tenant="", key_id="ann-of-a-kind", scopes=frozenset({"privacy"}),
        user_id="ann-of-a-kind", kind="jwt",
    )  # fmt: skip
    job = request_erasure(caller=token, user_id="ann-of-a-kind", now=timezone.now())
    assert access_job(caller=token, job_id=job.id).state == "queued"
    people.run_jobs()
    with scope(acme.tenant.id):
        models = (Job, Tombstone, AuditEntry, StoredAnswer)
        rows = [repr(row) for model in models for row in model.objects.values()]
        (entry,) = AuditEntry.objects.filter(action="subject.erase")
        (tombstone,) = Tombstone.objects.all()
        job = Job.objects.get(id=job.id)
    assert not [row for row in rows if "ann-of" in row]
    assert entry.target == entry.actor == f"subject:{tombstone.subject[:12]}"
    assert (job.state, job.payload, job.dedup_key, job.result) == ("done", {}, None, tombstone.receipt)


def test_bound_keys_end_and_no_other(acme):
    anns, bobs = acme.with_key(user_id="ann"), acme.with_key(user_id="bob")
    people.erase(acme, "ann")
    with scope(acme.tenant.id):
        assert set(ApiKey.objects.values_list("user_id", flat=True)) == {"", "bob"}
    deadline = time.monotonic() + 5.5
    while anns.http.get("/api/v1/sessions").status_code == 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert anns.http.get("/api/v1/sessions").status_code == 401
    assert bobs.http.get("/api/v1/sessions").status_code == 200
    api_keys._cache._kept.clear()
    with pytest.raises(Unauthenticated):
        api_keys.authenticate(anns.key)


@pytest.mark.parametrize("store", ["api_key", "episode"])
def test_what_is_not_counted_is_not_deleted(acme, monkeypatch, store):
    """A worker that dies between the two leaves both to the next one, to the same figures."""
    people.live(acme, "ann")

    class Died(BaseException):
        pass

    count = erasure._Erasure._count

    def die(self, name, erased, *digest):
        if name == store and erased:
            raise Died
        count(self, name, erased, *digest)

    with monkeypatch.context() as patch:
        patch.setattr(erasure._Erasure, "_count", die)
        with pytest.raises(Died):
            people.erase(acme, "ann")
    with scope(acme.tenant.id):
        Job.objects.filter(kind="subject.erase").update(lease_until=timezone.now() - timedelta(seconds=1))
    querysets.release_expired()
    people.run_jobs()
    with scope(acme.tenant.id):
        assert Tombstone.objects.get().receipt["erased"][store] == {"api_key": 1, "episode": 4}[store]


def test_the_persons_other_jobs_are_dropped_and_the_erasure_is_not(acme):
    kind, kept = work.kind(), work.kind(slow=True, prepare=lambda task: None, keep=True)
    later = timezone.now() + timedelta(hours=1)
    for user in ("ann", "bob"):
        work.add(acme.tenant, kind, user_id=user, run_at=later)
        work.add(acme.tenant, kept, user_id=user)
    people.run_jobs()
    receipt = people.erase(acme, "ann").receipt
    assert receipt["erased"]["job"] == 2
    with scope(acme.tenant.id):
        left = set(Job.objects.values_list("kind", "user_id"))
    assert left == {(kind, "bob"), (kept, "bob"), ("subject.erase", "")}


def test_a_returning_person_begins_anew(acme):
    """What came in after the request stays, although the job runs later."""
    people.live(acme, "ann")
    begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=timezone.now())
    asked = {"user_id": "ann"}
    turns = {"turns": [{"role": "user", "content": "I am back"}]}
    assert acme.http.post("/api/v1/sessions/talk/turns", params=asked, json=turns).status_code == 200
    other = acme.http.post("/api/v1/sessions/fresh/turns", params=asked, json=turns)
    assert other.status_code == 200
    text = {"text": "a new episode", "session_id": "talk"}
    assert acme.http.post("/api/v1/episodes", params=asked, json=text).status_code == 201
    mark = {"item_key": "skill:sesame", "value": "new"}
    assert acme.http.post("/ledger/talk/mark", params=asked, json=mark).status_code == 200
    people.run_jobs()
    with scope(acme.tenant.id):
        (tombstone,) = Tombstone.objects.all()
        assert [one.text for one in Episode.objects.filter(user_id="ann")] == ["a new episode"]
        assert EpisodeEmbedding.objects.filter(user_id="ann").count() == 1
        sessions = {one.external_id: one for one in Session.objects.filter(user_id="ann")}
        assert list(Event.objects.values_list("content", flat=True)) == ["I am back"] * 2
    assert tombstone.receipt["residue"] == {}
    talk = sessions["talk"]
    assert (talk.summary, talk.metadata, talk.turn_count) == ("", {}, 1)
    assert talk.started_at > tombstone.erased_at
    assert "sesame" not in str(people.belongings(acme.tenant.id, "ann").values()).replace("skill:sesame", "")
    window = acme.http.get("/api/v1/sessions/talk/window", params=asked).json()
    assert window["messages"] == [{"role": "user", "content": "I am back"}]
    assert acme.http.get("/ledger/talk", params=asked).json() == {"skill:sesame": "new"}
    assert acme.http.get("/working-memory/talk", params=asked).json() == {}
    ended = acme.http.post("/api/v1/sessions/talk/end", params=asked, json={})
    assert "I am back" in ended.json()["summary"]
    assert "sesame" not in ended.text


def test_a_summary_of_what_is_about_to_go_is_refused(acme):
    asked = {"user_id": "ann"}
    turns = {"turns": [{"role": "user", "content": "sesame"}]}
    acme.http.post("/api/v1/sessions/talk/turns", params=asked, json=turns)
    begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=timezone.now())
    refused = acme.http.post("/api/v1/sessions/talk/end", params=asked, json={})
    assert (refused.status_code, refused.headers["content-type"]) == (409, "application/problem+json")
    people.run_jobs()
    assert acme.http.post("/api/v1/sessions/talk/end", params=asked, json={}).status_code == 404
    assert people.redis_keys(acme.tenant.id) == []


def test_redis_away_is_tried_again_and_nothing_is_reported_as_done(acme):
    people.live(acme, "ann")
    job = begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=timezone.now())
    STORES.redis.stop()
    try:
        people.run_jobs()
        with scope(acme.tenant.id):
            waiting = Job.objects.get(id=job.id)
            (tombstone,) = Tombstone.objects.all()
        assert (waiting.state, waiting.error) == ("queued", "Redis is away.")
        assert waiting.run_at > timezone.now()
        assert tombstone.completed_at is None
    finally:
        STORES.redis.start()
    with scope(acme.tenant.id):
        Job.objects.filter(id=job.id).update(run_at=timezone.now())
    people.run_jobs()
    with scope(acme.tenant.id):
        tombstone.refresh_from_db()
        assert Job.objects.get(id=job.id).state == "done"
    assert (tombstone.receipt["residue"], tombstone.receipt["erased"]["episode"]) == ({}, 4)
    assert not any(people.belongings(acme.tenant.id, "ann").values())


def test_a_key_bound_to_another_or_to_a_part_of_the_memory_is_refused(acme):
    for bindings in ({"user_id": "bob"}, {"agent_id": "coder"}, {"project": "apollo"}):
        caller = acme.with_key(scopes=("privacy",), **bindings).caller
        with pytest.raises(Forbidden):
            request_erasure(caller=caller, user_id="ann", now=timezone.now())
    with scope(acme.tenant.id):
        assert not Tombstone.objects.exists()


def test_erased_is_409():
    assert problem_of(Erased("gone")).status == 409
