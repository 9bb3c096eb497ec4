"""The OpenAPI document, and the page that shows it."""

import re

import httpx
import pytest
import yaml
from django.core.management import call_command
from drf_spectacular.validation import validate_schema

from tests.api.calls import CALLS

# Shown once, under the id's own route: an id that looks like a route of its own.
LOOKALIKES = {
    (call.method, call.path)
    for call in CALLS
    if call.method != "POST" and re.search("/(check|mark|claim|evict|store|search)$", call.path)
}


@pytest.fixture(scope="module")
def document(server):
    answer = httpx.get(f"{server}/api/schema/")
    assert answer.status_code == 200
    return yaml.safe_load(answer.text)


def test_it_can_be_written_without_a_warning(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))


def test_it_is_valid(document):
    validate_schema(document)


@pytest.mark.parametrize(
    "call", [one for one in CALLS if (one.method, one.path) not in LOOKALIKES], ids=lambda one: one.name
)
def test_every_route_is_in_it_as_it_answers(document, long_lived, call):
    paths = document["paths"].items()
    shown = {re.sub(r"\{\w+\}", "{id}", path).rstrip("/"): methods for path, methods in paths}
    operation = shown[call.path][call.method.lower()]
    assert operation["summary"]
    long_lived.http.post("/api/v1/sessions", json={"session_id": "shown"})
    assert str(call.send(long_lived, "shown").status_code) in operation["responses"]
    assert ("requestBody" in operation) == (bool(call.body) and call.method != "DELETE")


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_health_is_in_it_without_a_key(document, path):
    operation = document["paths"][f"{path}/"]["get"]
    assert operation.get("security", [{}]) == [{}]


def test_either_header_is_enough(document):
    assert document["paths"]["/api/v1/episodes/"]["get"]["security"] == [{"bearer": []}, {"apiKey": []}]
    assert document["components"]["securitySchemes"].keys() == {"bearer", "apiKey"}


def test_no_path_shows_a_pattern(document):
    assert not [path for path in document["paths"] if set(path) & set(r"\?^$()+*[]")]


@pytest.mark.parametrize("path", ["/api/docs/", "/api/docs"])
def test_the_page_loads_own_files_only(server, path):
    page = httpx.get(server + path)
    assert page.status_code == 200
    files = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert len(files) >= 4
    for file in files:
        assert file.startswith("/static/"), file
        assert httpx.get(server + file).status_code == 200
    assert not re.findall(r"https?://", page.text)
