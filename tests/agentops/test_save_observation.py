"""`POST /observations`"""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agentops.shapes import NOTE, get, read, recent, refused, save


def test_a_new_one_is_created(acme):
    answer = save(acme, tags=["db", "rest"], topic_key="rest/pool")
    assert answer == {"id": answer["id"], "action": "created", "revision_count": 1, "duplicate_count": 1}
    assert type(answer["id"]) is int
    stored = read(acme, answer["id"])
    assert list(stored) == [
        "id", "session_id", "type", "title", "content", "tags", "project", "scope", "topic_key",
        "normalized_hash", "revision_count", "duplicate_count", "created_at", "updated_at",
    ]  # fmt: skip
    assert {name: stored[name] for name in NOTE} == NOTE
    assert (stored["tags"], stored["scope"]) == (["db", "rest"], "project")


def test_its_hash_is_of_the_normalised_content(acme):
    number = save(acme, content="  Two\t \n WORDS\u2003here ")["id"]
    assert read(acme, number)["normalized_hash"] == hashlib.sha256(b"two words here").hexdigest()


def test_the_same_topic_is_written_over(acme):
    first = save(acme, topic_key="rest/pool", tags=["old"])
    second = save(
        acme, topic_key="rest/pool", type="decision", title="New", content="20 connections.", session_id="s2"
    )
    assert second == {"id": first["id"], "action": "updated", "revision_count": 2, "duplicate_count": 1}
    stored = read(acme, first["id"])
    assert (stored["type"], stored["title"], stored["content"]) == ("decision", "New", "20 connections.")
    assert "tags" not in stored
    assert stored["session_id"] == "s1"
    assert stored["last_seen_at"]


@pytest.mark.parametrize("other", [{"project": "other"}, {"scope": "global"}, {"topic_key": "rest/pools"}])
def test_another_project_scope_or_key_is_another_topic(acme, other):
    save(acme, topic_key="rest/pool")
    assert save(acme, **{"topic_key": "rest/pool", "content": "Other."} | other)["action"] == "created"


def test_the_same_content_counts_again_whatever_its_type_and_title(acme):
    first = save(acme)
    again = save(acme, content=" the REST   pool HOLDS 12 connections. ", type="decision", title="Other")
    assert again == {"id": first["id"], "action": "deduplicated", "revision_count": 1, "duplicate_count": 2}
    stored = read(acme, first["id"])
    assert (stored["type"], stored["title"]) == (NOTE["type"], NOTE["title"])
    assert stored["last_seen_at"]


def test_the_counters_told_are_the_rows(acme):
    save(acme, topic_key="a/b")
    save(acme, topic_key="a/b", content="x")
    again = save(acme, content="x")
    assert (again["action"], again["revision_count"], again["duplicate_count"]) == ("deduplicated", 2, 2)
    after = save(acme, topic_key="a/b", content="y")
    assert (after["action"], after["revision_count"], after["duplicate_count"]) == ("updated", 3, 2)


def test_a_topic_given_with_a_duplicate_is_kept(acme):
    number = save(acme)["id"]
    assert save(acme, topic_key="rest/pool") == {
        "id": number,
        "action": "deduplicated",
        "revision_count": 1,
        "duplicate_count": 2,
    }
    assert read(acme, number)["topic_key"] == "rest/pool"
    assert save(acme, topic_key="rest/pool", content="new")["id"] == number


def test_projects_are_compared_in_lower_case(acme):
    first = save(acme, project="MyProj")
    assert save(acme, project="myproj")["id"] == first["id"]
    assert read(acme, first["id"])["project"] == "myproj"


