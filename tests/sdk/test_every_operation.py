"""Each operation, called through the client on the running server."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest
from drf_spectacular.generators import SchemaGenerator
from strata_memory import StrataClient
from strata_memory.errors import Invalid, NotFound, NotModified, PreconditionFailed, Unauthenticated

from sdk.generating.description import Described, Description
from sdk.tests.clients import BOTH, asynchronous
from tests.api.call import Call
from tests.api.native_calls import NATIVE
from tests.conftest import Member, make_member

CALLS = [call for call in NATIVE if not call.path.endswith("/events/stream")]


@pytest.fixture(scope="module")
def operations() -> list[Described]:
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return [one for one in Description(document).operations if not one.named.form and not one.many]


@pytest.fixture(scope="module")
def someone(server: str) -> Member:
    return make_member("acme", server)


def client_of(member: Member) -> StrataClient:
    return StrataClient(str(member.http.base_url), member.key, timeout=120)


def asked_by(call: Call) -> list[Callable[..., Any]]:
    """What reads is asked through both clients, what writes through one of them, in turn."""
    return BOTH if call.method == "GET" else [BOTH[CALLS.index(call) % 2]]


@pytest.mark.parametrize(
    ("call", "asked"),
    [pytest.param(one, by, id=f"{one.name}-{by.__name__}") for one in CALLS for by in asked_by(one)],
)
def test_an_operation_answers_in_its_type(
    call: Call, asked: Callable[..., Any], operations: list[Described], someone: Member, tmp_path: Path
) -> None:
    member = call.by(someone)
    request = call.request(member, "s")
    path, _, query = request.url.raw_path.decode().partition("?")
    one = meant(operations, request.method, path)
    found = re.fullmatch(pattern(one.path), path)
    assert found is not None
    given = {field.name: values for field in one.query if (values := parse_qs(query).get(field.wire))}
    body = json.loads(request.content or b"{}")
    given |= {field.name: body[field.wire] for field in one.body or () if field.wire in body}
    given |= {"value": body} if one.takes_value else {}
    given |= {"to": tmp_path / "export.zip"} if one.is_binary else {}

    def work(client: Any) -> Any:
        group = client if "." not in one.named.name else getattr(client, one.named.group)
        return getattr(group, one.named.method)(*map(unquote, found.groups()), **given)

    answer = asked(work, str(member.http.base_url), member.key, timeout=120)
    if one.is_binary:
        assert (tmp_path / "export.zip").stat().st_size == answer > 0


def meant(operations: list[Described], method: str, path: str) -> Described:
    fitting = [one for one in operations if one.verb == method and re.fullmatch(pattern(one.path), path)]
    return min(fitting, key=lambda one: len(one.in_path))


def pattern(path: str) -> str:
    return re.sub(r"\\\{\w+\\\}", "([^/]+)", re.escape(path)) + "/?"


def test_no_operation_is_left_out(operations: list[Described]) -> None:
    called = {meant(operations, call.method, re.sub(r"\{\w+\}", "x", call.path)).named.name for call in CALLS}
    assert {by for call in CALLS if call.method != "GET" for by in asked_by(call)} == set(BOTH)
    keyless = {"subjects.download_own_export", "subjects.receipt_key"}
    assert {one.named.name for one in operations} - called == keyless


def test_what_takes_no_key_takes_one(someone: Member, tmp_path: Path) -> None:
    client = client_of(someone)
    assert client.subjects.receipt_key().algorithm
    with pytest.raises(NotFound):
        client.subjects.download_own_export("no-such-token", to=tmp_path / "export.zip")
    assert list(tmp_path.iterdir()) == []


def test_several_events_are_one_write_and_a_file_is_a_document(someone: Member) -> None:
    client = client_of(someone.with_key(scopes=("read", "write", "ingest")))
    told = client.sessions.append_events("many", [{"event_type": "note", "content": n} for n in range(3)])
    assert told.accepted == 3
    assert [one.content for one in client.sessions.iterate_events("many", limit=2)] == [0, 1, 2]
    document = client.documents.upload(file=("tea.md", b"# Tea\n\nGreen.", "text/markdown"), title="Tea")
    assert (document.title, document.status) == ("Tea", "created")


def test_pages_are_gone_through_and_awaited(someone: Member) -> None:
    async def work(client: Any) -> list[Any]:
        events = [{"event_type": "note", "content": n} for n in range(5)]
        assert (await client.sessions.append_events("pages", events)).accepted == 5
        return [one.content async for one in client.sessions.iterate_events("pages", limit=2)]

    assert asynchronous(work, str(someone.http.base_url), someone.key) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("asked", BOTH)
def test_a_checkpoint_is_replaced_by_who_has_read_it_last(asked: Callable[..., Any], acme: Member) -> None:
    def ask(work: Callable[[Any], Any]) -> Any:
        return asked(work, str(acme.http.base_url), acme.key)

    ask(lambda client: client.checkpoints.put("s", {"step": 1}, if_none_match="*"))
    found = ask(lambda client: client.checkpoints.get("s"))
    assert found.value == {"step": 1}
    with pytest.raises(NotModified):
        ask(lambda client: client.checkpoints.get("s", if_none_match=found.etag))
    written = ask(lambda client: client.checkpoints.put("s", {"step": 2}, if_match=found.etag))
    assert written.version == 2
    with pytest.raises(PreconditionFailed):
        ask(lambda client: client.checkpoints.put("s", {"step": 3}, if_match=found.etag))
    assert ask(lambda client: client.checkpoints.get("s")).value == {"step": 2}


def test_refusals_of_the_server_are_typed(someone: Member, globex: Member) -> None:
    with pytest.raises(Invalid) as raised:
        client_of(someone).recall(query="")
    assert [one.field for one in raised.value.errors] == ["query"]
    episode = client_of(someone).episodes.create(text="Ana likes tea.")
    with pytest.raises(NotFound):
        client_of(globex).episodes.get(str(episode.id))
    with pytest.raises(Unauthenticated):
        StrataClient(str(someone.http.base_url), "sk-none").sessions.list()


def test_a_stream_brings_each_event_once_and_goes_on_where_it_was_left(acme: Member) -> None:
    client = client_of(acme)
    client.sessions.append_events("live", [{"event_type": "note", "content": n} for n in range(3)])
    stream = client.stream(session_id="live", after="0")
    first = [next(stream) for _ in range(3)]
    client.sessions.append_event("live", event_type="note", content=3)
    assert [one.content for one in [*first, next(stream)]] == [0, 1, 2, 3]
    stream.close()  # type: ignore[attr-defined]
    again = client.stream(session_id="live", after=first[1].cursor)
    assert [next(again).content for _ in range(2)] == [2, 3]
    assert first[0].session_id == "live"
