import threading
from datetime import datetime

import pytest
from django.db import connections
from django.utils import timezone

from episodic import retention
from episodic.metrics import RETENTION_DELETED
from episodic.models import Episode
from tenants.models import AuditEntry
from tenants.policy.reading import forget
from tenants.scope import scope
from tests.retention.old import ago, expire, remembered, texts, told, turns


def decide(member, document, agent_id=None):
    admin = member.with_key(scopes=("read", "write", "admin"))
    answer = admin.http.patch("/api/v1/policy", json={"document": document, "agent_id": agent_id})
    assert answer.status_code == 200, answer.text
    forget(member.tenant.id)  # here: the server was told


def test_what_sessions_left_behind_goes_after_ninety_days(acme):
    remembered(acme, "old", 91)
    remembered(acme, "young", 89)
    report = expire(acme)
    assert (report.tenant, report.episodes, report.events, report.dry_run) == (acme.tenant.slug, 1, 0, False)
    assert texts(acme) == ["young"]


def test_what_was_saved_or_pinned_stays(acme):
    remembered(acme, "saved", 400, origin="saved")
    remembered(acme, "pinned", 400, pinned_at=ago(1))
    remembered(acme, "neither", 400)
    assert expire(acme).episodes == 1
    assert texts(acme) == ["pinned", "saved"]


def test_what_holds_no_more_goes_as_well(acme):
    remembered(acme, "closed", 91, valid_to=ago(10))
    remembered(acme, "closed, young", 50, valid_to=ago(10))
    expire(acme)
    assert texts(acme) == ["closed, young"]


def test_each_tenant_and_agent_keeps_as_long_as_it_decides(acme, globex):
    decide(acme, {"retention": {"episodes_days": 60}})
    decide(acme, {"retention": {"episodes_days": 365}}, agent_id="ada")
    decide(acme, {"recall": {"top_k": 3}}, agent_id="bob")
    for agent in ("", "ada", "bob"):
        remembered(acme, f"70 {agent}", 70, agent_id=agent)
        remembered(acme, f"370 {agent}", 370, agent_id=agent)
    remembered(globex, "70", 70)
    assert (expire(acme).episodes, expire(globex).episodes) == (5, 0)
    assert (texts(acme), texts(globex)) == (["70 ada"], ["70"])


def test_turns_go_once_a_summary_covers_them(acme):
    session = told(acme, "s", [40, 39, 38, 5], summarised=2)
    assert expire(acme).events == 2
    assert turns(session) == [3, 4]


def test_turns_that_no_summary_covers_go_when_a_summary_would_have_gone(acme):
    session = told(acme, "s", [95, 91, 89, 40], summarised=0)
    assert expire(acme).events == 2
    assert turns(session) == [3, 4]


def test_turns_are_kept_for_as_long_as_the_agent_decides(acme):
    decide(acme, {"retention": {"events_days": 100}}, agent_id="ada")
    ada, bob = (told(acme, name, [95, 40], summarised=2, agent_id=name) for name in ("ada", "bob"))
    assert expire(acme).events == 2
    assert (turns(ada), turns(bob)) == ([1, 2], [])


def test_a_window_shows_what_is_left(acme):
    session = told(acme, "s", [40, 39, 5], summarised=2)
    expire(acme)
    window = acme.http.get("/api/v1/sessions/s/window").json()
    assert [one["content"] for one in window["messages"] if one["role"] == "user"] == ["turn 3"]
    appended = acme.http.post(
        "/api/v1/sessions/s/turns", json={"turns": [{"role": "user", "content": "new"}]}
    )
    assert appended.json()["accepted"] == 1
    assert turns(session) == [3, 4]


def test_a_dry_run_counts_and_deletes_nothing(acme):
    remembered(acme, "old", 91)
    session = told(acme, "s", [40, 5], summarised=1)
    report = expire(acme, dry_run=True)
    assert (report.episodes, report.events, report.dry_run) == (1, 1, True)
    assert (texts(acme), turns(session)) == (["old"], [1, 2])
    with scope(acme.tenant.id):
        assert not AuditEntry.objects.filter(action="retention").exists()


def test_the_report_the_audit_log_and_the_counters_tell_what_went(acme):
    remembered(acme, "old", 91)
    young = remembered(acme, "young", 80)
    told(acme, "s", [40, 5], summarised=1)
    before = {kind: RETENTION_DELETED.labels(kind)._value.get() for kind in ("episodes", "events")}
    report = expire(acme)
    assert datetime.fromisoformat(report.oldest_left["episodes"]) == young.created_at
    assert ago(6) < datetime.fromisoformat(report.oldest_left["events"]) < ago(4)
    counted = {kind: RETENTION_DELETED.labels(kind)._value.get() - before[kind] for kind in before}
    with scope(acme.tenant.id):
        entry = AuditEntry.objects.get(action="retention")
    assert counted == entry.details == {"episodes": 1, "events": 1}
    assert expire(acme).oldest_left == report.oldest_left


@pytest.mark.parametrize("same_moment", [False, True])
def test_batches_go_on_where_they_were_cut_off(acme, monkeypatch, same_moment):
    monkeypatch.setattr(retention, "BATCH", 3)
    now, same = timezone.now(), ago(100)
    for number in range(10):
        remembered(acme, f"{number}", same if same_moment else ago(100 - number))
    told(acme, "s", [100 - n for n in range(8)], summarised=8)
    done = []

    class CutOff(Exception):
        pass

    def stop(so_far):
        done.append(so_far)
        if len(done) == 2:
            raise CutOff

    with pytest.raises(CutOff):
        expire(acme, report=stop)
    assert done == [3, 6]
    assert len(texts(acme)) == 4
    report = expire(acme, now=now)
    assert (report.episodes, report.events) == (4, 8)


def test_one_that_is_pinned_in_this_moment_stays(acme):
    episode = remembered(acme, "old", 91)
    result = []

    def delete():
        try:
            result.append(expire(acme).episodes)
        finally:
            connections.close_all()

    with scope(acme.tenant.id):
        Episode.objects.filter(id=episode.id).update(pinned_at=timezone.now())
        other = threading.Thread(target=delete)
        other.start()
        other.join(0.5)
        assert other.is_alive()  # it waits for the row
    other.join(20)
    assert result == [0]
    assert texts(acme) == ["old"]
