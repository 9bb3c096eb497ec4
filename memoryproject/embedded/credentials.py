"""Passwords of the embedded servers: made once, kept in MEMORY_HOME/credentials.json (0600)."""

import secrets
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from memoryproject.embedded import runfile
from memoryproject.embedded.errors import CannotStart


@dataclass(frozen=True)
class Credentials:
    postgres: str
    strata_app: str
    strata_owner: str
    strata_admin: str
    redis: str
    secret_key: str

    @classmethod
    def load(cls, home: Path) -> "Credentials":
        """The home's passwords, made now if it has none."""
        path = home / "credentials.json"
        found = runfile.read(path)
        if found is None:
            cls._refuse_if_lost(home, path)
            made = cls(**{field.name: secrets.token_urlsafe(32) for field in fields(cls)})
            runfile.write(path, asdict(made))
            return made
        try:
            return cls(**{field.name: str(found[field.name]) for field in fields(cls)})
        except KeyError as error:
            raise CannotStart(f"{path} lacks the entry {error}; restore it from a backup.") from None

    @staticmethod
    def _refuse_if_lost(home: Path, path: Path) -> None:
        if (home / "postgres" / "data").exists():
            raise CannotStart(
                f"{path} with the passwords of the database in {home} is missing or unreadable; "
                "restore it from a backup, or move the folder away to start with an empty one."
            )
