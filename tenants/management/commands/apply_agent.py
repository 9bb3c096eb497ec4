import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tenants.agents.agents import Applied, apply_agents
from tenants.agents.parsing import Declared, parse_json, parse_yaml, read_declaration, unfold
from tenants.errors import DomainError, Invalid
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.tenancy import get_tenant

ACTOR = "command:apply_agent"


class Command(BaseCommand):
    """Declares agents from a file with Kubernetes resources: all of them or, if one is not valid, none."""

    help = "Declare agents, as `PUT /api/v1/agents/{name}` does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", help="YAML or JSON; several YAML documents, or a List; -: from stdin"
        )
        parser.add_argument(
            "--tenant", metavar="SLUG", help="whose agents they are; by default the only tenant's"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = _tenant(options["tenant"])
        declared = _declared(options["file"])
        try:
            done = apply_agents(tenant_id=tenant.id, actor=ACTOR, declared=declared, now=timezone.now())
        except DomainError as error:
            raise CommandError(str(error)) from error
        for one in done:
            self.stdout.write(f"agent {one.agent.name} {_outcome(one)}, version {one.agent.version}")


def _tenant(slug: str | None) -> Tenant:
    if slug is not None:
        named = get_tenant(slug)
        if named is None:
            raise CommandError(f"There is no tenant {slug!r}.")
        return named
    with admin_role():
        found = list(Tenant.objects.filter(disabled_at=None)[:2])
    if len(found) != 1:
        raise CommandError("Say whose agents they are: --tenant SLUG.")
    return found[0]


def _declared(file: str) -> list[Declared]:
    name = "stdin" if file == "-" else file
    try:
        source = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        documents = [parse_json(source)] if file.endswith(".json") else parse_yaml(source)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from error
    except Invalid as error:
        raise CommandError(f"{name}: {error}") from error
    found: dict[str, Declared] = {}
    for where, resource in _resources(documents, name):
        one = _read(resource, where)
        if one.name in found:
            raise CommandError(f"{where}: Agent {one.name} stands twice.")
        found[one.name] = one
    if not found:
        raise CommandError(f"{name}: There is no agent in it.")
    return list(found.values())


def _resources(documents: list[Any], name: str) -> Iterator[tuple[str, Any]]:
    """Each, and where it stands."""
    for number, document in enumerate(documents, 1):
        if document is None:
            continue  # what stands before the first `---`, or after the last
        where = f"{name}, document {number}"
        try:
            resources = unfold(document)
        except Invalid as error:
            raise CommandError(f"{where}: {error.field}: {error}") from error
        if resources == [document]:
            yield where, document
        else:
            yield from ((f"{where}, item {place}", one) for place, one in enumerate(resources, 1))


def _read(document: Any, where: str) -> Declared:
    try:
        return read_declaration(document)
    except Invalid as error:
        field = f"{error.field}: " if error.field else ""
        raise CommandError(f"{where}: {field}{error}") from error
    except DomainError as error:
        raise CommandError(f"{where}: {error}") from error


def _outcome(one: Applied) -> str:
    if one.created:
        return "created"
    return "updated" if one.changed else "unchanged"
