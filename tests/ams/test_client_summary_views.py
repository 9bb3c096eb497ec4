"""The unmodified client against the running server: summary views and tasks; and what it cannot say."""

import secrets

import pytest
from agent_memory_client.exceptions import MemoryNotFoundError, MemoryServerError
from agent_memory_client.models import ClientMemoryRecord, CreateSummaryViewRequest

from tests.ams.conftest import ask_as
from tests.privacy.people import run_jobs

VIEWS = "/v1/summary-views"


def record(text: str, user: str, namespace: str = "home", **more: object) -> ClientMemoryRecord:
    given = {"memory_type": "semantic"} | more
    return ClientMemoryRecord(id=secrets.token_hex(8), text=text, user_id=user, namespace=namespace, **given)


RECORDS = [
    record("Ana prefers green tea", "ana", topics=["tea"]),
    record("Ana decided to move to Oslo", "ana", namespace="office"),
    record("Bob hates the rain", "bob", topics=["weather"]),
]


@pytest.fixture
def filled(ask):
    ask(lambda client: client.create_long_term_memory(RECORDS))
    return ask


def create(ask, **given):
    request = CreateSummaryViewRequest(**({"source": "long_term", "group_by": ["user_id"]} | given))
    return ask(lambda client: client.create_summary_view(request))


def partitions(ask, view, **where):
    return ask(lambda client: client.list_summary_view_partitions(view.id, **where))


def run(ask, view, **given):
    task = ask(lambda client: client.run_summary_view(view.id, **given))
    run_jobs()
    return task


def test_create_get_and_list_summary_views(ask):
    view = create(
        ask,
        name="by user",
        filters={"namespace": "home", "topics": {"any": ["tea"]}, "memory_type": ["semantic"]},
        time_window_days=30,
        continuous=True,
        prompt="What do they like?",
        model_name="some-model",
    )
    assert (view.name, view.source, view.group_by) == ("by user", "long_term", ["user_id"])
    assert view.filters == {"namespace": "home", "topics": {"any": ["tea"]}, "memory_type": ["semantic"]}
    assert (view.time_window_days, view.continuous) == (30, True)
    assert (view.prompt, view.model_name) == ("What do they like?", "some-model")
    assert ask(lambda client: client.get_summary_view(view.id)) == view
    other = create(ask, group_by=[])
    assert ask(lambda client: client.list_summary_views()) == [other, view]


@pytest.mark.parametrize("name", ["nothing", "00000000-0000-0000-0000-000000000000"])
def test_what_there_is_not(ask, acme, name):
    assert ask(lambda client: client.get_summary_view(name)) is None
    assert ask(lambda client: client.get_task(name)) is None
    view, task = acme.http.get(f"{VIEWS}/{name}"), acme.http.get(f"/v1/tasks/{name}")
    assert (view.status_code, view.json()) == (404, {"detail": f"Summary view {name} not found"})
    assert (task.status_code, task.json()) == (404, {"detail": f"Task {name} not found"})
    for method, path, body in (
        ("DELETE", "", None),
        ("GET", "/partitions", None),
        ("POST", "/partitions/run", {"group": {}}),
        ("POST", "/run", {}),
    ):
        assert acme.http.request(method, f"{VIEWS}/{name}{path}", json=body).status_code == 404


def test_delete_summary_view_with_its_partitions(filled):
    view = create(filled)
    run(filled, view)
    assert filled(lambda client: client.delete_summary_view(view.id)).status == "ok"
    assert filled(lambda client: client.get_summary_view(view.id)) is None
    with pytest.raises(MemoryNotFoundError):
        partitions(filled, view)


def test_run_summary_view_partition(filled):
    view = create(filled)
    made = filled(lambda client: client.run_summary_view_partition(view.id, {"user_id": "ana"}))
    assert (made.view_id, made.group, made.memory_count) == (view.id, {"user_id": "ana"}, 2)
    assert "green tea" in made.summary
    assert "Oslo" in made.summary
    assert "rain" not in made.summary
    assert made.computed_at.endswith("Z")
    assert partitions(filled, view) == [made]


def test_a_group_without_records_is_empty(filled, acme):
    view = create(filled)
    answer = acme.http.post(f"{VIEWS}/{view.id}/partitions/run", json={"group": {"user_id": "nobody"}}).json()
    assert (answer["empty"], answer["memory_count"], answer["summary"]) == (True, 0, "")
    assert answer["empty_reason"] == "No memories match this group."
    assert not acme.http.post(f"{VIEWS}/{view.id}/partitions/run", json={"group": {"user_id": "ana"}}).json()[
        "empty"
    ]


