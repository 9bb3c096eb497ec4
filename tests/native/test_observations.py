"""`/api/v1/observations`"""

import time

import pytest

from tests.agentops.shapes import save
from tests.native.shapes import problem

URL = "/api/v1/observations"


def listed(member, **query):
    answer = member.http.get(URL, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def titles(member, **query):
    return [one["title"] for one in listed(member, **query)["results"]]


def test_an_observation_is_shown_in_full(acme):
    number = save(acme, tags=["a"], topic_key="x/y")["id"]
    shown = acme.http.get(f"{URL}/{number}").json()
    assert shown.keys() == {
        "id", "user_id", "agent_id", "project", "session_id", "scope", "type", "title", "content", "tags",
        "topic_key", "revision_count", "duplicate_count", "last_seen_at", "promoted_to", "embedded",
        "created_at", "updated_at", "deleted_at",
    }  # fmt: skip
    assert (shown["id"], shown["tags"], shown["topic_key"], shown["deleted_at"]) == (
        number,
        ["a"],
        "x/y",
        None,
    )
    assert listed(acme)["results"] == [shown]


def test_pages_follow_each_other_newest_first(acme):
    for number in range(5):
        save(acme, title=str(number), content=str(number))
    first = listed(acme, limit=2)
    second = listed(acme, limit=2, cursor=first["next"])
    third = listed(acme, limit=2, cursor=second["next"])
    pages = [[one["title"] for one in page["results"]] for page in (first, second, third)]
    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    assert third["next"] is None


def test_every_filter_narrows(acme):
    save(acme, title="a", content="a", type="decision", tags=["x", "y"], session_id="one")
    time.sleep(0.01)
    save(acme, title="b", content="b", scope="global", tags=["x"], project="other")
    ann = acme.with_key(user_id="ann")
    save(ann, title="c", content="c", session_id="three")
    middle = listed(acme)["results"][1]["created_at"]
    for query, found in [
        ({"project": "ORDERS"}, ["c", "b", "a"]),
        ({"project": "other"}, ["b"]),
        ({"type": "decision"}, ["a"]),
        ({"scope": "global"}, ["b"]),
        ({"user_id": "ann"}, ["c"]),
        ({"session_id": "one"}, ["a"]),
        ({"tag": "x"}, ["b", "a"]),
        ({"tag": ["x", "y"]}, ["a"]),
        ({"since": middle}, ["c", "b"]),
        ({"until": middle}, ["b", "a"]),
        ({"since": middle, "until": middle}, ["b"]),
    ]:
        assert titles(acme, **query) == found, query
    assert titles(ann) == ["c"]
    problem(ann.http.get(URL, params={"user_id": "bob"}), 403)


def test_the_trash_shows_what_was_deleted_last_first(acme):
    ids = [save(acme, title=str(n), content=str(n))["id"] for n in range(3)]
    for number in (ids[2], ids[0]):
        acme.http.delete(f"/observations/{number}")
    assert titles(acme, state="trash") == ["0", "2"]
    assert titles(acme, state="live") == titles(acme) == ["1"]
    first = listed(acme, state="trash", limit=1)
    assert first["results"][0]["deleted_at"]
    assert titles(acme, state="trash", cursor=first["next"]) == ["2"]
    problem(acme.http.get(f"{URL}/{ids[0]}"), 404)


def test_restoring_brings_it_back_once(acme):
    number = save(acme)["id"]
    acme.http.delete(f"/observations/{number}")
    answer = acme.http.post(f"{URL}/{number}/restore")
    assert (answer.status_code, answer.json()["deleted_at"]) == (200, None)
    assert acme.http.post(f"{URL}/{number}/restore").status_code == 200
    assert titles(acme) == ["Pool size"]
    assert titles(acme, state="trash") == []


def test_one_whose_topic_is_taken_cannot_be_restored(acme):
    number = save(acme, topic_key="a/b")["id"]
    acme.http.delete(f"/observations/{number}")
    save(acme, topic_key="a/b", content="new")
    problem(acme.http.post(f"{URL}/{number}/restore"), 409)


def test_every_change_leaves_a_revision(acme):
    number = save(acme, topic_key="a/b", content="first", tags=["t"])["id"]
    save(acme, topic_key="a/b", content="second")
    acme.http.patch(f"/observations/{number}", json={"content": "third"})
    answer = acme.http.get(f"{URL}/{number}/revisions").json()
    assert [(one["number"], one["content"], one["tags"]) for one in answer["results"]] == [
        (2, "second", []),
        (1, "first", ["t"]),
    ]
    assert answer["results"][0].keys() == {
        "number", "type", "title", "content", "tags", "replaced_at", "replaced_by",
    }  # fmt: skip
    page = acme.http.get(f"{URL}/{number}/revisions", params={"limit": 1}).json()
    assert page["next"] == "2"
    following = acme.http.get(f"{URL}/{number}/revisions", params={"cursor": page["next"]}).json()
    assert [one["number"] for one in following["results"]] == [1]


@pytest.mark.parametrize("number", ["0", "x", "-1", "9" * 18, "9" * 40])
@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("GET", "/revisions"), ("POST", "/restore")])
def test_one_that_is_not_there_is_404(acme, number, method, path):
    problem(acme.http.request(method, f"{URL}/{number}{path}"), 404)


def test_globex_cannot_reach_acmes(acme, globex):
    number = save(acme)["id"]
    for method, path in (("GET", ""), ("GET", "/revisions"), ("POST", "/restore")):
        problem(globex.http.request(method, f"{URL}/{number}{path}"), 404)
    assert titles(globex) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [("state=gone", "state"), ("since=now", "since"), ("until=2026-13-01", "until"), ("limit=0", "limit"),
     ("cursor=x", "cursor"), ("tag=", "tag"), ("type=" + "t" * 256, "type"),
     ("since=0001-01-01T00:00:00%2B14:00", "since"),
     ("cursor=MjAyNi0wMS0wMVQwMDowMDowMCswMDowMHw5OTk5OTk5OTk5OTk5OTk5OTk5OTk=", "cursor")],
)  # fmt: skip
def test_a_query_that_is_not_right_is_422(acme, query, field):
    problem(acme.http.get(f"{URL}?{query}"), 422, field)
