"""`/api/v1/documents`: taken in as JSON or as a form, looked at, deleted."""

import json

import httpx
import pytest

from tests.knowledge.pdfs import encrypted, nested, pdf
from tests.knowledge.shelf import embed
from tests.native.shapes import problem

PATH = "/api/v1/documents"
FIELDS = {
    "id", "title", "source", "media_type", "project", "user_id", "checksum", "size", "chunks", "embedded",
    "metadata", "created_at", "updated_at",
}  # fmt: skip


@pytest.fixture
def acme(acme):
    return acme.with_key(scopes=("read", "ingest"))


def post(member, **body) -> httpx.Response:
    return member.http.post(PATH, json={"title": "T", "content": "Some text.", **body})


def send(
    member, name: str, data: bytes, media_type: str = "application/octet-stream", **fields
) -> httpx.Response:
    return member.http.post(PATH, files={"file": (name, data, media_type)}, data=fields)


def test_a_document_is_answered_as_it_was_taken_in_and_as_it_is(acme):
    sent = {"source": "kb/1", "project": "Apollo", "user_id": "ann", "metadata": {"a": [1]}}
    made = post(acme, content="# H\n\nText.", media_type="text/markdown", **sent)
    body = made.json()
    assert made.status_code == 201
    assert body.keys() == FIELDS | {"status"}
    assert body["status"] == "created"
    assert {name: body[name] for name in sent} == sent | {"project": "apollo"}
    assert (body["title"], body["media_type"], body["size"], body["chunks"]) == ("T", "text/markdown", 10, 1)
    assert acme.http.get(f"{PATH}/{body['id']}").json() == {name: body[name] for name in FIELDS}
    embed(acme.caller)
    assert acme.http.get(f"{PATH}/{body['id']}").json()["embedded"] == 1


def test_sent_again_it_is_unchanged_and_another_text_replaces_it(acme):
    first = post(acme, source="kb/1")
    same, other = post(acme, source="kb/1"), post(acme, source="kb/1", content="Other text.")
    assert [answer.status_code for answer in (first, same, other)] == [201, 200, 200]
    assert [answer.json()["status"] for answer in (first, same, other)] == [
        "created",
        "unchanged",
        "replaced",
    ]
    assert len({answer.json()["id"] for answer in (first, same, other)}) == 1


def test_a_file_is_taken_in_with_what_is_said_of_it(acme):
    answer = send(
        acme, "book.pdf", pdf(["Some page."], title="Book"), source="kb/book", project="apollo",
        user_id="ann", metadata=json.dumps({"isbn": "1"}),
    )  # fmt: skip
    body = answer.json()
    assert answer.status_code == 201, answer.text
    assert (body["title"], body["media_type"], body["source"]) == ("Book", "application/pdf", "kb/book")
    assert (body["project"], body["user_id"], body["metadata"]) == ("apollo", "ann", {"isbn": "1"})
    assert send(acme, "a.txt", b"x", title="Named").json()["title"] == "Named"
    assert send(acme, "a.bin", b"# x", media_type="text/markdown").json()["media_type"] == "text/markdown"


def test_a_file_larger_than_other_bodies_may_be_is_taken(acme):
    answer = send(acme, "long.txt", b"Some words of a long text. " * 60_000)
    assert (answer.status_code, answer.json()["size"]) == (201, 1_620_000)


def test_a_file_is_refused_above_its_own_limit(acme):
    assert send(acme, "long.txt", b"x" * 20_971_521).status_code == 413
    problem(post(acme, content="x" * 1_048_576), 413)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (encrypted(pdf(["x"])), "encrypted"),
        (pdf([""]), "scanned"),
        (nested(200_000), "not a PDF that can be read"),
        (b"", "no text"),
    ],
    ids=["encrypted", "scanned", "nested", "empty"],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(acme, data, told):
    body = problem(send(acme, "a.pdf" if data else "a.txt", data), 422, "file")
    assert told in body["detail"]
    assert acme.http.get(PATH).json()["results"] == []


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"colour": "red"}, "colour"),
        ({"metadata": "[1]"}, "metadata"),
        ({"title": "x" * 501}, "title"),
        ({"title": "a\x00"}, "title"),
        ({"media_type": "image/png"}, "media_type"),
        ({"source": "x" * 1_001}, "source"),
        ({"project": ""}, "project"),
    ],
)
def test_a_field_of_a_form_that_is_wrong_is_named(acme, fields, named):
    problem(send(acme, "a.txt", b"x", **fields), 422, named)


