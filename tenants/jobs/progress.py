"""How far a long job is, for whoever waits for it."""

from tenants.jobs import querysets
from tenants.jobs.kinds import LeaseLost, Task
from tenants.scope import scope


def report(task: Task, *, done: int, total: int | None = None) -> None:
    """Says how far the job is. Raises LeaseLost when it is not ours any longer. In an
    open scope it is part of that, and keeps the job's row locked until its end."""
    with scope(task.tenant_id):
        ours = querysets.report_progress(task=task, done=done, total=total)
    if not ours:
        raise LeaseLost(f"Job {task.id} is another worker's now.")