@pytest.mark.parametrize("group", [{}, {"namespace": "home"}, {"user_id": "ana", "namespace": "home"}])
def test_a_group_with_other_keys_is_400(filled, group):
    view = create(filled)
    with pytest.raises(MemoryServerError) as refused:
        filled(lambda client: client.run_summary_view_partition(view.id, group))
    assert refused.value.status_code == 400


def test_another_source_is_400(ask):
    with pytest.raises(MemoryServerError) as refused:
        create(ask, source="working_memory")
    assert refused.value.status_code == 400


@pytest.mark.parametrize(
    ("wrong", "loc"),
    [
        ({"group_by": ["topics"]}, ["group_by", 0]),
        ({"group_by": "user_id"}, ["group_by"]),
        ({"filters": {"colour": "red"}}, ["filters", "colour"]),
        ({"filters": {"created_at": {"gte": "2026-01-01"}}}, ["filters", "created_at"]),
        ({"filters": {"topics": {"near": "tea"}}}, ["filters", "topics", "near"]),
        ({"filters": {"topics": {"any": []}}}, ["filters", "topics"]),
        ({"filters": {"memory_type": "dream"}}, ["filters", "memory_type", "eq"]),
        ({"filters": {"event_date": "soon"}}, ["filters", "event_date", "eq"]),
        ({"filters": "ana"}, ["filters"]),
        ({"time_window_days": 0}, ["time_window_days"]),
        ({"time_window_days": -7}, ["time_window_days"]),
        ({"name": "n" * 256}, ["name"]),
        ({"source": None}, ["source"]),
    ],
)
def test_what_is_not_valid_is_422(acme, wrong, loc):
    answer = acme.http.post(VIEWS, json={"source": "long_term", "group_by": ["user_id"]} | wrong)
    assert answer.status_code == 422
    (told,) = answer.json()["detail"]
    assert told["loc"] == ["body", *loc]
    assert told.keys() - {"ctx"} == {"type", "loc", "msg", "input"}


def test_a_group_that_is_none_is_422(filled, acme):
    path = f"{VIEWS}/{create(filled).id}/partitions/run"
    for wrong in ({}, {"group": None}, {"group": ["user_id"]}, {"group": {"user_id": 7}}):
        answer = acme.http.post(path, json=wrong)
        assert (answer.status_code, answer.json()["detail"][0]["loc"][:2]) == (422, ["body", "group"])


def test_two_views_may_have_the_same_name(ask):
    one, two = create(ask, name="twin"), create(ask, name="twin", group_by=["user_id", "user_id"])
    assert one.id != two.id
    assert two.group_by == ["user_id"]
    assert [view.name for view in ask(lambda client: client.list_summary_views())] == ["twin", "twin"]


def test_run_summary_view(filled):
    view = create(filled, group_by=["user_id", "namespace"])
    task = filled(lambda client: client.run_summary_view(view.id))
    assert (task.type, task.status, task.view_id) == ("summary_view_full_run", "pending", view.id)
    assert (task.started_at, task.completed_at) == (None, None)
    run_jobs()
    done = filled(lambda client: client.get_task(task.id))
    assert (done.id, done.status, done.error_message) == (task.id, "success", None)
    assert done.created_at <= done.started_at <= done.completed_at
    found = {(one.group["user_id"], one.group["namespace"]): one for one in partitions(filled, view)}
    assert found.keys() == {("ana", "home"), ("ana", "office"), ("bob", "home")}
    assert "Oslo" in found["ana", "office"].summary
    assert {one.memory_count for one in found.values()} == {1}


def test_list_summary_view_partitions_by_filters(filled):
    view = create(filled, group_by=["user_id", "namespace"])
    run(filled, view)
    assert len(partitions(filled, view, user_id="ana")) == 2
    (one,) = partitions(filled, view, user_id="ana", namespace="office")
    assert one.group == {"user_id": "ana", "namespace": "office"}
    assert partitions(filled, view, session_id="s") == partitions(filled, view, user_id="cid") == []


def test_filters_choose_the_records(filled):
    def groups(**filters):
        view = create(filled, filters=filters)
        run(filled, view)
        return sorted(one.group["user_id"] for one in partitions(filled, view))

    assert groups(namespace="office") == ["ana"]
    assert groups(topics=["weather", "x"]) == ["bob"]
    assert groups(topics={"none": ["weather"]}, namespace={"eq": "home"}) == ["ana"]
    assert groups(memory_type="episodic") == []


def test_without_group_by_all_is_one_group(filled):
    view = create(filled, group_by=[])
    run(filled, view)
    (one,) = partitions(filled, view)
    assert (one.group, one.memory_count) == ({}, 3)


