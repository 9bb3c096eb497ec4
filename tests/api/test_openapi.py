"""The OpenAPI document, and the page that shows it."""

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import httpx
import pytest
import yaml
from django.core.management import call_command
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

import api
from tests.api.call import Call
from tests.api.calls import CALLS
from tests.api.refusals import assert_refusal
from tests.api.test_idempotency import WRITES

# Shown once, under the id's own route: an id that looks like a route of its own.
LOOKALIKES = {
    (call.method, call.path)
    for call in CALLS
    if call.method != "POST"
    and re.search(
        "^/(ledger|episodic|v1)/.*(check|mark|claim|evict|store|search|messages|forget|compact)$", call.path
    )
}
SHOWN = [one for one in CALLS if (one.method, one.path) not in LOOKALIKES]
QUERY_READ = re.compile(
    r"(?:query_params\.get(?:list)?\(|"
    r"(?:query_id|whole_number|flag|(?:free_text|text|named|filled|number)_in_query)\("
    r'\s*request,\s*)"(\w+)"'
)


@pytest.fixture(scope="module")
def document(server):
    answer = httpx.get(f"{server}/api/schema/")
    assert answer.status_code == 200
    return yaml.safe_load(answer.text)


def test_it_can_be_written_without_a_warning(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))


def test_it_is_valid(document):
    validate_schema(document)


@pytest.mark.parametrize("call", SHOWN, ids=lambda one: one.name)
def test_every_route_is_in_it_as_it_answers(document, long_lived, call):
    operation = operation_of(document, call)
    assert operation["summary"]
    long_lived.http.post("/api/v1/sessions", json={"session_id": "shown"})
    answer = call.send(call.by(long_lived), "shown")
    assert str(answer.status_code) in operation["responses"]
    if answer.content:
        media_type = answer.headers["content-type"]
        schema = operation["responses"][str(answer.status_code)]["content"][media_type]["schema"]
    if answer.content and media_type.endswith("json"):
        components = {"components": strict(document["components"])}
        Draft202012Validator({**schema, **components}).validate(answer.json())
    assert ("requestBody" in operation) == (bool(call.body) and call.method != "DELETE")


@pytest.mark.parametrize("call", SHOWN, ids=lambda one: one.name)
def test_every_query_parameter_that_is_read_is_in_it_and_no_other(document, call):
    declared = operation_of(document, call).get("parameters", [])
    shown = {one["name"]: one for one in declared if one["in"] == "query"}
    assert set(shown) == names_read(getattr(call.view, call.method.lower()))
    assert all(one["description"] and one["schema"] for one in shown.values())


def test_every_way_to_read_the_query_is_known():
    """Another helper that takes a name would hide it from the test above."""
    modules = [import_module(one.name) for one in walk_packages(api.__path__, "api.") if not one.ispkg]
    source = "".join(inspect.getsource(module) for module in modules)
    read_by_variable = re.findall(r"query_params(?!\.get(?:list)?\(\"\w+\"\)|\.keys\(\)).*", source)
    assert read_by_variable == ["query_params.get(name)"] * 9  # the functions in QUERY_READ


@pytest.mark.parametrize("call", [one for one in SHOWN if one.is_native], ids=lambda one: one.name)
def test_a_query_parameter_that_is_not_in_it_is_refused_natively(document, long_lived, call):
    declared = operation_of(document, call).get("parameters", [])
    shown = {one["name"] for one in declared if one["in"] == "query"}
    member, unknown = call.by(long_lived), {"userid", "user_id", "Limit", "If-Match"} - shown
    answer = call.send(member, "refused", **dict.fromkeys(unknown, "1"))
    assert_refusal(answer, call, 422)
    assert {one["field"]: one["message"] for one in answer.json()["errors"]} == dict.fromkeys(
        unknown, "Unknown query parameter."
    )


def test_elsewhere_it_is_ignored_as_the_original_does(long_lived):
    for path in ("/working-memory/{id}", "/timeline"):
        (call,) = [one for one in SHOWN if (one.method, one.path) == ("GET", path)]
        plain, coloured = call.send(long_lived), call.send(long_lived, colour="red")
        assert coloured.status_code == plain.status_code != 500


@pytest.mark.parametrize("call", SHOWN, ids=lambda one: one.name)
def test_every_route_shows_its_errors_in_its_dialect(document, call):
    responses = operation_of(document, call)["responses"]
    invalid = "400" if call.is_agentops else "422"
    assert {"401", "403", invalid, "503"} <= responses.keys()
    media_type = "application/problem+json" if call.is_native else "application/json"
    component = next(
        name
        for name, is_it in (
            ("Problem", call.is_native),
            ("AgentOpsError", call.is_agentops),
            ("AmsError", call.is_ams),
            ("KaosError", call.is_kaos),
            ("AegisError", True),
        )
        if is_it
    )
    for status in responses.keys() - {"200", "201", "202", "204"}:
        schema = responses[status]["content"][media_type]["schema"]
        assert schema == {"$ref": f"#/components/schemas/{component}"}


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_health_is_in_it_without_a_key(document, path):
    operation = document["paths"][f"{path}/"]["get"]
    assert operation.get("security", [{}]) == [{}]


def test_either_header_is_enough(document):
    assert document["paths"]["/api/v1/episodes/"]["get"]["security"] == [{"bearer": []}, {"apiKey": []}]
    assert document["components"]["securitySchemes"].keys() == {"bearer", "apiKey"}


def test_no_path_shows_a_pattern(document):
    assert not [path for path in document["paths"] if set(path) & set(r"\?^$()+*[]")]


@pytest.mark.parametrize("call", SHOWN, ids=lambda call: call.name)
def test_the_header_for_writes_is_shown_where_it_is_honoured(document, call):
    shown = [
        one["name"] for one in operation_of(document, call).get("parameters", []) if one["in"] == "header"
    ]
    assert ("Idempotency-Key" in shown) == (call in WRITES)


@pytest.mark.parametrize("path", ["/api/docs/", "/api/docs"])
def test_the_page_loads_own_files_only(server, path):
    page = httpx.get(server + path)
    assert page.status_code == 200
    files = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert len(files) >= 4
    for file in files:
        assert file.startswith(("/static/", "/api/docs")), file
        assert httpx.get(server + file).status_code == 200
    assert not re.findall(r"https?://", page.text)


def operation_of(document: dict[str, Any], call: Call) -> dict[str, Any]:
    paths = document["paths"].items()
    shown = {re.sub(r"\{\w+\}", "{id}", path).rstrip("/"): methods for path, methods in paths}
    operation: dict[str, Any] = shown[re.sub(r"\{\w+\}", "{id}", call.path)][call.method.lower()]
    return operation


def names_read(function: Callable[..., Any]) -> set[str]:
    """The query parameters that the function reads, also through the functions of `api` that it calls."""
    source = inspect.getsource(function)
    names = set(QUERY_READ.findall(source))
    for module, called in set(re.findall(r"\b(?:(\w+)\.)?(\w+)\(", source)):
        known = function.__globals__
        other = getattr(known.get(module), called, None) if module else known.get(called)
        is_ours = inspect.isfunction(other) and other.__module__.startswith("api.")
        if is_ours and other is not function:
            names |= names_read(other)
    return names


def strict(schema: Any) -> Any:
    """JSON Schema for one of OpenAPI 3.0: null where it may be, and no field that is not shown."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {name: strict(value) for name, value in schema.items()}
    if changed.get("type") == "object" and "properties" in changed:
        changed.setdefault("additionalProperties", False)
    return {"anyOf": [changed, {"type": "null"}]} if schema.get("nullable") is True else changed
