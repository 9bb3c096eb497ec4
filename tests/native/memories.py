"""What people and their agents know, written through the doors it comes by."""

import hashlib
from datetime import timedelta
from typing import Any

from django.utils import timezone

from episodic.models import Entity
from knowledge.models import Deployment, Procedure
from tenants.caller import Caller
from tenants.scope import scope
from tests.conftest import Member
from tests.isolation.tables import store


def slot(member: Member, key: str, value: Any, user: str = "ann") -> str:
    """The id of the slot's value."""
    answer = member.http.put(f"/api/v1/entities/{user}/{key}", json={"value": value})
    assert answer.is_success, answer.text
    return answer.json()["id"]


def many_slots(caller: Caller, count: int, user: str = "ann", **further: Any) -> None:
    """As many slots of the user as are told at once, and more: `a_0`, `a_1` …, and those named; without
    vectors."""
    now = timezone.now()
    values = {f"a_{number}": number for number in range(count)} | further
    rows = [
        Entity(
            tenant_id=caller.tenant_id, user_id=user, key=key, value=value, confidence=1.0,
            valid_from=now - timedelta(hours=len(values) - place), created_at=now,
            updated_at=now - timedelta(hours=len(values) - place), embed_pending=False,
        )
        for place, (key, value) in enumerate(values.items())
    ]  # fmt: skip
    with scope(caller.tenant_id):
        Entity.objects.bulk_create(rows)


def deploy(
    member: Member,
    name: str,
    body: str = "Ask first.",
    *,
    version: str = "1",
    agents: tuple[str, ...] = ("*",),
    environment: str = "production",
) -> None:
    """A procedure, as an operator deploys it: no key can."""
    now, tenant_id = timezone.now(), member.tenant.id
    procedure = Procedure(
        tenant_id=tenant_id,
        name=name,
        version=version,
        body=body,
        checksum=hashlib.sha256(body.encode()).hexdigest(),
        metadata={"agents": list(agents)},
        created_by="test",
        created_at=now,
    )
    deployment = Deployment(
        tenant_id=tenant_id,
        environment=environment,
        name=name,
        procedure_id=store(procedure).id,
        deployed_by="test",
        deployed_at=now,
    )
    store(deployment)
