"""Which account the two servers run as. Both PostgreSQL and prudence refuse root."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from memoryproject.embedded.errors import CannotStart

UNPRIVILEGED = "nobody"


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int

    @property
    def is_caller(self) -> bool:
        return self.uid == os.geteuid()


def server_account(home: Path) -> Account:
    """The caller; for root the owner of the existing data, else an unprivileged account.

    Data that an ordinary user made stays theirs when root starts it once.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    return _owner_of(home / "postgres") or _unprivileged()


def _owner_of(folder: Path) -> Account | None:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return None
    return Account(found.st_uid, found.st_gid) if found.st_uid != 0 else None


def _unprivileged() -> Account:
    try:
        entry = pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        raise CannotStart(
            f"PostgreSQL does not run as root and this machine has no account '{UNPRIVILEGED}'; "
            "start Strata as an ordinary user."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid)
