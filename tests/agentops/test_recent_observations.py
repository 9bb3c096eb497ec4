"""`GET /observations/recent`"""

from tests.agentops.shapes import get, recent, save


def titles(member, **query):
    return [one["title"] for one in recent(member, **query)]


def test_the_newest_come_first(acme):
    for title in ("one", "two", "three"):
        save(acme, title=title, content=title)
    assert titles(acme) == ["three", "two", "one"]


def test_twenty_unless_the_limit_says_otherwise(acme):
    for number in range(22):
        save(acme, title=str(number), content=str(number))
    assert len(titles(acme)) == 20
    assert titles(acme, limit=2) == ["21", "20"]
    for ignored in ("0", "-1", "x", "2.5", "", "9" * 40):
        assert len(titles(acme, limit=ignored)) == 20
    assert len(titles(acme, limit=5_000)) == 22


def test_they_are_filtered_by_type_and_scope(acme):
    save(acme, title="a", content="a", type="decision")
    save(acme, title="b", content="b", type="bugfix", scope="global")
    assert titles(acme, type="decision") == ["a"]
    assert titles(acme, scope="global") == ["b"]
    assert titles(acme, type="decision", scope="global") == []


def test_a_global_one_is_seen_from_every_project(acme, globex):
    save(acme, title="everywhere", content="a", scope="global", project="other")
    save(acme, title="elsewhere", content="b", project="other")
    assert titles(acme) == ["everywhere"]
    assert titles(acme, project="never seen") == ["everywhere"]
    assert titles(globex) == []


def test_the_case_of_the_project_does_not_matter(acme):
    save(acme, project="MyProj")
    assert len(recent(acme, project="MYPROJ")) == 1


def test_without_a_project_there_are_none(acme):
    save(acme)
    assert get(acme, "/observations/recent") == []


def test_a_bound_key_means_its_project(acme):
    save(acme, title="mine", content="a")
    save(acme, title="other", content="b", project="other")
    bound = acme.with_key(project="orders")
    assert [one["title"] for one in get(bound, "/observations/recent")] == ["mine"]
    assert bound.http.get("/observations/recent", params={"project": "other"}).status_code == 403


def test_deleted_ones_are_gone(acme):
    number = save(acme)["id"]
    acme.http.delete(f"/observations/{number}")
    assert recent(acme) == []
