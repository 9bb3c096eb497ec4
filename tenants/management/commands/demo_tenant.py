import json
import os
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand

from tenants.api_keys import authenticate, create_api_key
from tenants.errors import Unauthenticated
from tenants.members import add_member
from tenants.models import Member, Role, Tenant
from tenants.router import admin_role
from tenants.tenancy import create_tenant, get_tenant

SLUG, ADMIN = "demo", "admin"


class Command(BaseCommand):
    """Creates or finds the demo tenant, its key and the admin user; prints them as JSON.

    Key and password are kept in `$MEMORY_HOME/demo.json`, since the database holds only their hashes.
    """

    help = "Create or find the demo tenant, its key and the admin user."

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(settings.MEMORY_HOME) / "demo.json"
        kept = _read(path)
        tenant = get_tenant(SLUG) or create_tenant(slug=SLUG, name="Demo", actor="command:demo_tenant")
        found = {
            "tenant": SLUG,
            "api_key": _key(tenant, kept.get("api_key", "")),
            "admin_user": ADMIN,
            "admin_password": _password(kept.get("admin_password", "")),
        }
        _let_in(tenant)
        if found != kept:
            _write_private(path, json.dumps(found))
        self.stdout.write(json.dumps(found))


def _key(tenant: Tenant, kept: str) -> str:
    """The kept key while it works, else a new one."""
    try:
        if authenticate(kept).tenant_id == tenant.id:
            return kept
    except Unauthenticated:
        pass  # the database is another one, or the key was revoked
    _key, text = create_api_key(tenant=tenant, actor="command:demo_tenant", name="demo")
    return text


def _password(kept: str) -> str:
    """The admin's password; a new one when there is no such user or it was lost. One that the user has
    changed is left alone, and the kept one no longer works."""
    with admin_role():
        user = User.objects.filter(username=ADMIN).first()
        if user is not None and kept:
            return kept
        password = secrets.token_urlsafe(12)
        user = user or User(username=ADMIN, is_staff=True, is_superuser=True)
        user.set_password(password)
        user.save()
    return password


def _let_in(tenant: Tenant) -> None:
    """Makes the admin user a member, unless an operator has given it a role already."""
    with admin_role():
        user = User.objects.get(username=ADMIN)
        if Member.objects.filter(tenant=tenant, user=user).exists():
            return
    add_member(tenant=tenant, user=user, role=Role.ADMIN, actor="command:demo_tenant")


def _read(path: Path) -> dict[str, str]:
    """What an earlier run kept; nothing when the file is lost or broken: key and password are then new."""
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write_private(path: Path, text: str) -> None:
    """Writes beside and renames, so that whoever is interrupted leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    with open(beside, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)
    beside.replace(path)
