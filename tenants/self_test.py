"""The isolation self-test: tries to cross from one tenant to another by every door there is, and tells what
refused each attempt. What it reaches for was put there for it, and is never committed (`walls.stage`)."""

import time
from contextlib import ExitStack
from datetime import datetime

from django.db import connection
from django.utils import timezone

from tenants import audit
from tenants.caller import Caller
from tenants.errors import Forbidden
from tenants.models import AuditEntry
from tenants.scope import scope
from tenants.walls.attempts import DoorResult, SelfTest, result_of
from tenants.walls.registry import Door, doors
from tenants.walls.stage import Stage, performed, set_up

ACTION = "isolation.self_test"
LEAKS_LOGGED = 50
STATEMENT_MS = 5_000  # that PostgreSQL works on one statement of it, or waits for a lock


def run_self_test(*, caller: Caller, now: datetime | None = None) -> SelfTest:
    """Tries to cross from the caller's tenant to another; entered in the audit log. Raises Forbidden for
    whoever is no unbound admin."""
    if not caller.may("admin") or caller.user_id or caller.agent_id or caller.project:
        raise Forbidden("Only an admin of the whole tenant may try its walls.")
    began = time.perf_counter()
    done = SelfTest(tuple(_tried(caller, now or timezone.now())), (time.perf_counter() - began) * 1000)
    with scope(caller.tenant_id):
        audit.record(
            tenant_id=caller.tenant_id,
            actor=caller.principal,
            action=ACTION,
            attempts=len(done.attempts),
            refused=done.refused,
            unproved=done.unproved,
            leaked=[one.name for one in done.leaks[:LEAKS_LOGGED]],
            leaks=len(done.leaks),
            doors=[[one.name, one.verdict] for one in done.doors],
            ms=round(done.ms),
        )
    return done


def last_self_test(*, caller: Caller) -> AuditEntry | None:
    """What the log says of the last one."""
    found = audit.list_entries(caller=caller, limit=1, action=ACTION)
    return found[0] if found else None


def _tried(caller: Caller, now: datetime) -> list[DoorResult]:
    stage, all_doors = set_up(caller=caller, now=now), doors()
    with ExitStack() as around:
        for door in all_doors:
            around.enter_context(door.around(stage))
        with performed(stage):
            _plant(stage, all_doors)
            return [result_of(one.name, one.about, one.columns, one.attempts(stage)) for one in all_doors]


def _plant(stage: Stage, all_doors: tuple[Door, ...]) -> None:
    for planted in (stage.ours, stage.decoy):
        with stage.acting_as(planted):
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL statement_timeout = {STATEMENT_MS}")
            for door in all_doors:
                door.plant(planted)