def test_only_what_has_changed_is_made_again(filled):
    view = create(filled)
    run(filled, view)
    before = {one.group["user_id"]: one for one in partitions(filled, view)}
    filled(lambda client: client.create_long_term_memory([record("Bob prefers snow", "bob")]))
    run(filled, view)
    now = {one.group["user_id"]: one for one in partitions(filled, view)}
    assert now["ana"] == before["ana"]
    assert (now["bob"].memory_count, "snow" in now["bob"].summary) == (2, True)
    run(filled, view, force=True)
    forced = {one.group["user_id"]: one for one in partitions(filled, view)}
    assert forced["ana"].computed_at > before["ana"].computed_at
    assert forced["ana"].summary == before["ana"].summary


def test_a_group_whose_records_are_gone_is_dropped(filled):
    view = create(filled)
    run(filled, view)
    filled(lambda client: client.delete_long_term_memories([RECORDS[2].id]))
    run(filled, view)
    assert [one.group for one in partitions(filled, view)] == [{"user_id": "ana"}]


def test_a_task_has_the_id_that_the_client_gives_it(filled, acme):
    view, other = create(filled), create(filled)
    body = {"task_id": "my task/1"}
    first = acme.http.post(f"{VIEWS}/{view.id}/run", json=body)
    again = acme.http.post(f"{VIEWS}/{view.id}/run", json=body)
    assert (first.status_code, first.json()["id"]) == (200, "my task/1")
    assert again.json() == first.json()
    run_jobs()
    assert acme.http.get("/v1/tasks/my%20task%2F1").json()["status"] == "success"
    assert acme.http.post(f"{VIEWS}/{view.id}/run", json=body).json()["status"] == "success"
    assert acme.http.post(f"{VIEWS}/{other.id}/run", json=body).status_code == 409


def test_a_key_of_a_user_sees_and_runs_only_the_users_groups(filled, acme):
    view, in_all = create(filled), create(filled, group_by=["namespace"])
    about_bob = create(filled, filters={"user_id": ["ana", "bob"]})
    unbound = run(filled, view)
    ana = acme.with_key(user_id="ana")

    def as_ana(asks):
        return ask_as(ana, asks)

    assert [one.id for one in as_ana(lambda client: client.list_summary_views())] == [view.id]
    for hidden in (in_all, about_bob):
        assert as_ana(lambda client, hidden=hidden: client.get_summary_view(hidden.id)) is None
    assert [one.group for one in partitions(as_ana, view)] == [{"user_id": "ana"}]
    with pytest.raises(MemoryServerError) as refused:
        as_ana(lambda client: client.run_summary_view_partition(view.id, {"user_id": "bob"}))
    assert refused.value.status_code == 403
    assert ana.http.get(f"{VIEWS}/{view.id}/partitions?user_id=bob").status_code == 403
    assert ana.http.delete(f"{VIEWS}/{view.id}").status_code == 403
    before = {one.group["user_id"]: one for one in partitions(filled, view)}
    task = run(as_ana, view, force=True)
    now = {one.group["user_id"]: one for one in partitions(filled, view)}
    assert now["ana"].computed_at > before["ana"].computed_at
    assert now["bob"] == before["bob"]
    assert as_ana(lambda client: client.get_task(task.id)).status == "success"
    assert as_ana(lambda client: client.get_task(unbound.id)) is None
    assert ask_as(acme.with_key(user_id="bob"), lambda client: client.get_task(task.id)) is None


def test_a_users_own_view_tells_of_that_user_alone(filled, acme):
    def as_ana(asks):
        return ask_as(acme.with_key(user_id="ana"), asks)

    view = create(as_ana, group_by=["namespace"])
    run(filled, view)  # whoever runs it
    found = {one.group["namespace"]: one for one in partitions(as_ana, view)}
    assert found.keys() == {"home", "office"}
    assert "rain" not in str(found)
    bob = acme.with_key(user_id="bob")
    assert ask_as(bob, lambda client: client.get_summary_view(view.id)) is None


def test_another_tenant_sees_nothing(filled, globex):
    view = create(filled)
    task = run(filled, view)
    assert ask_as(globex, lambda client: client.list_summary_views()) == []
    assert ask_as(globex, lambda client: client.get_summary_view(view.id)) is None
    assert ask_as(globex, lambda client: client.get_task(task.id)) is None
    for asks in (
        lambda client: client.delete_summary_view(view.id),
        lambda client: client.list_summary_view_partitions(view.id),
        lambda client: client.run_summary_view_partition(view.id, {"user_id": "ana"}),
        lambda client: client.run_summary_view(view.id),
    ):
        with pytest.raises(MemoryNotFoundError):
            ask_as(globex, asks)
    assert len(partitions(filled, view)) == 2
