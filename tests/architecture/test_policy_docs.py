"""docs/policy.md, the policy's schema and the code that reads it tell the same."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from tenants.policy.document import Policy, policy_schema
from tests.architecture.sources import ROOT, python_files, tree
from tests.architecture.test_settings_docs import SETTINGS

ROW = re.compile(r"^\| `(\w+\.\w+)` \| (.+) \| (.+?) \|$", re.MULTILINE)
TEXT = (ROOT / "docs" / "policy.md").read_text()
ROWS = {field: (described, reader) for field, described, reader in ROW.findall(TEXT)}
SCHEMA = policy_schema()


def fields() -> Iterator[tuple[str, dict[str, Any]]]:
    for section, about in SCHEMA["properties"].items():
        for name, field in class_of(about)["properties"].items():
            yield f"{section}.{name}", field


def class_of(section: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMA["$defs"][section["$ref"].rpartition("/")[2]]
    return found


FIELDS = dict(fields())


def row_of(field: dict[str, Any]) -> str:
    """The cells between a field's name and its reader."""
    setting = f"`{field['setting']}`" if "setting" in field else ""
    default = field["default"]
    shown = default if isinstance(default, str) else json.dumps(default)
    return f"`{shown}` | {setting} | {bounds_of(field)} | {field['unit']} | {field['description']}"


def bounds_of(field: dict[str, Any]) -> str:
    if "anyOf" in field:  # or null
        return bounds_of(field["anyOf"][0])
    if "enum" in field:
        return ", ".join(f"`{one}`" for one in field["enum"])
    if field["type"] == "boolean":
        return "`true`, `false`"
    if field["type"] == "object":
        values = field["additionalProperties"]
        return f"names of signals, each {values['minimum']:g} to {values['maximum']:g}"
    if field["type"] == "array":
        return f"at most {field['maxItems']} names"
    top = "the setting" if field["maximum"] == getattr(settings, field.get("setting", ""), None) else None
    return f"{field['minimum']} to {top or field['maximum']}"


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_described_as_the_schema_has_it(name):
    assert name in ROWS, f"docs/policy.md does not describe {name}: | `{name}` | {row_of(FIELDS[name])} |"
    assert ROWS[name][0] == row_of(FIELDS[name])


def test_nothing_is_described_that_does_not_exist():
    assert set(ROWS) == set(FIELDS)
    assert {word for word in re.findall(r"`(\w+\.\w+)`", TEXT) if word.partition(".")[0] in SECTIONS} <= set(
        FIELDS
    )


def test_every_section_has_its_meaning_on_the_page():
    for section, about in SCHEMA["properties"].items():
        assert f"## {section}\n{class_of(about)['description']}\n" in TEXT


SECTIONS = set(SCHEMA["properties"])


def test_every_field_is_read_and_the_page_says_by_what():
    """A protection that is switched on and does nothing is worse than none."""
    assert set(FIELDS) - fields_read() == set()
    assert all(reader.strip() for _row, reader in ROWS.values())


def fields_read() -> set[str]:
    product = [path for path in python_files() if "tests" not in path.parts]
    scopes = [
        node
        for path in product
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {field for scope in scopes for field in read_in(scope)}


def read_in(function: ast.AST) -> Iterator[str]:
    """`read_policy(…).section.field`, also by way of variables, and of parameters that are a `Policy`."""
    given = [one for one in ast.walk(function) if isinstance(one, ast.arg)]
    known = {one.arg: "" for one in given if getattr(one.annotation, "id", "") == "Policy"}

    def section_of(node: ast.AST) -> str | None:
        """ "" for a policy, the section's name for a section, None for anything else."""
        if isinstance(node, ast.Call):
            return "" if getattr(node.func, "id", getattr(node.func, "attr", "")) == "read_policy" else None
        if isinstance(node, ast.Name):
            return known.get(node.id)
        if isinstance(node, ast.Attribute) and section_of(node.value) == "" and node.attr in SECTIONS:
            return node.attr
        return None

    nodes = sorted(ast.walk(function), key=lambda node: getattr(node, "lineno", 0))
    for node in nodes:
        if isinstance(node, ast.Assign) and (section := section_of(node.value)) is not None:
            known.update({one.id: section for one in node.targets if isinstance(one, ast.Name)})
    for node in nodes:
        if isinstance(node, ast.Attribute) and (section := section_of(node.value)):
            yield f"{section}.{node.attr}"


def test_the_search_for_readers_finds_each_way_to_read():
    ways = """
def one(): return read_policy(tenant_id=1).recall.top_k
def two():
    policy = read_policy(tenant_id=1)
    return policy.working.turns, policy.other.thing
def three():
    held = reading.read_policy(tenant_id=1).session
    return held.ttl_seconds
def four(policy: Policy): return policy.write.entities
def none(policy): return policy.recall.alpha, other().recall.decay
"""
    found = {field for node in ast.parse(ways).body for field in read_in(node)}
    assert found == {"recall.top_k", "working.turns", "session.ttl_seconds", "write.entities"}


def test_a_default_from_a_setting_has_the_setting_s_bounds():
    for name, model in Policy.model_fields.items():
        for field, about in model.annotation.model_fields.items():
            extra = about.json_schema_extra
            if "setting" not in extra:
                continue
            call = SETTINGS[extra["setting"]]
            if call.func.attr == "flag":
                assert about.annotation is bool
                continue
            by_reader = {"number": (0, 2**31), "decimal": (0, 1)}[call.func.attr]
            given = {word.arg: ast.unparse(word.value) for word in call.keywords}
            low, high = (
                eval(given.get(one, str(by_reader[n]))) for n, one in enumerate(["minimum", "maximum"])
            )
            bounds = {
                key: getattr(one, key) for one in about.metadata for key in ("ge", "le") if hasattr(one, key)
            }
            assert bounds == {"ge": low, "le": high}, f"{name}.{field}"


def test_the_page_says_how_long_a_change_takes_and_what_serves_without_postgresql():
    from tenants.policy import reading

    assert "`API_KEY_CACHE_SECONDS`" in TEXT
    assert reading.SERVES_STALE == 3_600
    assert "for an hour" in TEXT
