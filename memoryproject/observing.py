"""What each process of Strata begins with, so that it can be observed."""

from memoryproject import logs, slow_queries, tracing
from memoryproject.logs import Process


def observe(process: Process) -> None:
    """Names the process in the log; starts traces and the slow-query log if the settings ask for them.

    Before the first connection is opened, since both wrap connections as they are made. Raises
    ImproperlyConfigured.
    """
    logs.name_process(process)
    slow_queries.watch()
    tracing.start(process)
