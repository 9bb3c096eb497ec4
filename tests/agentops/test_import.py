"""`POST /import`"""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.utils import timezone

from tenants.privacy.erasure import request_erasure
from tests.agentops.shapes import NOTE, get, read, recent, refused, save
from tests.conftest import Member
from tests.plugin import HOME
from tests.processes import Web

SESSION = {
    "id": "s1", "project": "Orders", "started_at": "2026-01-01T10:00:00Z", "ended_at": "2026-01-01T11:00:00Z",
    "summary": "Session with 2 messages.", "message_count": 2,
}  # fmt: skip
ROW = NOTE | {
    "id": 7, "tags": ["a"], "scope": "project", "topic_key": "rest/pool", "normalized_hash": "made up",
    "revision_count": 3, "duplicate_count": 4, "last_seen_at": "2026-01-02T10:00:00Z", "promoted_to": "doc-1",
    "created_at": "2026-01-01T10:30:00Z", "updated_at": "2026-01-01T12:00:00Z",
}  # fmt: skip

INVALID, MISMATCH = "validation failed:", "invalid JSON: json: cannot unmarshal"


def bring(member: Member, sessions: Any = (), observations: Any = ()) -> tuple[int, int]:
    """How many sessions and observations were added."""
    answer = member.http.post(
        "/import", json={"sessions": list(sessions), "observations": list(observations)}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json().keys() == {"imported_sessions", "imported_observations"}
    return answer.json()["imported_sessions"], answer.json()["imported_observations"]


def rows(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [
        ROW | {"title": f"t{n}", "content": f"content {n}", "topic_key": ""}
        for n in range(start, start + count)
    ]


def test_what_is_imported_is_as_it_was_but_for_its_number_and_hash(acme):
    assert bring(acme, [SESSION], [ROW]) == (1, 1)
    (session,) = get(acme, "/sessions/recent", project="orders")
    assert session == SESSION | {"project": "orders"}
    (stored,) = recent(acme)
    assert stored["normalized_hash"] != ROW["normalized_hash"]
    same = stored.keys() - {"id", "normalized_hash"}
    assert {name: stored[name] for name in same} == {name: ROW[name] for name in same}


def test_it_is_found_like_any_other(acme):
    bring(acme, [], [ROW])
    (hit,) = get(acme, "/search", q="REST pool", project="orders", match_mode="all")
    assert hit["title"] == "Pool size"
    assert save(acme, topic_key="rest/pool", content="new")["revision_count"] == 4


def test_a_second_time_nothing_is_added(acme):
    assert bring(acme, [SESSION], [ROW, *rows(3)]) == (1, 4)
    assert bring(acme, [SESSION], [ROW, *rows(3)]) == (0, 0)
    assert bring(acme, [SESSION], rows(5)) == (0, 2)
    assert len(recent(acme)) == 6


def test_an_export_brings_everything_to_another_tenant_and_nothing_to_its_own(acme, globex):
    for n in range(5):
        save(acme, session_id=f"s{n}", title=str(n), content=str(n), tags=["ü"], scope="global")
    acme.http.post("/sessions/s1/end", json={"messages": [{"role": "user", "content": "hi"}]})
    save(acme.with_key(user_id="ann"), session_id="ann's", content="Ann's.")
    export = acme.http.get("/export").content
    counts = {"imported_sessions": 6, "imported_observations": 6}
    assert globex.http.post("/import", content=export).json() == counts
    for member in (acme, globex):
        answer = member.http.post("/import", content=export).json()
        assert answer == {"imported_sessions": 0, "imported_observations": 0}
    theirs, ours = (_without_moment(member) for member in (globex, acme))
    assert theirs == ours


def test_sessions_of_other_dialects_go_along_without_a_project(acme, globex):
    acme.http.post("/api/v1/sessions", json={"session_id": "native"}).raise_for_status()
    acme.http.put("/working-memory/c", json={"data": {"a": 1}}).raise_for_status()
    acme.http.post("/sessions", json={"id": "s1", "project": "orders"})
    export = acme.http.get("/export")
    count = len(export.json()["sessions"])
    assert [one["id"] for one in export.json()["sessions"] if not one["project"]][:1] == ["native"]
    for added in (count, 0):
        answer = globex.http.post("/import", content=export.content)
        assert answer.json() == {"imported_sessions": added, "imported_observations": 0}


def _without_moment(member: Member) -> dict[str, Any]:
    export = get(member, "/export")
    for one in export["observations"]:
        del one["id"]
    export["sessions"].sort(key=lambda one: one["id"])
    return {"sessions": export["sessions"], "observations": export["observations"]}


def test_one_in_the_trash_is_not_brought_back(acme):
    bring(acme, [], [ROW])
    acme.http.delete(f"/observations/{recent(acme)[0]['id']}")
    assert bring(acme, [], [ROW]) == (0, 0)
    assert recent(acme) == []


def test_a_topic_that_is_taken_stays_as_it_is(acme):
    number = save(acme, topic_key="rest/pool", content="Ours.")["id"]
    assert bring(acme, [], [ROW, *rows(1)]) == (0, 1)
    assert read(acme, number)["content"] == "Ours."
    twice = [ROW | {"project": "p", "content": "a"}, ROW | {"project": "p", "content": "b"}]
    assert bring(acme, [], twice) == (0, 1)


def test_a_session_that_is_there_stays_as_it_is(acme):
    acme.http.post("/sessions", json={"id": "s1", "project": "other"})
    assert bring(acme, [SESSION]) == (0, 0)
    (session,) = get(acme, "/sessions/recent", project="other")
    assert "summary" not in session


def test_two_at_once_add_everything_once(acme):
    def once(_number: int) -> tuple[int, int]:
        return bring(acme, [SESSION], rows(150))

    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(once, range(4)))
    assert tuple(map(sum, zip(*counts, strict=True))) == (1, 150)
    assert get(acme, "/stats")["total_observations"] == 150


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"observations": [*rows(3), ROW | {"title": " "}]}, f"observations[3]: {INVALID} title is required"),
        ({"observations": [ROW | {"project": ""}]}, f"observations[0]: {INVALID} project is required"),
        ({"sessions": [SESSION, {"project": "x"}]}, f"sessions[1]: {INVALID} id is required"),
        (
            {"sessions": [{"id": "x", "project": "p" * 201}]},
            f"sessions[0]: {INVALID} project exceeds 200 chars",
        ),
        (
            {"observations": [ROW | {"title": 7}]},
            f"observations[0]: {MISMATCH} number into Go struct field title of type string",
        ),
        ({"observations": [ROW, 7]}, f"observations[1]: {MISMATCH} number into Go value of type struct"),
        (
            {"observations": [ROW | {"created_at": "soon"}]},
            "observations[0]: invalid JSON: created_at is not a time",
        ),
        ({"sessions": {}}, f"{MISMATCH} object into Go struct field sessions of type array"),
        ([], f"{MISMATCH} array into Go value of type struct"),
    ],
)
def test_a_bad_row_is_named_and_nothing_of_its_batch_is_kept(acme, body, error):
    refused(acme.http.post("/import", json=body), 400, error)
    assert get(acme, "/export")["observations"] == get(acme, "/export")["sessions"] == []


