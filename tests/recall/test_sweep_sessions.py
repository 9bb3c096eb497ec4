"""Sessions that nobody ends are ended once, whoever finds them and whatever dies on the way."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from ledger import injections
from ledger import keys as ledger_keys
from recall import lifecycle
from recall.lifecycle import END_IDLE
from tenants.models import Job
from tenants.scope import scope
from tests.recall.left_alone import (
    end,
    episodes,
    has_ended,
    jobs,
    lose_nothing_since,
    run_jobs,
    session_of,
    sweep,
    tell,
)
from tests.working.conversation import S, append, turn, window
from tests.working.idleness import IDLE, let_pass, lose_activity, moment, tags
from working import keys, memory
from working.idle import overdue_sessions
from working.redis import RedisAway
from working.types import SessionAddress


class Crash(BaseException):
    """The process dies here."""


def test_an_idle_session_ends_with_summary_episode_and_an_empty_ledger(caller, ref):
    let_pass(caller, IDLE * 1.1)
    sweep()
    assert jobs(caller) == [str(session_of(caller).id)]
    run_jobs()
    assert jobs(caller) == []
    assert has_ended(caller)
    (episode,) = episodes(caller)
    assert episode.text.startswith('Session with 2 messages. Started: "My dog is called Rex"')
    assert (episode.covers_turns, episode.embed_pending) == ([1, 2], False)
    redis = get_redis_connection()
    assert redis.hgetall(ledger_keys.items(ref)) == {}
    assert redis.lrange(keys.turns(ref), 0, -1) == []
    assert redis.get(keys.summary(ref)) == episode.text
    assert memory.read_fields(caller=caller, address=S, now=timezone.now()).data == {"x": 1}
    assert injections.read_items(caller=caller, address=S, now=timezone.now()) == {}


def test_nothing_happens_before_its_time(caller, ref):
    let_pass(caller, IDLE - 5)
    sweep()
    assert jobs(caller) == []
    assert moment(ref) is not None


def test_a_turn_that_only_postgresql_knows_keeps_it_open(caller, ref, monkeypatch):
    """It was written while the process could not reach the set."""
    let_pass(caller, IDLE * 1.1)
    before = moment(ref)
    append(caller, turn("user", "still here"))
    get_redis_connection().zadd(keys.IDLE, {keys.tag(ref): before})
    sweep()
    assert jobs(caller) == []
    assert moment(ref) == pytest.approx(timezone.now().timestamp() + IDLE, abs=5)
    assert not end(caller)


def test_a_crash_between_the_job_and_the_set_records_no_second_job(caller, ref, monkeypatch):
    let_pass(caller, IDLE * 1.1)

    def die(**given):
        raise Crash

    with monkeypatch.context() as broken:
        broken.setattr(lifecycle.activity, "drop", die)
        with pytest.raises(Crash):
            sweep()
    assert len(jobs(caller)) == 1
    sweep()
    assert len(jobs(caller)) == 1
    assert tags(caller) == []


def test_what_an_ended_session_is_told_later_ends_with_its_next_idle_time(caller, ref):
    let_pass(caller, IDLE * 1.1)
    sweep()
    run_jobs()
    tell(caller, "skill:late")
    let_pass(caller, IDLE * 1.1)
    sweep()
    run_jobs()
    assert get_redis_connection().hgetall(ledger_keys.items(ref)) == {}
    assert injections.read_items(caller=caller, address=S, now=timezone.now()) == {}
    assert len(episodes(caller)) == 1


def test_an_ended_session_that_was_only_read_is_left_alone(caller, ref):
    let_pass(caller, IDLE * 1.1)
    end(caller)
    window(caller)
    let_pass(caller, IDLE * 1.1)
    sweep()
    assert (jobs(caller), tags(caller)) == ([], [])


def test_what_redis_lost_is_found_in_postgresql(caller, ref):
    lose_activity(caller)
    let_pass(caller, IDLE * 1.05)
    sweep()
    assert jobs(caller) == [], "the set is asked first"
    let_pass(caller, IDLE * 0.1)
    sweep()
    assert len(jobs(caller)) == 1
    sweep()
    assert len(jobs(caller)) == 1, "and only once"


def test_a_set_that_is_young_says_nothing_about_what_it_lacks(caller, ref):
    """Right after Redis has lost everything, sessions in use are not in it yet."""
    lose_activity(caller)
    let_pass(caller, IDLE * 1.2)
    get_redis_connection().zadd(keys.IDLE, {lifecycle.activity.BEGUN: -(timezone.now().timestamp() - 60)})
    sweep()
    assert jobs(caller) == []
    get_redis_connection().zadd(keys.IDLE, {lifecycle.activity.BEGUN: -1})
    sweep()
    assert len(jobs(caller)) == 1


def test_a_session_that_is_only_read_stays_open_and_postgresql_learns_of_it(caller, ref):
    """Its row says nothing of reads; it must not be searched for again in each sweep."""
    for _hour in range(3):
        let_pass(caller, IDLE * 0.9)
        window(caller)
    lose_nothing_since(caller)
    stale = session_of(caller).last_activity_at
    sweep()
    assert jobs(caller) == []
    assert session_of(caller).last_activity_at > stale + timedelta(seconds=IDLE)
    assert session_of(caller).last_activity_at == pytest.approx(
        timezone.now(), abs=timedelta(seconds=IDLE * 0.1)
    )


def test_a_session_that_is_too_old_ends_however_busy_it_is(caller, ref):
    let_pass(caller, 7 * 86_400 + 60)
    append(caller, turn("user", "still talking"))
    window(caller)
    sweep()
    run_jobs()
    assert has_ended(caller)
    assert [one.covers_turns for one in episodes(caller)] == [[1, 3]]
    append(caller, turn("user", "and on"))
    sweep()
    run_jobs()
    assert not has_ended(caller), "its age begins anew"


def test_agents_have_idle_times_of_their_own(caller, monkeypatch):
    from tenants.policy.versions import Level, write_policy

    for agent, seconds in (("quick", 60), ("slow", 9_000)):
        level = Level(caller.tenant_id, agent)
        write_policy(level=level, actor="test", changes={"session": {"idle_seconds": seconds}})
    for agent in ("quick", "slow", "plain"):
        append(caller, turn("user", agent), address=SessionAddress(agent), agent_id=agent)
    for seconds, expected in (
        (70, {"quick"}),
        (IDLE, {"quick", "plain"}),
        (8_000, {"quick", "plain", "slow"}),
    ):
        lose_activity(caller)
        let_pass(caller, seconds)
        sweep()
        run_jobs()
        names = ("quick", "slow", "plain")
        assert {name for name in names if has_ended(caller, SessionAddress(name))} == expected


def test_one_tenants_many_sessions_hold_up_nobody(acme, globex):
    for number in range(30):
        append(acme.caller, turn("user", "a"), address=SessionAddress(f"s{number}"))
    append(globex.caller, turn("user", "b"))
    for one in (acme, globex):
        let_pass(one.caller, IDLE * 1.2)
    sweep()
    assert (len(jobs(acme.caller)), len(jobs(globex.caller))) == (30, 1)
    run_jobs()
    assert (len(episodes(acme.caller)), len(episodes(globex.caller))) == (30, 1)


def test_a_full_sweep_asks_to_go_on(caller, monkeypatch):
    append(caller, turn("user", "a"))
    let_pass(caller, IDLE * 1.2)
    monkeypatch.setattr(lifecycle, "STRETCH", -1.0)
    assert sweep() is True
    monkeypatch.undo()
    assert sweep() is False


def test_a_job_that_failed_for_good_waits_until_the_session_is_used_again(caller, ref):
    let_pass(caller, IDLE * 1.2)
    with scope(caller.tenant_id):
        Job.objects.create(
            tenant_id=caller.tenant_id, kind=END_IDLE, payload={"session": str(session_of(caller).id)},
            dedup_key=str(session_of(caller).id), state="failed", max_attempts=1,
            run_at=timezone.now(), created_at=timezone.now(),
        )  # fmt: skip
    sweep()
    assert len(jobs(caller)) == 1
    append(caller, turn("user", "again"))
    let_pass(caller, IDLE * 1.2)
    with scope(caller.tenant_id):
        Job.objects.filter(kind=END_IDLE).update(created_at=timezone.now() - timedelta(seconds=IDLE * 2))
    sweep()
    assert len(jobs(caller)) == 2


def test_what_waits_or_was_given_up_is_not_read_again(caller, ref):
    """Each sweep has little time for the search: it begins with what it has not seen."""
    let_pass(caller, IDLE * 1.2)
    lose_activity(caller)
    found = lambda: [one.id for page in overdue(caller) for one in page]  # noqa: E731
    assert found() == [session_of(caller).id]
    sweep()
    assert (len(jobs(caller)), found()) == (1, [])
    with scope(caller.tenant_id):
        Job.objects.filter(kind=END_IDLE).update(state="failed", finished_at=timezone.now())
    assert found() == []
    append(caller, turn("user", "again"))
    let_pass(caller, IDLE * 1.2)
    with scope(caller.tenant_id):
        Job.objects.filter(kind=END_IDLE).update(created_at=timezone.now() - timedelta(seconds=IDLE * 2))
    assert found() == [session_of(caller).id]


def overdue(caller):
    return overdue_sessions(tenant_id=caller.tenant_id, now=timezone.now(), kind=END_IDLE)


def test_without_redis_the_sweep_does_nothing(caller, ref, monkeypatch):
    let_pass(caller, IDLE * 1.2)

    def away(**given):
        raise RedisAway("Redis is away.")

    monkeypatch.setattr(lifecycle.activity, "due", away)
    assert sweep() is False
    assert jobs(caller) == []
