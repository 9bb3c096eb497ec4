"""Sessions and users of the browser pages. Their tables are open to the admin role alone: a page of the app
role that is tricked into a query of its own reads no password and takes over no session."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore as RowStore
from django.http import HttpRequest

from tenants.router import admin_role


class SessionStore(RowStore):
    """Django's sessions in PostgreSQL, read and written as the admin role on every page."""

    def exists(self, session_key: str) -> bool:
        with admin_role():
            return bool(super().exists(session_key))

    def load(self) -> dict[str, Any]:
        with admin_role():
            return super().load()

    def save(self, must_create: bool = False) -> None:
        with admin_role():
            super().save(must_create)

    def delete(self, session_key: str | None = None) -> None:
        with admin_role():
            super().delete(session_key)


class AccountBackend(ModelBackend):
    """Django's users and passwords, likewise."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:  # type: ignore[override]
        with admin_role():
            return super().authenticate(request, **credentials)

    def get_user(self, user_id: int) -> User | None:
        with admin_role():
            return super().get_user(user_id)
