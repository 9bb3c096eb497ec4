"""Django's users, whose memberships tenants have. They belong to no tenant, and are known by their names."""

import json
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.core.serializers.json import DjangoJSONEncoder
from django.db.backends.utils import CursorWrapper

from memoryproject.backup.archive import Reader, Writer
from memoryproject.backup.router import OWNER
from tenants.models import Member, Tenant

MEMBER = "users.jsonl"
# Whoever may have one tenant's backup is not to get at passwords and rights that reach beyond it.
STRANGER = {"is_staff": False, "is_superuser": False}

MAP = """
UPDATE restore_stage SET user_id = known.now
FROM unnest(%s::int[], %s::int[]) known(was, now) WHERE user_id = known.was
"""
MEMBERS = "SELECT DISTINCT user_id FROM restore_stage WHERE tenant_id = ANY(%s)"
UNKNOWN = "DELETE FROM restore_stage WHERE user_id <> ALL(%s)"


def dump(*, tenant: Tenant | None, using: str, archive: Writer) -> int:
    """Writes all users, or one tenant's members without their passwords and rights; how many."""
    model = get_user_model()
    users = model._default_manager.using(using).order_by("pk")
    if tenant is not None:
        members = Member.objects.using(using).filter(tenant_id=tenant.id)
        users = users.filter(pk__in=members.values("user_id"))
    count = 0
    with archive.member(MEMBER) as member:
        for values in users.values():
            row = values if tenant is None else values | STRANGER | {"password": ""}
            member.write(json.dumps(row, cls=DjangoJSONEncoder).encode() + b"\n")
            count += 1
    return count


class Users:
    """Who was which number in the backup, and is which one here.

    `all_back`: everybody comes back as they were, which is for a database that has lost all. Elsewhere only
    members of `tenant_ids` do, without password and rights: whoever is not here may have been removed since.
    """

    def __init__(self, archive: Reader, *, tenant_ids: list[UUID], all_back: bool) -> None:
        self._saved = {row["id"]: row for row in archive.lines(MEMBER)}
        self._tenant_ids = tenant_ids
        self._numbers: dict[int, int] = {}
        self.created = 0
        if all_back:
            for was, row in self._saved.items():
                self._numbers[was] = self._find(row)

    def _find(self, row: dict[str, Any]) -> int:
        """One who is here by that name stays as they are, with their password and rights."""
        model = get_user_model()
        name = {model.USERNAME_FIELD: row[model.USERNAME_FIELD]}
        known = model._default_manager.using(OWNER).filter(**name).values_list("pk", flat=True).first()
        if known is None:
            user = model(**{field: value for field, value in row.items() if field != "id"})
            user.password = row["password"] or make_password(None)
            user.save(using=OWNER, force_insert=True)
            known, self.created = user.pk, self.created + 1
        return int(known)

    def renumber(self, cursor: CursorWrapper) -> None:
        """Gives the memberships that have come in the numbers that their people have here."""
        cursor.execute(MEMBERS, [self._tenant_ids])
        for (was,) in cursor.fetchall():
            if was in self._saved and was not in self._numbers:
                self._numbers[was] = self._find(self._saved[was] | STRANGER | {"password": ""})
        # Twice over, by way of negative numbers: one's new number may be another's old one.
        cursor.execute(UNKNOWN, [list(self._numbers)])
        cursor.execute(MAP, [list(self._numbers), [-number for number in self._numbers.values()]])
        cursor.execute("UPDATE restore_stage SET user_id = -user_id")
