"""A worker of its own that changes many observations slowly, to be killed in the middle:
`python -m tests.observations.killed`."""

import os
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")


def main() -> None:
    django.setup()

    from observations import bulk, bulk_jobs
    from tenants.jobs import runner

    bulk.TOGETHER = 10
    change = bulk_jobs.change_batch

    def slowly(*args: Any, **named: Any) -> bulk.Done:
        done = change(*args, **named)
        time.sleep(0.1)  # in the middle of its transaction
        return done

    bulk_jobs.change_batch = slowly
    runner.run_jobs(slow=True)


if __name__ == "__main__":
    main()
