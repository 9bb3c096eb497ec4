"""A worker of its own that summarises slowly, to be killed in the middle: `python -m tests.recall.killed`."""

import os
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")


def main() -> None:
    django.setup()

    from recall import partitions
    from tenants.jobs import runner

    write = partitions.write_digest

    def slowly(*records: Any, **given: Any) -> Any:
        time.sleep(0.1)
        return write(*records, **given)

    partitions.write_digest = slowly
    runner.run_jobs(slow=True)


if __name__ == "__main__":
    main()
