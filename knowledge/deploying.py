"""Deploying procedures: by whoever runs the server, as the admin role. The app role can only read them."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from knowledge import querysets
from knowledge.models import Deployment, Procedure
from knowledge.types import Deployed, ProcedureText
from tenants import audit
from tenants.errors import Conflict, Invalid, NotFound
from tenants.router import admin_role

LONGEST_ENVIRONMENT = 64


def deploy_procedures(
    *,
    tenant_id: UUID,
    environment: str,
    texts: Sequence[ProcedureText],
    actor: str,
    now: datetime,
    dry_run: bool = False,
) -> list[Deployed]:
    """Has the environment run these versions, new ones among them: all or, if one is refused, none. With
    `dry_run` it only tells what that would do.

    Raises Conflict naming a version that is there and says something else, Invalid for one that stands twice.
    """
    _check(environment, texts)
    with _alone(tenant_id):
        plans = [_plan(tenant_id, environment, text, actor, now) for text in texts]
        for plan in [] if dry_run else plans:
            if plan.outcome == "created":
                plan.procedure.save(force_insert=True)
                _record("procedure.create", plan, actor)
            if plan.outcome != "unchanged":
                _run(plan, actor, now)
    return plans


def deploy_version(*, procedure: Procedure, environment: str, actor: str, now: datetime) -> Deployed:
    """Has the environment run a version that is there."""
    _check(environment, ())
    with _alone(procedure.tenant_id):
        current = _current(procedure.tenant_id, environment, procedure.name)
        is_same = current is not None and current.procedure_id == procedure.id
        done = Deployed(procedure, environment, "unchanged" if is_same else "deployed", _version_of(current))
        if not is_same:
            _run(done, actor, now)
    return done


def rollback_procedure(
    *, tenant_id: UUID, environment: str, name: str, actor: str, now: datetime, to: str | None = None
) -> Deployed:
    """Has the environment run the version again that it ran before the present one; with `to`, that version.
    Raises NotFound."""
    with _alone(tenant_id):
        current = _current(tenant_id, environment, name)
        if current is None:
            raise NotFound(f"{environment} runs no procedure named {name}.")
        if to is not None:
            target = Procedure.objects.filter(tenant_id=tenant_id, name=name, version=to).first()
            if target is None:
                raise NotFound(f"There is no version {to} of {name}.")
        else:
            before = _of(tenant_id, environment, name).exclude(procedure_id=current.procedure_id).first()
            if before is None:
                raise NotFound(f"{environment} has run no other version of {name}.")
            target = Procedure.objects.get(tenant_id=tenant_id, id=before.procedure_id)
        return deploy_version(procedure=target, environment=environment, actor=actor, now=now)


@contextmanager
def _alone(tenant_id: UUID) -> Iterator[None]:
    """A transaction of the admin role, in which nobody else deploys for the tenant."""
    digest = hashlib.sha256(f"{tenant_id.hex}/procedures".encode()).digest()
    with admin_role(), transaction.atomic(using="admin"):
        querysets.lock(int.from_bytes(digest[:8], signed=True), as_admin=True)
        yield


def _check(environment: str, texts: Sequence[ProcedureText]) -> None:
    if not environment.strip() or len(environment) > LONGEST_ENVIRONMENT:
        raise Invalid(
            f"An environment has a name of at most {LONGEST_ENVIRONMENT} characters.", "environment"
        )
    twice = [name for name, count in Counter(text.name for text in texts).items() if count > 1]
    if twice:
        files = ", ".join(text.origin for text in texts if text.name == twice[0])
        raise Invalid(f"The procedure {twice[0]} stands twice: {files}.")


def _plan(tenant_id: UUID, environment: str, text: ProcedureText, actor: str, now: datetime) -> Deployed:
    known = Procedure.objects.filter(tenant_id=tenant_id, name=text.name, version=text.version).first()
    current = _current(tenant_id, environment, text.name)
    if known is None:
        made = Procedure(
            tenant_id=tenant_id,
            name=text.name,
            version=text.version,
            body=text.body,
            checksum=text.checksum,
            metadata=dict(text.metadata),
            created_by=actor,
            created_at=now,
        )
        return Deployed(made, environment, "created", _version_of(current))
    if (known.checksum, known.metadata) != (text.checksum, dict(text.metadata)):
        part = "text" if known.checksum != text.checksum else "metadata"
        raise Conflict(
            f"{text.name} {text.version} is there already with another {part}. A version is never changed: "
            f"give {text.origin or 'this one'} a version of its own."
        )
    is_same = current is not None and current.procedure_id == known.id
    return Deployed(known, environment, "unchanged" if is_same else "deployed", _version_of(current))


def _run(plan: Deployed, actor: str, now: datetime) -> None:
    procedure = plan.procedure
    current = _current(procedure.tenant_id, plan.environment, procedure.name)
    # The newest counts, also when the clock has gone back since the last one.
    moment = now if current is None else max(now, current.deployed_at + timedelta(microseconds=1))
    Deployment.objects.create(
        tenant_id=procedure.tenant_id,
        environment=plan.environment,
        name=procedure.name,
        procedure_id=procedure.id,
        deployed_by=actor,
        deployed_at=moment,
    )
    _record("procedure.deploy", plan, actor)


def _record(action: str, plan: Deployed, actor: str) -> None:
    audit.record(
        tenant_id=plan.procedure.tenant_id,
        actor=actor,
        action=action,
        target=plan.procedure.name,
        version=plan.procedure.version,
        checksum=plan.procedure.checksum,
        environment=plan.environment,
        before=plan.before,
    )


def _current(tenant_id: UUID, environment: str, name: str) -> Deployment | None:
    return _of(tenant_id, environment, name).first()


def _of(tenant_id: UUID, environment: str, name: str) -> QuerySet[Deployment]:
    """Every deployment of the procedure there, newest first."""
    found = Deployment.objects.filter(tenant_id=tenant_id, environment=environment, name=name)
    return found.order_by("-deployed_at", "-id")


def _version_of(deployment: Deployment | None) -> str:
    if deployment is None:
        return ""
    return Procedure.objects.get(tenant_id=deployment.tenant_id, id=deployment.procedure_id).version
