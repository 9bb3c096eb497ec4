import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants.errors import DomainError, Invalid
from tenants.policy.document import policy_schema
from tenants.policy.overrides import Difference, diff_policies, flatten
from tenants.policy.versions import (
    Level,
    LevelPolicy,
    diff_versions,
    list_versions,
    read_level,
    rollback_policy,
    write_policy,
)
from tenants.tenancy import get_tenant

ACTOR = "command:policy"
LISTED = 200


class Command(BaseCommand):
    """Shows and changes what a tenant, or one of its agents, decides."""

    help = "Show or change the policy of a tenant or of one of its agents."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("--agent", default="", help="this agent's policy instead of the tenant's")
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("show", help="what holds, and which level decides it")
        change = actions.add_parser("set", help="decide; a value is JSON or plain text, null gives it back")
        change.add_argument("values", nargs="+", metavar="FIELD=VALUE", help="such as recall.top_k=8")
        change.add_argument("--note", default="", help="why")
        diff = actions.add_parser("diff", help="where two versions differ")
        diff.add_argument("versions", nargs=2, type=int, metavar="VERSION")
        actions.add_parser("versions", help="all versions, newest first")
        back = actions.add_parser("rollback", help="add a version with the document of an old one")
        back.add_argument("version", type=int, metavar="VERSION")
        back.add_argument("--note", default="", help="why")
        actions.add_parser("schema", help="every field with its meaning, as JSON schema")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        level = Level(tenant.id, options["agent"])
        try:
            getattr(self, f"_{options['action']}")(level, options)
        except Invalid as error:
            raise CommandError(f"{error.field.removeprefix('document.')}: {error}") from error
        except DomainError as error:
            raise CommandError(str(error)) from error

    def _show(self, level: Level, options: dict[str, Any]) -> None:
        found = read_level(level=level)
        self.stdout.write(f"{_name(level)}, version {found.version}")
        effective = flatten(found.effective.model_dump(mode="json"))
        widths = [max(map(len, column)) for column in (effective, map(_text, effective.values()))]
        for field, value in effective.items():
            self.stdout.write(
                f"  {field:{widths[0]}}  {_text(value):{widths[1]}}  {_decided_by(found, field)}"
            )

    def _set(self, level: Level, options: dict[str, Any]) -> None:
        changes: dict[str, Any] = {}
        for text in options["values"]:
            field, equals, value = text.partition("=")
            section, dot, name = field.partition(".")
            if not (equals and dot):
                raise CommandError(f"Write FIELD=VALUE, such as recall.top_k=8; not {text!r}.")
            changes.setdefault(section, {})[name] = _parse(value)
        before = read_level(level=level)
        after = write_policy(
            level=level, actor=ACTOR, changes=changes, expected_version=before.version, note=options["note"]
        )
        self._changed(before, after)

    def _diff(self, level: Level, options: dict[str, Any]) -> None:
        first, second = options["versions"]
        _before, _after, differences = diff_versions(level=level, from_version=first, to_version=second)
        self._differences(differences)

    def _versions(self, level: Level, options: dict[str, Any]) -> None:
        found = list_versions(level=level, limit=LISTED)
        for one in found:
            moment = one.created_at.strftime("%Y-%m-%d %H:%M:%SZ")
            self.stdout.write(f"{one.version:>4}  {moment}  {one.author}  {one.note}".rstrip())
        if not found:
            self.stdout.write(f"{_name(level)} decides nothing for itself yet.")

    def _rollback(self, level: Level, options: dict[str, Any]) -> None:
        before = read_level(level=level)
        after = rollback_policy(
            level=level,
            actor=ACTOR,
            to_version=options["version"],
            expected_version=before.version,
            note=options["note"],
        )
        self._changed(before, after)

    def _schema(self, level: Level, options: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(policy_schema(), indent=2))

    def _changed(self, before: LevelPolicy, after: LevelPolicy) -> None:
        if after.version == before.version:
            self.stdout.write(f"Nothing to change; version {after.version} stands.")
            return
        self.stdout.write(f"{_name(after.level)}, version {after.version}")
        self._differences(diff_policies(before.document, after.document))

    def _differences(self, differences: list[Difference]) -> None:
        for one in differences:
            self.stdout.write(f"  {one.field}: {_left_open(one.before)} -> {_left_open(one.after)}")
        if not differences:
            self.stdout.write("  no difference")


def _name(level: Level) -> str:
    return f"Agent {level.agent_id}" if level.agent_id else "Tenant"


def _decided_by(found: LevelPolicy, field: str) -> str:
    if field in flatten(found.document):
        return "agent" if found.level.agent_id else "tenant"
    return "tenant" if field in flatten(found.above) else ""


def _parse(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value


def _left_open(value: Any) -> str:
    return "(left open)" if value is None else _text(value)