NOTHING = "; ".join(f"{name} is required" for name in ("session_id", "type", "title", "content", "project"))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, NOTHING),
        (dict.fromkeys(NOTE, " \t"), NOTHING),
        (NOTE | {"type": "t" * 51}, "type exceeds 50 chars"),
        (NOTE | {"title": "t" * 501}, "title exceeds 500 chars"),
        (NOTE | {"title": "é" * 251}, "title exceeds 500 chars"),
        (NOTE | {"content": "c" * 50_001}, "content exceeds 50000 chars"),
        (NOTE | {"project": "p" * 201}, "project exceeds 200 chars"),
        (NOTE | {"scope": "s" * 51}, "scope exceeds 50 chars"),
        (NOTE | {"topic_key": "k" * 201}, "topic_key exceeds 200 chars"),
        (NOTE | {"tags": ["t"] * 21}, "tags exceed 20 items"),
        (NOTE | {"tags": ["t" * 101, "u" * 101]}, "tag exceeds 100 chars"),
        (NOTE | {"type": "", "title": "t" * 501, "tags": ["é" * 51] * 21},
         "type is required; title exceeds 500 chars; tags exceed 20 items; tag exceeds 100 chars"),
    ],
)  # fmt: skip
def test_everything_that_is_wrong_is_told_in_order(acme, body, error):
    refused(acme.http.post("/observations", json=body), 400, f"validation failed: {error}")
    assert get(acme, "/stats") == {"total_sessions": 0, "total_observations": 0, "projects": []}


def test_the_longest_are_taken(acme):
    longest = {
        "type": "t" * 50, "title": "é" * 250, "content": "c" * 50_000, "project": "p" * 200,
        "scope": "s" * 50, "topic_key": "k" * 200, "tags": ["é" * 50] * 20,
    }  # fmt: skip
    stored = read(acme, save(acme, **longest)["id"])
    assert {name: stored[name] for name in longest} == longest


def test_an_unknown_session_is_begun(acme):
    save(acme, session_id="never seen")
    (session,) = get(acme, "/sessions/recent", project="orders")
    assert session["id"] == "never seen"


def test_whose_it_is_comes_from_the_session_or_the_key(acme):
    acme.http.post("/api/v1/sessions", json={"session_id": "ann's", "user_id": "ann"})
    from_session = save(acme, session_id="ann's", content="one")["id"]
    ann = acme.with_key(user_id="ann")
    from_key = save(ann, session_id="other", content="two")["id"]
    for number in (from_session, from_key):
        assert acme.http.get(f"/api/v1/observations/{number}").json()["user_id"] == "ann"
        read(ann, number)
    refused(acme.with_key(user_id="bob").http.get(f"/observations/{from_key}"), 404, "observation not found")


@pytest.mark.parametrize(
    "members",
    [
        {"Session_ID": "s1", "TYPE": "config", "Title": "Pool size", "CONTENT": "x", "Project": "orders"},
        NOTE | {"tags": None, "topic_key": None, "scope": None, "colour": {"deep": [1]}},
    ],
)
def test_members_are_read_in_any_case_and_others_passed_over(acme, members):
    assert acme.http.post("/observations", json=members).status_code == 201


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [("title", 7, "number"), ("title", True, "bool"), ("title", ["a"], "array"), ("title", {}, "object")],
)
def test_a_member_of_another_type_is_refused(acme, field, value, kind):
    error = f"invalid JSON: json: cannot unmarshal {kind} into Go struct field {field} of type string"
    refused(acme.http.post("/observations", json=NOTE | {field: value}), 400, error)


@pytest.mark.parametrize("tags", ["a", [1], [["a"]]])
def test_tags_are_a_list_of_texts(acme, tags):
    refused(acme.http.post("/observations", json=NOTE | {"tags": tags}), 400)


@pytest.mark.parametrize("same", [{"topic_key": "a/b"}, {}], ids=["topic", "content"])
def test_of_writers_at_once_one_creates_and_every_one_is_counted(acme, same):
    def write(number):
        content = f"version {number}" if same else NOTE["content"]
        return save(acme, content=content, **same)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(write, range(24)))
    assert len({answer["id"] for answer in answers}) == 1
    actions = sorted(answer["action"] for answer in answers)
    assert actions == ["created", *["updated" if same else "deduplicated"] * 23]
    (stored,) = recent(acme)
    assert stored["revision_count" if same else "duplicate_count"] == 24
