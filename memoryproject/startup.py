"""What web and worker do before they serve."""

from django.core.management.base import BaseCommand
from django.db import connections


def refuse_unsafe_deployment() -> None:
    """Runs the system checks, the database's among them. Raises SystemCheckError.

    Only `manage.py` runs them by itself; the servers are started without it.
    """
    try:
        BaseCommand().check(databases=["default"])
    finally:
        connections.close_all()  # this thread serves no request, and must not keep one of the pool's few
