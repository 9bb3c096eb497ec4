"""Runs the command, looks at what a tenant holds, and answers as other memories' servers do."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import psycopg
from django.core.management import call_command
from psycopg import sql

from episodic.models import Episode
from tenants.scope import scope
from tests.plugin import STORES

TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attname = 'tenant_id'
"""


def run(source: str, location: object, tenant: str, *options: str) -> dict[str, Any]:
    """The report of an import."""
    out = StringIO()
    call_command("import_from", source, str(location), "--tenant", tenant, "--json", *options, stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


def totals(report: dict[str, Any]) -> dict[str, int]:
    """What of it is not 0."""
    return {name: number for name, number in report["total"].items() if number}


def reasons(report: dict[str, Any], outcome: str) -> dict[str, list[str]]:
    """Where what was left out for that stands, by the reason."""
    return {one["reason"]: one["places"] for one in report["reasons"] if one["outcome"] == outcome}


def written_in(tenant_id: UUID) -> dict[str, tuple[int, str]]:
    """How many rows the tenant has in each table, and which transactions wrote them."""
    with psycopg.connect(STORES.postgres.superuser_url("strata")) as connection:
        found = {}
        for (table,) in connection.execute(TABLES).fetchall():
            query = sql.SQL(
                "SELECT count(*), coalesce(md5(string_agg(xmin::text, ',' ORDER BY xmin::text)), '')"
            )
            query += sql.SQL(" FROM {} WHERE tenant_id = %s").format(sql.Identifier(table))
            found[table] = connection.execute(query, [tenant_id]).fetchone() or (0, "")
        return found


def memories(tenant_id: UUID) -> list[Episode]:
    """All, by their texts."""
    with scope(tenant_id):
        return list(Episode.objects.filter(tenant_id=tenant_id).order_by("text"))


def write_lines(path: Path, entries: list[Any]) -> Path:
    """JSON Lines; a text is a line as it is."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in entries]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@contextmanager
def database(name: str, *statements: str) -> Iterator[str]:
    """The address of a PostgreSQL database of its own, with these statements carried out."""
    with psycopg.connect(STORES.postgres.superuser_url(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    url = STORES.postgres.superuser_url(name)
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]  # no text of this file is a literal there
    yield url


@dataclass
class Fake:
    """A server that answers `(status, JSON or bytes)`, by method, path and query; what it was asked."""

    answer: Callable[[str, str, dict[str, str], Any], tuple[int, Any]]
    url: str = ""
    calls: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def serving(
    answer: Callable[[str, str, dict[str, str], Any], tuple[int, Any]], retry_after: str = "0"
) -> Iterator[Fake]:
    """Serve until the block ends."""
    fake = Fake(answer)

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            fake.calls.append(f"{self.command} {self.path}")
            fake.headers.append({name.lower(): value for name, value in self.headers.items()})
            given = json.loads(body) if body else None
            status, told = fake.answer(self.command, unquote(parts.path), query, given)
            answer = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.send_header("Retry-After", retry_after)
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = _serve

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
