"""A worker of its own that erases slowly, to be killed in the middle: `python -m tests.privacy.killed`."""

import os
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")


def main() -> None:
    django.setup()

    from tenants.jobs import runner
    from tenants.privacy import erasure, registry

    registry.BATCH = 50
    report = erasure._Erasure._report

    def slowly(self: erasure._Erasure) -> None:
        report(self)
        time.sleep(0.05)

    erasure._Erasure._report = slowly  # type: ignore[method-assign]
    runner.run_jobs(slow=True)


if __name__ == "__main__":
    main()
