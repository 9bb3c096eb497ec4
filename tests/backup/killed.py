"""A restore of its own that stands still before its end, to be killed there:
`python -m tests.backup.killed FILE`."""

import os
import sys
import time
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")


def main() -> None:
    django.setup()

    from memoryproject.backup import restoring

    def stand_still(*args: object) -> None:
        print("everything is loaded", flush=True)
        time.sleep(600)

    restoring._Restore._record = stand_still  # type: ignore[assignment,method-assign]
    restoring.restore_backup(
        path=Path(sys.argv[1]), slug=None, replace=True, erasures=None, other_secret_key=False, actor="test"
    )


if __name__ == "__main__":
    main()
