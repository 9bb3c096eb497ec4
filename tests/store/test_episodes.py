"""Each item is said by an episode: what happens to one happens to the other."""

import pytest
from django.utils import timezone

from episodic.compacting import compact_records
from episodic.models import Episode, EpisodeEmbedding, Item
from episodic.records import NewRecord, save_records
from tenants.scope import scope
from tests.native.shapes import problem
from tests.store.items import delete, get, keys, put, search

TEA = "Ana drinks green tea every morning."


def episodes(member):
    return member.http.get("/api/v1/episodes").json()["results"]


def only_episode(member):
    (one,) = episodes(member)
    return f"/api/v1/episodes/{one['id']}"


def recalled(member, query=TEA, **more):
    answer = member.http.post("/api/v1/recall", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return [one["text"] for one in answer.json()["results"]]


def test_what_an_item_says_is_recalled(acme):
    put(acme, ["a"], "k", {"text": TEA, "n": 5}, index=["text"], user_id="ana")
    assert recalled(acme, user_id="ana") == [TEA]
    (shown,) = episodes(acme)
    assert shown["metadata"] == {"namespace": ["a"], "key": "k"}
    put(acme, ["a"], "k", {"text": "Ana drinks coffee."}, index=["text"], user_id="ana")
    assert recalled(acme, user_id="ana") == ["Ana drinks coffee."]


def test_what_is_not_indexed_is_recalled_by_nobody(acme):
    put(acme, ["a"], "k", {"text": TEA}, index=False, user_id="ana")
    assert recalled(acme, user_id="ana") == []
    with scope(acme.tenant.id):
        assert not Episode.objects.get(tenant_id=acme.tenant.id).embed_pending


def test_the_client_s_vectors_leave_the_episode_to_the_sweeper(acme):
    put(acme, ["a"], "k", {"text": TEA}, vectors=[{"path": "text", "vector": [1.0, 0.0]}])
    with scope(acme.tenant.id):
        assert Episode.objects.get(tenant_id=acme.tenant.id).embed_pending
        assert not EpisodeEmbedding.objects.filter(tenant_id=acme.tenant.id).exists()


@pytest.mark.parametrize(
    ("vectors", "asked"),
    [([], {"query": TEA}), ([{"path": "text", "vector": [1.0, 0.0]}], {"vector": [1.0, 0.0]})],
    ids=["server", "client"],
)
def test_a_retracted_item_is_hidden_until_it_is_put_again(acme, vectors, asked):
    put(acme, ["a"], "k", {"text": TEA}, vectors=vectors)
    assert keys(acme, **asked) == ["k"]
    assert acme.http.post(f"{only_episode(acme)}/retract").status_code == 200
    assert get(acme, ["a"], "k") is None
    assert keys(acme) == keys(acme, **asked) == []
    put(acme, ["a"], "k", {"text": TEA}, vectors=vectors)
    assert get(acme, ["a"], "k")["value"] == {"text": TEA}
    assert keys(acme) == keys(acme, **asked) == ["k"]


def test_an_episode_that_is_deleted_for_good_takes_its_item_along(acme):
    put(acme, ["a"], "k", {"text": TEA})
    assert acme.http.delete(f"{only_episode(acme)}?hard=true").status_code == 204
    assert get(acme, ["a"], "k") is None
    with scope(acme.tenant.id):
        assert not Item.objects.filter(tenant_id=acme.tenant.id).exists()


def test_an_item_that_is_deleted_takes_its_episode_along(acme):
    put(acme, ["a"], "k", {"text": TEA})
    delete(acme, ["a"], "k")
    assert episodes(acme) == []


@pytest.mark.parametrize(
    ("value", "index", "edited"),
    [
        ({"text": TEA}, None, {"text": "It is mate."}),
        ({"deep": [{"t": TEA}], "n": 1}, ["deep[*].t"], {"deep": [{"t": "It is mate."}], "n": 1}),
    ],
    ids=str,
)
def test_an_edit_of_the_episode_changes_the_one_text_that_is_indexed(acme, value, index, edited):
    more = {"vectors": [{"path": "text", "vector": [1.0, 0.0]}]}
    put(acme, ["a"], "k", value, index=index, **more)
    before = get(acme, ["a"], "k")
    assert acme.http.patch(only_episode(acme), json={"text": "It is mate."}).status_code == 200
    after = get(acme, ["a"], "k")
    assert after["value"] == edited
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    assert keys(acme, vector=[1.0, 0.0]) == []  # that was of what it said
    assert search(acme, query="mate")[0]["value"] == edited


def test_a_record_s_edit_does_so_too(acme):
    put(acme, ["a"], "k", {"text": TEA})
    (shown,) = acme.http.post("/v1/long-term-memory/search", json={"text": TEA}).json()["memories"]
    url = f"/v1/long-term-memory/{shown['id']}"
    assert acme.http.patch(url, json={"text": "It is mate."}).status_code == 200
    assert get(acme, ["a"], "k")["value"] == {"text": "It is mate."}
    assert acme.http.patch(url, json={"namespace": "elsewhere"}).status_code == 409


def test_a_text_that_is_made_of_more_is_edited_as_an_item(acme):
    value = {"text": TEA, "also": "more"}
    put(acme, ["a"], "k", value)
    problem(acme.http.patch(only_episode(acme), json={"text": "It is mate."}), 409)
    assert get(acme, ["a"], "k")["value"] == value
    assert TEA in episodes(acme)[0]["text"]


def test_an_item_stands_where_its_name_says(acme):
    put(acme, ["a"], "k", {"text": TEA})
    for change in ({"agent_id": "coder"}, {"project": "apollo"}, {"memory_type": "episodic"}):
        problem(acme.http.patch(only_episode(acme), json=change), 409)
    assert get(acme, ["a"], "k") is not None


def test_its_metadata_go_on_naming_it(acme):
    put(acme, ["a"], "k", {"text": TEA})
    shown = acme.http.patch(only_episode(acme), json={"metadata": {"namespace": ["b"], "by": "hand"}}).json()
    assert shown["metadata"] == {"namespace": ["a"], "key": "k", "by": "hand"}
    assert get(acme, ["a"], "k")["value"] == {"text": TEA}


def test_items_that_say_the_same_stay_beside_each_other(acme):
    caller, now = acme.caller, timezone.now()
    put(acme, ["a"], "one", {"text": TEA})
    put(acme, ["a"], "two", {"text": TEA})
    record = NewRecord(id="record", text=TEA, namespace="store")
    (saved,) = save_records(caller=caller, records=[record], deduplicate=True, now=now).records
    compact_records(caller=caller, now=timezone.now())
    assert sorted(keys(acme)) == ["one", "two"]
    assert saved.outcome == "created"  # and not left to an item, which may expire


def test_a_statement_that_contradicts_an_item_leaves_it(acme):
    put(acme, ["a"], "lead", {"text": "Ana is the project lead."})
    body = {"text": "Bob is the project lead.", "memory_type": "semantic"}
    assert acme.http.post("/api/v1/episodes", json=body).status_code == 201
    assert get(acme, ["a"], "lead") is not None
