"""How calls become requests, and answers models."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from strata_memory import DiskBuffer, StrataClient
from strata_memory.errors import InvalidAnswer, NotModified
from strata_memory.models import Session

from sdk.tests.clients import BOTH, blocking

SESSION = {
    "session_id": "s", "namespace": "", "user_id": None, "agent_id": None, "project": None, "metadata": {},
    "turn_count": 0, "summary": None, "started_at": "2026-01-01T00:00:00Z",
    "last_activity_at": "2026-01-01T00:00:00Z", "ended_at": None, "of_tomorrow": [1],
}  # fmt: skip


def sent(work: Any, answer: Any = None, status: int = 200, **options: Any) -> httpx.Request:
    """The request that a call makes."""
    requests: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(status) if status == 204 else httpx.Response(status, json=answer)

    blocking(work, "http://strata/below/", transport=httpx.MockTransport(reply), **options)
    return requests[-1]


@pytest.mark.parametrize("name", ["a/b", "..", ".", "ü ?#%2F", "a\nb", "-", "{user_id}"])
def test_an_id_is_one_part_of_the_path_whatever_it_is(name: str) -> None:
    request = sent(lambda client: client.sessions.get(name), SESSION)
    before, _, last = request.url.raw_path.decode().rpartition("/")
    assert before == "/below/api/v1/sessions"
    assert httpx.URL(f"http://x/?id={last.replace('%2E', '.')}").params["id"] == name


def test_an_empty_id_is_refused_before_it_means_the_whole_list() -> None:
    with pytest.raises(ValueError, match="sessions"):
        sent(lambda client: client.sessions.delete(""), status=204)


@pytest.mark.parametrize(
    ("work", "kind", "told"),
    [
        (lambda client: client.checkpoints.put("s", {"x": object()}), TypeError, "value.x is of type object"),
        (
            lambda client: client.checkpoints.put("s", {"x": [0, {object()}]}),
            TypeError,
            "value.x[1] is of type set",
        ),
        (lambda client: client.checkpoints.put("s", {(1, 2): 3}), TypeError, "value has the key (1, 2)"),
        (lambda client: client.checkpoints.put("s", {"x": b"\xff"}), ValueError, "value.x holds bytes that"),
        (lambda client: client.checkpoints.put("s", {"x": float("nan")}), ValueError, "value.x is nan"),
        (
            lambda client: client.sessions.append_turns("s", turns=[{"role": "user", "content": object()}]),
            TypeError,
            "turns[0].content is of type object",
        ),
        (
            lambda client: client.sessions.append_events("s", [{"event_type": "n", "content": object()}]),
            TypeError,
            "value[0].content is of type object",
        ),
        (lambda client: client.sessions.list(user_id=object()), TypeError, "user_id is of type object"),
    ],
)
def test_what_is_no_json_is_named_with_its_place_and_not_sent(work: Any, kind: Any, told: str) -> None:
    asked: list[httpx.Request] = []
    transport = httpx.MockTransport(lambda request: asked.append(request) or httpx.Response(204))
    with StrataClient("http://strata", transport=transport) as client, pytest.raises(kind) as raised:
        work(client)
    assert type(raised.value) is kind
    assert str(raised.value).startswith(told)
    assert asked == []


def test_a_body_that_contains_itself_is_refused() -> None:
    turned: list[Any] = []
    turned.append(turned)
    with pytest.raises(ValueError, match="value contains itself"):
        sent(lambda client: client.checkpoints.put("s", {"x": turned}), status=204)


def test_what_no_address_can_hold_is_refused_before_it_is_kept(tmp_path: Path) -> None:
    buffer = DiskBuffer(tmp_path / "writes.sqlite3")
    with pytest.raises(ValueError, match="70"):
        sent(lambda client: client.sessions.end("s" * 70_000), status=503, buffer=buffer)
    assert buffer.waiting() == 0


@pytest.mark.parametrize("tag", ['"3"\n', '"é"', ' "3"', '"\0"'])
def test_what_no_header_can_hold_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="If-Match"):
        sent(lambda client: client.checkpoints.put("t", {}, if_match=tag), status=204)


def test_what_has_no_answer_is_not_told_by_a_page() -> None:
    with pytest.raises(InvalidAnswer, match="has a body"):
        sent(lambda client: client.sessions.delete("s"), {"status": "maintenance"})


def test_what_is_not_given_is_not_sent() -> None:
    request = sent(lambda client: client.sessions.create(), SESSION)
    assert request.content == b"{}"


def test_the_client_s_user_is_meant_unless_the_call_names_another_or_none() -> None:
    def users(call: Any) -> Any:
        return dict(sent(call, {"results": [], "next": None}, user_id="ana", agent_id="coder").url.params)

    assert users(lambda client: client.sessions.list()) == {"user_id": "ana", "agent_id": "coder"}
    assert users(lambda client: client.sessions.list(user_id="bo", agent_id=None)) == {"user_id": "bo"}
    assert users(lambda client: client.bound(user_id=None).sessions.list()) == {"agent_id": "coder"}


FOUND = {"results": [], "stages": [], "query_used": "a"}


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ({}, ["episode", "entity"]),
        ({"user_id": "bo", "top_k": 3, "topics": []}, ["episode", "entity"]),
        ({"kinds": ["observation"]}, ["observation"]),
        ({"user_id": None}, None),
        ({"agent_id": "coder"}, None),
        ({"session_id": "s"}, None),
        ({"memory_type": ["semantic"]}, None),
        ({"since": "2026-01-01T00:00:00Z"}, None),
    ],
)
def test_a_recall_about_a_user_alone_is_about_what_is_known_of_them_too(
    asked: dict[str, Any], kinds: list[str] | None
) -> None:
    request = sent(lambda client: client.recall(query="a", **asked), FOUND, user_id="ana")
    assert json.loads(request.content).get("kinds") == kinds


def test_a_recall_about_nobody_is_left_to_the_server() -> None:
    request = sent(lambda client: client.recall(query="a"), FOUND)
    assert json.loads(request.content) == {"query": "a"}


def test_what_is_appended_may_be_dictionaries_of_any_type() -> None:
    turns = [{"role": "user", "content": "a"}]
    done = {"accepted": 1, "duplicates": 0, "turn_count": 1, "summarised": False}

    def append(client: StrataClient) -> object:
        return client.sessions.append_turns("s", turns=turns)

    assert json.loads(sent(append, done).content)["turns"] == turns


def test_what_is_the_tenant_s_is_not_narrowed_to_the_client_s_user_or_agent() -> None:
    assert not sent(
        lambda client: client.audit.list(), {"results": [], "next": None}, user_id="ana"
    ).url.query
    empty = {"version": 1, "agent_id": None, "document": {}, "effective": {}, "defaults": {}}
    assert not sent(lambda client: client.policy.get(), empty, agent_id="coder").url.query


def test_none_is_sent_where_it_says_something() -> None:
    entity = {
        "id": "1", "user_id": "a", "key": "k", "value": None, "confidence": 1, "status": "current",
        "valid_from": "2026-01-01T00:00:00Z", "valid_to": None, "superseded_by": None, "source": None,
        "source_session": None, "source_turn": None, "agent_id": None, "pinned": False, "embedded": False,
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    assert sent(lambda client: client.entities.put("a", "k", value=None), entity).content == b'{"value":null}'


def test_words_of_a_query_are_repeated_and_moments_are_told_in_full() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    request = sent(
        lambda client: client.episodes.list(memory_type=["semantic", "message"], as_of=moment, history=True),
        {"results": [], "next": None},
    )
    assert request.url.params.multi_items() == [
        ("as_of", "2026-01-01T00:00:00Z"),
        ("history", "true"),
        ("memory_type", "semantic"),
        ("memory_type", "message"),
    ]


def test_an_answer_has_times_as_times_and_keeps_what_it_does_not_know() -> None:
    found: list[Session] = []
    sent(lambda client: found.append(client.sessions.get("s")), SESSION)
    assert found[0].started_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert found[0].model_extra == {"of_tomorrow": [1]}


def test_all_pages_are_gone_through_and_none_before_it_is_needed() -> None:
    asked: list[str | None] = []

    def reply(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params.get("cursor"))
        page = {"results": [SESSION] * 2, "next": None if asked[-1] == "b" else "ab"[len(asked) - 1]}
        return httpx.Response(200, json=page)

    with StrataClient("http://strata", "key", transport=httpx.MockTransport(reply)) as client:
        sessions = client.sessions.iterate(limit=2)
        next(sessions)
        assert asked == [None]
        assert len(list(sessions)) == 5
    assert asked == [None, "a", "b"]


@pytest.mark.parametrize(
    "url",
    [
        "", "strata", "ftp://strata", "http://", "http://me:pw@strata", "http://s?q", "http://127.0.0.1:99999",
        "http://me:pw@strata:port", "http://[::1", "http://a..b", f"http://{'a' * 64}.org",
        "http://me:pw@st\u2100rata",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ValueError) as raised:
        StrataClient(url, "key")
    assert "me:pw" not in str(raised.value)


def test_the_environment_names_server_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRATA_URL", "https://memory.example")
    monkeypatch.setenv("STRATA_API_KEY", "sk-1")
    assert repr(StrataClient.from_env()) == "StrataClient('https://memory.example')"
    assert authorization(StrataClient.from_env) == "Bearer sk-1"
    for absent in (
        lambda: monkeypatch.setenv("STRATA_API_KEY", ""),
        lambda: monkeypatch.delenv("STRATA_API_KEY"),
    ):
        absent()
        assert authorization(StrataClient.from_env) is None


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `make run` wrote into the current folder."""
    for name in ("STRATA_URL", "STRATA_API_KEY", "MEMORY_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".memory").mkdir()
    run = tmp_path / ".memory" / "run.json"
    run.write_text(json.dumps({"url": "http://127.0.0.1:8123", "api_key": "made_by_run"}))
    return run


def test_without_an_environment_the_server_of_make_run_is_meant(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert repr(StrataClient.from_env()) == "StrataClient('http://127.0.0.1:8123')"
    assert authorization(StrataClient.from_env) == "Bearer made_by_run"
    monkeypatch.setenv("STRATA_URL", "http://localhost:8123/")
    assert authorization(StrataClient.from_env) == "Bearer made_by_run"
    monkeypatch.setenv("STRATA_URL", "http://memory.example")
    assert repr(StrataClient.from_env()) == "StrataClient('http://memory.example')"
    assert authorization(StrataClient.from_env) is None
    monkeypatch.delenv("STRATA_URL")
    monkeypatch.setenv("MEMORY_HOME", str(running.parent))
    monkeypatch.chdir("/")
    assert repr(StrataClient.from_env()) == "StrataClient('http://127.0.0.1:8123')"


@pytest.mark.parametrize("url", ["https://memory.example", None])
def test_a_file_that_names_no_server_of_this_machine_is_as_none(
    url: str | None, running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running.write_text(json.dumps({"url": url, "api_key": "theirs"}))
    monkeypatch.setenv("STRATA_API_KEY", "sk-1")
    assert repr(StrataClient.from_env()) == "StrataClient('http://127.0.0.1:8002')"
    assert authorization(StrataClient.from_env) == "Bearer sk-1"


def test_a_file_that_cannot_be_read_keeps_nobody_from_the_server_that_is_named(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running.unlink()
    running.mkdir()  # which no rights make readable, the superuser's neither
    monkeypatch.setenv("STRATA_URL", "http://memory.example")
    assert repr(StrataClient.from_env()) == "StrataClient('http://memory.example')"


def authorization(make: Any) -> str | None:
    """What a client sends of its key."""
    requests: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json=SESSION)

    with make(transport=httpx.MockTransport(reply)) as client:
        client.sessions.get("s")
    return requests[0].headers.get("Authorization")


@pytest.mark.parametrize("asked", BOTH)
def test_a_checkpoint_comes_with_its_version_and_is_replaced_by_it(asked: Any) -> None:
    requests: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        if request.method == "GET":
            return httpx.Response(200, json=[1], headers={"ETag": '"3"'})
        return httpx.Response(200, json={"version": 4, "updated_at": "2026-01-01T00:00:00Z"})

    found = asked(
        lambda client: client.checkpoints.get("s"), "http://s", transport=httpx.MockTransport(reply)
    )
    assert (found.value, found.etag) == ([1], '"3"')
    asked(
        lambda client: client.checkpoints.put("s", 1, if_match=found.etag),
        "http://s",
        transport=httpx.MockTransport(reply),
    )
    assert requests[1].headers["If-Match"] == '"3"'


def test_a_version_that_is_known_is_told_to_be_the_same() -> None:
    with pytest.raises(NotModified):
        sent(lambda client: client.checkpoints.get("s", if_none_match='"3"'), status=304)


def test_a_checkpoint_whose_version_is_not_told_is_no_answer() -> None:
    with pytest.raises(InvalidAnswer, match="version"):
        sent(lambda client: client.checkpoints.get("s"), {})
