import os
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from api.errors import problem_of
from api.mcp.connection import Connection, connect
from memoryproject.embedded import runfile
from memoryproject.observing import observe
from tenants.api_keys import authenticate


class Command(BaseCommand):
    """Serves the memory tools to the agent that starts it. Standard output belongs to the protocol."""

    help = "Serve the memory tools over standard input and output (Model Context Protocol)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--key-file",
            type=Path,
            metavar="FILE",
            help="holds the API key (else STRATA_API_KEY, else make run's)",
        )
        parser.add_argument("--project", help="whose memory (else STRATA_PROJECT, else the key's)")
        parser.add_argument("--session", help="the session's id (else STRATA_SESSION, else mcp-PROJECT)")

    def handle(self, *args: Any, **options: Any) -> None:
        observe("command")
        given, environ = options, os.environ
        connecting = partial(
            _connect,
            key=_key(given["key_file"]),
            project=given["project"] or environ.get("STRATA_PROJECT", ""),
            session_id=given["session"] or environ.get("STRATA_SESSION", ""),
        )
        try:
            connecting()
        except Exception as error:  # only to sort them: what is no refusal is raised again
            problem = problem_of(error)
            if problem is None:
                raise
            raise CommandError(problem.detail) from error
        finally:
            connections.close_all()  # this thread asks nothing more
        from api.mcp.stdio import serve  # the SDK, when all else is right

        serve(connecting)


def _connect(*, key: str, project: str, session_id: str) -> Connection:
    return connect(caller=authenticate(key), project=project, session_id=session_id)


def _key(path: Path | None) -> str:
    """The key that was named, else the one that `make run` wrote down for the server it runs."""
    if path is not None:
        try:
            return path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{path} cannot be read: {getattr(error, 'strerror', 'not text')}.") from error
    running = runfile.read(settings.MEMORY_HOME / "run.json") or {}
    key = os.environ.get("STRATA_API_KEY") or str(running.get("api_key", ""))
    if not key:
        raise CommandError("Name a key: --key-file FILE, or STRATA_API_KEY in the environment.")
    return key
