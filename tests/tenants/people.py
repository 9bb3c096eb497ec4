"""People of Django's user table."""

import secrets
from typing import Any

from django.contrib.auth.models import User

from tenants.router import admin_role


def make_user(name: str, **fields: Any) -> User:
    """A user whose name begins with the given one."""
    with admin_role():
        return User.objects.create(username=f"{name}-{secrets.token_hex(4)}", **fields)