def test_what_came_in_batches_before_a_bad_row_stays_and_the_rest_can_be_sent_again(acme):
    body = [*rows(250), ROW | {"title": ""}]
    told = refused(acme.http.post("/import", json={"observations": body}), 400)
    assert told.startswith("observations[250]: ")
    assert get(acme, "/stats")["total_observations"] == 200
    assert bring(acme, [], rows(260)) == (0, 60)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "invalid JSON: EOF"),
        (b" \n", "invalid JSON: EOF"),
        (b'{"observations": [', "invalid JSON: unexpected EOF"),
        (b'{"observations": [}', "invalid JSON: invalid character or number"),
    ],
)
def test_what_is_no_json_is_refused(acme, content, error):
    refused(acme.http.post("/import", content=content), 400, error)


@pytest.mark.parametrize(
    "content",
    [b"{}", b"null", b'{"sessions": null, "observations": null}', b'{"observations": []} trailing', b"{}{}",
     b'{"version": {"deep": [[1, 2.5e3, {}]]}, "sessions": []}'],
)  # fmt: skip
def test_an_empty_export_adds_nothing(acme, content):
    answer = acme.http.post("/import", content=content)
    assert answer.json() == {"imported_sessions": 0, "imported_observations": 0}


def test_members_are_read_in_any_case_and_order(acme):
    body = {"Observations": [{name.upper(): value for name, value in ROW.items()}], "SESSIONS": [SESSION]}
    assert acme.http.post("/import", json=body).json() == {"imported_sessions": 1, "imported_observations": 1}


@pytest.mark.parametrize("text", ["\\u0000", "\\ud800"])
def test_text_that_cannot_be_stored_is_refused(acme, text):
    content = json.dumps({"observations": [ROW | {"content": "@"}]}).replace("@", text)
    refused(acme.http.post("/import", content=content), 400)


