"""The client is what the API's description says, to the last parameter."""

import inspect
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from strata_memory import AsyncStrataClient, StrataClient, __version__, inputs, models
from strata_memory.models import SessionPage

from sdk.generating.__main__ import PACKAGE, written
from sdk.generating.description import Description
from sdk.generating.names import BY_HAND, GROUPS, NAMES
from sdk.generating.package import files_of


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call, no-any-return]


def test_what_is_committed_is_what_is_generated(document: dict[str, Any]) -> None:
    """If not: `python -m sdk.generating`."""
    wanted = files_of(document)
    assert written() == set(wanted)
    assert [name for name, text in wanted.items() if (PACKAGE / name).read_text() != text] == []


@pytest.mark.parametrize("client", [StrataClient, AsyncStrataClient])
def test_every_operation_is_a_method_with_its_parameters(
    client: type[StrataClient] | type[AsyncStrataClient], document: dict[str, Any]
) -> None:
    made = client("http://strata", "key")
    for one in Description(document).operations:
        group = made if "." not in one.named.name else getattr(made, one.named.group)
        parameters = inspect.signature(getattr(group, one.named.method)).parameters
        fields = [*one.in_path, *(one.body or ()), *one.query, *one.headers]
        extra = {"value"} if one.takes_value else {one.named.many} if one.many else set()
        extra |= {"to"} if one.is_binary else set()
        assert set(parameters) == {field.name for field in fields} | extra, one.named.name
        needed = {name for name, one in parameters.items() if one.default is inspect.Parameter.empty}
        assert needed == {field.name for field in fields if field.required} | extra, one.named.name


@pytest.mark.parametrize("client", [StrataClient, AsyncStrataClient])
def test_what_is_written_by_hand_takes_what_the_route_takes(client: type, document: dict[str, Any]) -> None:
    shown = {one["operationId"]: one for verbs in document["paths"].values() for one in verbs.values()}
    for operation, method in BY_HAND.items():
        asked = {one["name"] for one in shown[operation]["parameters"] if one["in"] == "query"}
        assert set(inspect.signature(getattr(client, method)).parameters) == asked | {"self", "patience"}


def test_an_operation_without_a_name_is_told_and_a_name_without_one(document: dict[str, Any]) -> None:
    others = {name: one for name, one in document["paths"].items() if "audit" not in name}
    less = {**document, "paths": others}
    with pytest.raises(LookupError, match="audit_list"):
        Description(less)
    new = {"post": {**document["paths"]["/api/v1/audit/"]["get"], "operationId": "audit_create"}}
    with pytest.raises(LookupError, match="audit_create"):
        Description({**document, "paths": {**document["paths"], "/api/v1/audit/new/": new}})


def test_every_class_says_what_it_is() -> None:
    groups = [vars(StrataClient("http://strata", "key"))[one] for one in GROUPS if one != "memory"]
    made = [
        *(one for one in vars(models).values() if isinstance(one, type)),
        *(one for name, one in vars(inputs).items() if isinstance(one, type) and name[0].isupper()),
        *map(type, groups),
    ]
    assert len(made) > 100
    assert [one.__name__ for one in made if not vars(one).get("__doc__")] == []
    assert models.EpisodePage.__doc__ == (
        "A page of `ReadEpisode`; with `next` as `cursor` comes the one behind it."
    )


def test_a_recall_tells_of_each_of_its_parameters() -> None:
    told = inspect.getdoc(StrataClient.recall) or ""
    unsaid = {one for one in inspect.signature(StrataClient.recall).parameters if f"\n{one}: " not in told}
    assert unsaid == {"self", "user_id", "agent_id"}
    assert "where a user is named" in told


def test_every_list_can_be_gone_through() -> None:
    lists = {one.name for one in NAMES if one.method == "list"}
    made = StrataClient("http://strata", "key")
    assert len(lists) > 10
    assert all(hasattr(getattr(made, name.partition(".")[0]), "iterate") for name in lists)
    assert SessionPage.model_fields.keys() == {"results", "next"}


def test_client_and_server_have_one_version() -> None:
    import tomllib
    from pathlib import Path

    root = Path(__file__).resolve().parent.parent.parent
    files = (root / "pyproject.toml", root / "sdk" / "pyproject.toml")
    versions = {tomllib.loads(file.read_text())["project"]["version"] for file in files}
    assert versions == {__version__}
