"""What a backup must not undo, as a small file of its own: erasures, and keys and links that were ended.

It is written more often than backups are, and kept elsewhere: after the loss of a disk, it alone tells whom
not to bring back. It names no person: JSON Lines of keyed hashes and moments, the last line their signature.
"""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.backends.utils import CursorWrapper
from django.db.models import Q

from memoryproject.backup.archive import created
from memoryproject.backup.errors import BackupError
from memoryproject.backup.signing import fingerprint, is_signed, sign
from tenants.models import ApiKey, LinkRevocation, Tombstone
from tenants.privacy.receipts import plain
from tenants.router import admin_role

FORMAT = 1
BATCH = 1_000
ERASURE = ("id", "tenant_id", "subject", "erased_at", "completed_at")
KEY = ("key_id", "tenant_id", "revoked_at", "expires_at")
LINKS = ("id", "tenant_id", "subject", "void_until")

# Erased in this very transaction, hence completed.
BURY = """
INSERT INTO tenants_tombstone (id, tenant_id, subject, erased_at, requested_by, completed_at, receipt)
SELECT %(id)s, %(tenant_id)s, %(subject)s, %(erased_at)s, 'command:restore',
       coalesce(%(completed_at)s::timestamptz, now()), '{}'
WHERE NOT EXISTS (SELECT FROM tenants_tombstone WHERE tenant_id = %(tenant_id)s AND id = %(id)s)
"""
END = """
UPDATE tenants_apikey SET revoked_at = coalesce(revoked_at, %(revoked_at)s::timestamptz),
       expires_at = least(expires_at, %(expires_at)s::timestamptz)
WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s
"""
VOID = """
INSERT INTO tenants_linkrevocation AS present (id, tenant_id, subject, void_until)
VALUES (%(id)s, %(tenant_id)s, %(subject)s, %(void_until)s)
ON CONFLICT (tenant_id, subject) DO UPDATE SET void_until = greatest(present.void_until, excluded.void_until)
"""


def write(path: Path, *, force: bool) -> dict[str, int]:
    """Writes what every tenant has; how many of each. Raises BackupError."""
    ended = Q(revoked_at__isnull=False) | Q(expires_at__isnull=False)
    counts = {"erasure": 0, "key": 0, "links": 0}
    with created(path, force=force) as file, admin_role():
        lines = [json.dumps({"format": FORMAT, "secret_key": fingerprint()})]
        sources: list[tuple[str, Any]] = [
            ("erasure", Tombstone.objects.order_by("tenant_id", "id").values(*ERASURE)),
            ("key", ApiKey.objects.filter(ended).order_by("tenant_id", "id").values(*KEY)),
            ("links", LinkRevocation.objects.order_by("tenant_id", "id").values(*LINKS)),
        ]
        for kind, rows in sources:
            for row in rows.iterator(BATCH):
                lines.append(json.dumps({"kind": kind, **row}, default=plain))
                counts[kind] += 1
        text = "\n".join(lines).encode() + b"\n"
        file.write(text + json.dumps({"signature": sign(text)}).encode() + b"\n")
    return counts


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of such a file. Raises BackupError for one that is not whole, not ours, or was changed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from error
    body, _, last = data.rstrip(b"\n").rpartition(b"\n")
    try:
        signature = str(json.loads(last)["signature"])
        header, *records = map(json.loads, body.splitlines())
        made_under, version = header["secret_key"], header["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise BackupError(f"{path} is not a whole file of erasures.") from error
    if made_under != fingerprint():
        raise BackupError(f"{path} was written under another SECRET_KEY: its erasures match nobody here.")
    if version != FORMAT:
        raise BackupError(f"{path} has format {version}; this version reads {FORMAT}.")
    if not is_signed(body + b"\n", signature):
        raise BackupError(f"{path} was changed since it was written: its signature does not match.")
    return records


def merge(cursor: CursorWrapper, records: list[dict[str, Any]], *, tenant_ids: list[UUID]) -> None:
    """Adds the erasures of these tenants and ends their keys and links, in the open transaction."""
    statements = {"erasure": BURY, "key": END, "links": VOID}
    for record in records:
        if UUID(record["tenant_id"]) in tenant_ids:
            cursor.execute(statements[record["kind"]], record)