def test_times_may_be_missing_or_without_a_zone(acme):
    bare = {name: ROW[name] for name in ("session_id", "type", "title", "content", "project")}
    assert bring(acme, [], [bare]) == (0, 1)
    assert bring(acme, [], [bare | {"title": "two", "created_at": "2026-01-01 10:30:00"}]) == (0, 1)
    assert recent(acme)[-1]["created_at"] == "2026-01-01T10:30:00Z"


def test_a_session_that_had_not_ended_goes_on(acme):
    bring(acme, [{"id": "s1", "project": "orders", "started_at": "2020-01-01T00:00:00Z"}])
    native = acme.http.get("/api/v1/sessions/s1").json()
    assert (native["started_at"], native["ended_at"]) == ("2020-01-01T00:00:00Z", None)
    assert native["last_activity_at"] > "2026"
    turns = {"turns": [{"role": "user", "content": "hi"}]}
    assert acme.http.post("/api/v1/sessions/s1/turns", json=turns).status_code == 200


def test_a_bound_keys_import_is_the_bound_ones(acme):
    ann = acme.with_key(user_id="ann")
    assert bring(ann, [SESSION], [ROW]) == (1, 1)
    assert [one["user_id"] for one in get(acme, "/export")["observations"]] == ["ann"]
    refused(ann.http.post("/import", json={"observations": [ROW | {"user_id": "bob"}]}), 403)
    refused(ann.http.post("/import", json={"sessions": [SESSION | {"user_id": "bob"}]}), 403)
    bound = acme.with_key(project="other")
    refused(bound.http.post("/import", json={"observations": [ROW]}), 403)
    assert bring(bound, [], [ROW | {"project": ""}]) == (0, 1)


def test_without_a_user_it_belongs_to_the_sessions(acme):
    acme.http.post("/api/v1/sessions", json={"session_id": "s1", "user_id": "ann", "project": "orders"})
    assert bring(acme, [SESSION], [ROW]) == (0, 1)
    assert [one["user_id"] for one in get(acme, "/export")["observations"]] == ["ann"]


def test_what_was_there_before_an_erasure_does_not_come_back(acme):
    theirs = {"user_id": "ann"}
    save(acme.with_key(user_id="ann"), title="erased by a job")
    request_erasure(caller=acme.with_key(scopes=("privacy",)).caller, user_id="ann", now=timezone.now())
    later = {"created_at": "2100-01-01T00:00:00Z", "started_at": "2100-01-01T00:00:00Z", "title": "later"}
    sessions = [SESSION | theirs, SESSION | theirs | later | {"id": "s2"}]
    by_session, *others = rows(1)[0], ROW | theirs, ROW | theirs | later, ROW | {"session_id": "nobody's"}
    assert bring(acme, sessions, [by_session, *others]) == (1, 2)
    titles = [one["title"] for one in get(acme, "/export")["observations"]]
    assert sorted(titles) == ["Pool size", "erased by a job", "later"]


def test_a_large_import_streams_in_with_or_without_its_length(acme):
    big = [one | {"content": one["content"] + " x" * 2_000} for one in rows(400)]
    content = json.dumps({"observations": big}).encode()
    assert len(content) > 1_500_000

    def pieces() -> Iterator[bytes]:
        yield from (content[start : start + 50_000] for start in range(0, len(content), 50_000))

    chunked = acme.http.post("/import", content=pieces())
    assert "transfer-encoding" in chunked.request.headers
    assert chunked.json()["imported_observations"] == 400
    assert acme.http.post("/import", content=content).json()["imported_observations"] == 0


def test_one_entry_may_not_be_larger_than_a_body(acme):
    huge = {"observations": [*rows(2), ROW | {"content": "x" * 2_000_000}]}
    refused(acme.http.post("/import", json=huge), 413, "A value exceeds 1048576 bytes.")
    refused(acme.http.post("/import", json={"other": "x" * 2_000_000}), 413)
    assert get(acme, "/stats")["total_observations"] == 0


def test_an_import_has_a_limit_of_its_own(acme):
    web = Web({**os.environ, "IMPORT_MAX_BYTES": "100000"}, log=HOME / "import-limit.log")
    try:
        url = web.wait_until_alive().url
        headers = {"Authorization": f"Bearer {acme.key}"}
        body = {"observations": [ROW | {"content": "x" * 40_000, "title": str(n)} for n in range(10)]}
        answer = httpx.post(f"{url}/import", headers=headers, json=body)
    finally:
        web.stop()
    refused(answer, 413, "The body exceeds 100000 bytes.")
