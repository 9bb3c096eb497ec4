"""`python -m tests.torture.teller`: records what each line of its input says, and answers `ok`.

A line is `{"tenant": …, "kind": …, "names": […], "payload": {…}}`: a cause and its job per name, one commit.
"""

import json
import os
import sys
from uuid import UUID

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.torture.settings")
    django.setup()
    from django.db import connections

    for line in sys.stdin:
        _record(**json.loads(line))
        connections.close_all()  # back to the pool, which looks whether it still lives
        print("ok", flush=True)


def _record(*, tenant: str, kind: str, names: list[str], payload: dict) -> None:
    from django.utils import timezone

    from tenants import audit
    from tenants.jobs.queue import enqueue
    from tenants.scope import scope
    from tests.torture.kinds import CAUSE

    tenant_id = UUID(tenant)
    with scope(tenant_id):
        for name in names:
            audit.record(tenant_id=tenant_id, actor="teller", action=CAUSE, target=name)
            enqueue(kind, payload={**payload, "n": name}, now=timezone.now())


if __name__ == "__main__":
    main()