def test_a_form_needs_its_one_file(acme):
    for files in ({"other": ("a.txt", b"x")}, {"file": ("a.txt", b"x"), "more": ("b.txt", b"x")}):
        problem(acme.http.post(PATH, files=files), 422, "file")
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    for content in (
        b"",
        b"--x",
        b"--x--\r\n",
        b"\xff" * 100,
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
    ):
        problem(acme.http.post(PATH, content=content, headers=form), 422)
    problem(acme.http.post(PATH, content=b"x", headers={"Content-Type": "multipart/form-data"}), 422)
    broken = send(acme, "a.txt", b"x", metadata="{")
    problem(broken, 422)


def test_a_form_is_sent_again_without_being_done_again(acme):
    files, key = {"file": ("a.txt", b"Some text.", "text/plain")}, {"Idempotency-Key": "k"}
    request = acme.http.build_request("POST", PATH, files=files, headers=key)
    request.read()
    first, second = acme.http.send(request), acme.http.send(request)
    assert second.headers["Idempotency-Replayed"] == "true"
    assert first.json() == second.json()
    other = acme.http.post(PATH, files={"file": ("a.txt", b"Other.", "text/plain")}, headers=key)
    problem(other, 409)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"title": ""}, "title"),
        ({"content": ""}, "content"),
        ({"content": " \n"}, "content"),
        ({"media_type": "text/csv"}, "media_type"),
        ({"media_type": "application/pdf"}, "content"),
        ({"metadata": [1]}, "metadata"),
        ({"project": ""}, "project"),
    ],
)
def test_a_member_that_is_wrong_is_named(acme, change, named):
    problem(post(acme, **change), 422, named)


def test_scripts_of_a_page_are_no_text(acme):
    page = "<meta charset=latin-1><title>x</title><p>Grüße</p><script>steal()</script>"
    post(acme, content=page, media_type="text/html")
    (hit,) = acme.http.post(f"{PATH}/search", json={"query": "Grüße"}).json()["results"]
    assert hit["text"] == "Grüße"


def test_the_list_has_the_newest_change_first_and_goes_on(acme):
    ids = [post(acme, content=f"Text {n}.", source=f"kb/{n}").json()["id"] for n in range(3)]
    post(acme, content="Changed.", source="kb/0")
    first = acme.http.get(PATH, params={"limit": 2}).json()
    second = acme.http.get(PATH, params={"limit": 2, "cursor": first["next"]}).json()
    assert [one["id"] for one in first["results"] + second["results"]] == [ids[0], ids[2], ids[1]]
    assert second["next"] is None
    assert [one["id"] for one in acme.http.get(PATH, params={"source": "kb/1"}).json()["results"]] == [ids[1]]


def test_the_list_is_filtered_by_project_and_user(acme):
    for place in ({}, {"project": "apollo"}, {"project": "zeus"}, {"user_id": "ann"}):
        post(acme, title=str(list(place.values())), source="kb/1", **place)
    seen = {
        query: {one["title"] for one in acme.http.get(f"{PATH}?{query}").json()["results"]}
        for query in ("project=APOLLO", "user_id=bob")
    }
    assert seen["project=APOLLO"] == {"[]", "['apollo']", "['ann']"}
    assert seen["user_id=bob"] == {"[]", "['apollo']", "['zeus']"}


def test_a_deleted_document_is_gone(acme):
    made = post(acme).json()["id"]
    assert acme.http.delete(f"{PATH}/{made}").status_code == 204
    for answer in (acme.http.get(f"{PATH}/{made}"), acme.http.delete(f"{PATH}/{made}")):
        problem(answer, 404)
    assert acme.http.post(f"{PATH}/search", json={"query": "text"}).json()["results"] == []


@pytest.mark.parametrize("name", ["nothing", "00000000-0000-0000-0000-000000000000", "%00", "1"])
def test_what_names_no_document_is_404(acme, name):
    problem(acme.http.get(f"{PATH}/{name}"), 404)


def test_what_everybody_sees_a_bound_key_cannot_delete(acme):
    made = post(acme).json()["id"]
    own = acme.with_key(scopes=("read", "ingest"), user_id="ann")
    assert own.http.get(f"{PATH}/{made}").status_code == 200
    problem(own.http.delete(f"{PATH}/{made}"), 403)
    problem(post(own, user_id="bob"), 403)
    assert post(own).json()["user_id"] == "ann"


def test_taking_in_needs_its_own_scope(acme):
    writer = acme.with_key(scopes=("read", "write"))
    problem(post(writer), 403)
    problem(send(writer, "a.txt", b"x"), 403)
    assert post(acme.with_key(scopes=("ingest",))).status_code == 201
