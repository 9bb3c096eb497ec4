"""Where the measuring happens: own stores, their data, and this process set up like a web process."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import seed
from tests.benchmarks.seed import Member
from tests.processes import Stores, manage


@dataclass
class Stage:
    """The stores and the tenants in them; `environment` is that of a web process."""

    home: Path
    environment: dict[str, str]
    members: list[Member]
    superuser_url: str

    def episodes(self, count: int) -> None:
        """Fills the store with so many episodes."""
        seed.seed_episodes(self.superuser_url, self.members, count)

    @property
    def log(self) -> Path:
        return self.home / "web.log"


@contextmanager
def stage(home: Path | None) -> Iterator[Stage]:
    """Starts the stores in `home`, which is kept, or in a folder of their own, which is not."""
    folder = home or Path(tempfile.mkdtemp(prefix="strata-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    stores = Stores(folder)
    try:
        stores.start()
        yield _set_up(stores)
    finally:
        stores.stop()
        if home is None:
            shutil.rmtree(folder, ignore_errors=True)


def _set_up(stores: Stores) -> Stage:
    import django

    environment = stores.environment() | {"LOG_LEVEL": "WARNING"}
    manage("migrate", "--database", "owner", environment=environment)
    os.environ.update(environment)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    django.setup()
    return Stage(stores.home, environment, seed.cast(stores.home), stores.postgres.superuser_url("strata"))
