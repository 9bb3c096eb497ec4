"""What people and their agents know, written through the doors it comes by."""

import hashlib
from typing import Any

from django.utils import timezone

from knowledge.models import Deployment, Procedure
from tests.conftest import Member
from tests.isolation.tables import store


def slot(member: Member, key: str, value: Any, user: str = "ann") -> str:
    """The id of the slot's value."""
    answer = member.http.put(f"/api/v1/entities/{user}/{key}", json={"value": value})
    assert answer.is_success, answer.text
    return answer.json()["id"]


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
