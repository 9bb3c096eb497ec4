"""An invitation for the time of the isolation self-test: only the admin role makes one, so no decoy can have
any, and where nobody is invited there would be none to reach for."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from tenants.models import Invitation, Role
from tenants.router import admin_role
from tenants.walls.pass_key import ACTOR
from tenants.walls.stage import LIFE_SECONDS, Stage

LIFE = timedelta(seconds=LIFE_SECONDS)


@contextmanager
def standing_invitation(stage: Stage) -> Iterator[None]:
    """One of the testing tenant, which has expired already and was made by nobody: no list shows it, and
    nobody could use it. One that an attempt before this has left goes first, should that have died."""
    ours, now = stage.ours.tenant_id, stage.ours.now
    with admin_role():
        left = Invitation.objects.filter(tenant_id=ours, created_by=ACTOR)
        left.filter(created_at__lt=now - LIFE).delete()
        made = Invitation.objects.create(
            tenant_id=ours, role=Role.VIEWER, secret_hash=secrets.token_hex(32), created_by=ACTOR,
            created_at=now, expires_at=now,
        )  # fmt: skip
    try:
        yield
    finally:
        with admin_role():
            Invitation.objects.filter(tenant_id=ours, id=made.id).delete()
