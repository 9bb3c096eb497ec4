"""When a session was last used, as Redis keeps it: noted by every use, seldom sent, never too early."""

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from ledger import injections
from tenants.system import system_caller
from tests.working.conversation import S, append, reference, turn, window
from tests.working.idleness import IDLE, NOTE, let_pass, moment, tags
from working import activity, keys, memory
from working.types import SessionAddress, SessionRef

USES = {
    "window": window,
    "append": lambda caller: append(caller, turn("user", "b")),
    "read fields": lambda caller: memory.read_fields(caller=caller, address=S, now=timezone.now()),
    "put fields": lambda caller: memory.put_fields(
        caller=caller, address=S, data={"y": 2}, now=timezone.now()
    ),
    "delete fields": lambda caller: memory.delete_fields(
        caller=caller, address=S, names=["z"], now=timezone.now()
    ),
    "mark": lambda caller: injections.mark_item(
        caller=caller, address=S, item_key="i", value="1", now=timezone.now()
    ),
    "check": lambda caller: injections.check_item(caller=caller, address=S, item_key="k", now=timezone.now()),
}


@pytest.fixture
def ref(caller):
    append(caller, turn("user", "a"))
    injections.mark_item(caller=caller, address=S, item_key="k", value="1", now=timezone.now())
    return reference(caller)


@pytest.mark.parametrize("use", USES)
def test_every_use_puts_off_the_moment_of_idleness(caller, ref, use):
    let_pass(caller, 1_000)
    before = moment(ref)
    USES[use](caller)
    assert moment(ref) == pytest.approx(timezone.now().timestamp() + IDLE + NOTE, abs=5)
    assert moment(ref) > before + 900


def test_it_is_sent_once_in_a_twentieth_of_the_idle_time(caller, ref):
    get_redis_connection().zadd(keys.IDLE, {keys.tag(ref): 7})
    window(caller)
    assert moment(ref) == 7, "noted a moment ago"
    let_pass(caller, NOTE + 1)
    window(caller)
    assert moment(ref) > 1_000


def test_a_session_is_never_idle_before_its_time(caller, ref):
    """The last use may be one that was not sent."""
    let_pass(caller, NOTE - 30)
    before = moment(ref)
    window(caller)
    assert moment(ref) == before
    assert moment(ref) >= timezone.now().timestamp() + IDLE


def test_the_agents_own_idle_time_counts(caller, monkeypatch):
    monkeypatch.setattr(activity, "idle_seconds", lambda tenant, agent: {"slow": 9_000}.get(agent, IDLE))
    append(caller, turn("user", "a"), agent_id="slow")
    window(caller)
    ref = reference(caller)
    assert moment(ref) == pytest.approx(timezone.now().timestamp() + 9_450, abs=5)
    activity._noted.clear()
    activity.note(ref=ref, now=timezone.now().timestamp())
    assert moment(ref) == pytest.approx(timezone.now().timestamp() + 9_450, abs=5), "whosever it is"


def test_an_unknown_session_is_not_noted(caller):
    memory.read_fields(caller=caller, address=SessionAddress("nobody"), now=timezone.now())
    injections.check_item(caller=caller, address=SessionAddress("nobody"), item_key="k", now=timezone.now())
    assert tags(caller) == []


def test_what_the_server_does_by_itself_is_no_use(caller, ref):
    let_pass(caller, 1_000)
    before = moment(ref)
    window(system_caller(caller.tenant_id))
    injections.check_item(caller=system_caller(caller.tenant_id), address=S, item_key="k", now=timezone.now())
    assert moment(ref) == before


def test_a_use_between_look_and_drop_keeps_the_session_on_the_list(caller, ref):
    let_pass(caller, 3_000)
    now = timezone.now().timestamp()
    assert ref in activity.due(now=now, limit=10_000)
    window(caller)
    activity.drop(refs=[ref], now=now)
    assert moment(ref) > now
    let_pass(caller, 3_000)
    activity.drop(refs=[ref], now=now)
    assert moment(ref) is None


def test_a_correction_never_makes_a_moment_earlier(caller, ref):
    late = moment(ref)
    activity.correct({ref: late - 100})
    assert moment(ref) == late
    activity.correct({ref: late + 100})
    assert moment(ref) == late + 100


def test_members_that_are_no_tags_are_swept_away(caller):
    for alien in ("nonsense", "{a/b}", "{x/y/z/w}", ""):
        get_redis_connection().zadd(keys.IDLE, {alien: 1})
    activity.due(now=timezone.now().timestamp(), limit=100)
    left = get_redis_connection().zrange(keys.IDLE, 0, -1)
    assert not {"nonsense", "{a/b}", "{x/y/z/w}", ""} & set(left)


@pytest.mark.parametrize("part", ["a/b", "{a}", "%2F", " ", "ü", "💡", "a\nb", ""])
def test_every_identity_survives_the_way_there_and_back(caller, part):
    ref = SessionRef(caller.tenant_id, part, part, part or "s")
    assert keys.read_tag(keys.tag(ref)) == ref


def test_the_age_of_the_set_is_known_and_does_not_move(caller):
    redis = get_redis_connection()
    redis.zrem(keys.IDLE, activity.BEGUN)
    assert activity.complete_since(now=1_000.5) == 1_000.5
    assert activity.complete_since(now=2_000) == 1_000.5
    assert activity.BEGUN not in [keys.tag(ref) for ref in activity.due(now=9e9, limit=10)]
    redis.zrem(keys.IDLE, activity.BEGUN)


def test_a_deleted_session_is_off_the_list(caller, ref):
    from recall.sessions import delete_session

    delete_session(caller=caller, address=S, now=timezone.now())
    assert tags(caller) == []


def test_a_process_remembers_only_so_many(monkeypatch, caller, ref):
    monkeypatch.setattr(activity, "REMEMBERED", 3)
    for number in range(10):
        activity.note(ref=SessionRef(caller.tenant_id, "", "", f"n{number}"), now=1.0, agent_id="")
    assert len(activity._noted) <= 3
    activity.forget([SessionRef(caller.tenant_id, "", "", f"n{number}") for number in range(10)])
