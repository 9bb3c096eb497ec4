"""Killing a worker in the middle of a job that takes long."""

import os
import subprocess
import sys
import time

from tenants.models import Job
from tenants.scope import scope
from tests.processes import ROOT


def kill_a_worker(job: Job, *, at: int, module: str) -> None:
    """Starts a worker, `python -m <module>`, and kills it once the job says that so much is done."""
    environment = {**os.environ, "JOB_LEASE_SECONDS": "3"}
    worker = subprocess.Popen([sys.executable, "-m", module], cwd=ROOT, env=environment)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and worker.poll() is None:
            with scope(job.tenant_id):
                if Job.objects.get(id=job.id).done >= at:
                    break
            time.sleep(0.02)
        assert worker.poll() is None, "it was too quick"
    finally:
        worker.kill()
        worker.wait()
