"""The self-test leaves nothing, whatever becomes of it, and is in nobody's way."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from django.db import connections
from django.utils import timezone
from django_redis import get_redis_connection

from episodic.models import Episode
from observations.saving import save_observation
from observations.types import NewObservation
from tenants.audit import list_entries
from tenants.caller import Caller
from tenants.models import ApiKey, Invitation
from tenants.router import admin_role
from tenants.scope import scope
from tenants.self_test import last_self_test, run_self_test
from tenants.walls import registry
from tenants.walls.pass_key import ACTOR, NAME
from tenants.walls.registry import Door, doors, register
from tenants.walls.stage import LIFE_SECONDS
from tests.isolation.registry import tenant_column
from tests.isolation.tables import TABLES as MODELS
from working import keys


def left(admin: Caller) -> tuple[dict[str, int], int, list[str], list[str]]:
    """The tenant's rows but for the log's; tenants that are decoys; what in Redis names a decoy, its twin or
    the tenant, and which sessions there are said to be in use."""
    with psycopg.connect(settings.DATABASE_URLS["admin"]) as connection:
        rows = {
            table: connection.execute(
                f'SELECT count(*) FROM "{table}" WHERE {tenant_column(table)} = %s', [admin.tenant_id]
            ).fetchone()[0]
            for table in MODELS
            if table != "tenants_auditentry"
        }
        decoys = connection.execute("SELECT count(*) FROM tenants_tenant WHERE slug LIKE 'decoy-%'")
        found = decoys.fetchone()[0]
    redis, marks = get_redis_connection(), ("walls", admin.tenant_id.hex)
    names, members = redis.scan_iter(), redis.zrange(keys.IDLE, 0, -1)
    return (
        rows,
        found,
        *(sorted(one for one in some if any(m in one for m in marks)) for some in (names, members)),
    )


def test_it_leaves_nothing_but_entries_of_the_log(admin):
    before, entries = left(admin), len(list_entries(caller=admin, limit=1_000))
    done = run_self_test(caller=admin)
    assert left(admin) == before
    log = list_entries(caller=admin, limit=1_000)
    new = [(one.action, one.actor) for one in log[: len(log) - entries]]
    assert new == [
        ("isolation.self_test", admin.principal),
        ("api_key.revoke", "system:isolation"),
        ("api_key.create", "system:isolation"),
    ]
    assert (log[0].details["leaked"], log[0].details["leaks"]) == ([], 0)
    assert log[0].details["refused"] == len(done.attempts)
    assert ["HTTP API", "refused"] in log[0].details["doors"]
    assert last_self_test(caller=admin).id == log[0].id


@pytest.fixture
def last_door(monkeypatch) -> Iterator[list]:
    """A door behind all others; what is put in the list is called there, with the stage."""
    monkeypatch.setattr(registry, "_doors", dict(registry._doors))
    calls: list = []

    def attempts(stage):
        for call in calls:
            call(stage)
        yield from ()

    register(Door("Last", "For tests.", attempts))
    assert doors()[-1].name == "Last"
    return calls


class Died(BaseException):
    pass


def test_dying_in_the_middle_leaves_nothing(admin, last_door):
    def die(stage):
        raise Died

    before = left(admin)
    last_door.append(die)
    with pytest.raises(Died):
        run_self_test(caller=admin)
    assert left(admin) == before
    with scope(admin.tenant_id):  # the connection is as it was
        assert not Episode.objects.filter(text__contains="ladder behind the copper mill").exists()


def test_what_a_killed_process_leaves_expires_by_itself(admin, last_door):
    seen = {}

    def look(stage):
        redis = get_redis_connection()
        names = list(redis.scan_iter(match=f"*{stage.ours.word}*"))
        seen["redis"] = {name: redis.ttl(name) for name in names}
        with admin_role():
            key = ApiKey.objects.get(tenant_id=admin.tenant_id, name=NAME)
            seen["key"] = (key.scopes, key.expires_at - timezone.now())
            seen["episodes"] = Episode.objects.filter(text__contains=stage.ours.word).count()

    last_door.append(look)
    run_self_test(caller=admin)
    assert len(seen["redis"]) >= 12  # data, turns and what is known of four sessions
    assert all(0 < left <= LIFE_SECONDS for left in seen["redis"].values())
    assert seen["key"][0] == ["read"]
    assert seen["key"][1] <= timedelta(seconds=LIFE_SECONDS)
    assert seen["episodes"] == 0  # nobody else sees them


def test_the_next_run_removes_the_key_that_a_killed_one_has_left(admin):
    with admin_role():
        ApiKey.objects.create(
            tenant_id=admin.tenant_id, key_id=uuid4().hex[:16], secret_hash="0" * 64, scopes=["read"],
            name=NAME, expires_at=timezone.now() - timedelta(seconds=1),
        )  # fmt: skip
    run_self_test(caller=admin)
    with admin_role():
        assert not ApiKey.objects.filter(tenant_id=admin.tenant_id, name=NAME).exists()


def test_the_invitation_that_stands_for_it_is_of_no_use_and_the_next_run_removes_one_that_is_left(
    admin, last_door
):
    seen, now = [], timezone.now()
    left_over = Invitation(
        tenant_id=admin.tenant_id, role="viewer", secret_hash="0" * 64, created_by=ACTOR,
        created_at=now - timedelta(seconds=LIFE_SECONDS + 1), expires_at=now,
    )  # fmt: skip
    left_over.save(using="admin", force_insert=True)

    def look(_stage):
        with admin_role():
            seen.extend(Invitation.objects.filter(tenant_id=admin.tenant_id, created_by=ACTOR))

    last_door.append(look)
    run_self_test(caller=admin)
    assert len(seen) == 1
    assert seen[0].id != left_over.id
    assert seen[0].expires_at <= timezone.now()


def test_two_at_once_do_not_meet(admin):
    before, done = left(admin), []

    def run():
        try:
            done.append(run_self_test(caller=admin))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [(one.is_tight, one.unproved) for one in done] == [(True, 0)] * 2
    assert left(admin) == before


def test_nobody_waits_for_it_to_save_a_memory(admin, last_door):
    """It holds no lock that others of the tenant want."""
    waited = []

    def save():
        new = NewObservation(session_id="s", type="discovery", title="t", content=uuid4().hex, project="p")
        try:
            waited.append(save_observation(caller=admin, new=new, now=timezone.now()).action)
        finally:
            connections.close_all()

    def others(_stage):
        thread = threading.Thread(target=save)
        thread.start()
        thread.join(timeout=20)
        waited.append(thread.is_alive())

    last_door.append(others)
    assert run_self_test(caller=admin).is_tight
    assert waited == ["created", False]
