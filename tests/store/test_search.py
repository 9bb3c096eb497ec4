"""Searching below a namespace."""

import pytest

from tests.native.shapes import problem
from tests.store.items import URL, get, keys, put, search


def test_without_a_query_what_was_put_last_comes_first(acme):
    for key in ("one", "two", "three"):
        put(acme, ["a"], key, {"text": key})
    put(acme, ["a"], "one", {"text": "again"})
    assert keys(acme, "a") == ["one", "three", "two"]
    assert keys(acme, "a", query="") == ["one", "three", "two"]
    assert keys(acme, "a", limit=1, offset=1) == ["three"]
    assert search(acme, "a", limit=1)[0]["score"] is None


def test_a_prefix_ends_where_a_label_ends(acme):
    names = {
        "k1": ["foo"],
        "k2": ["foo", "bar"],
        "k3": ["foobar"],
        "k4": ["foo/x"],
        "k5": ["fo"],
        "k6": ["foo-x", "y"],
    }
    for key, namespace in names.items():
        put(acme, namespace, key, {"x": 1})
    assert sorted(keys(acme, "foo")) == ["k1", "k2"]
    assert sorted(keys(acme)) == sorted(names)
    assert keys(acme, "foo", "bar", "baz") == []


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"color": "red"}, ["apple", "car"]),
        ({"color": {"$eq": "red"}, "kind": "fruit"}, ["apple"]),
        ({"color": {"$ne": "red"}}, ["pear"]),
        ({"score": {"$gt": 3.2}}, ["car", "pear"]),
        ({"score": {"$gte": 10}}, ["car"]),
        ({"score": {"$gt": 2, "$lt": 10}}, ["apple", "pear"]),
        ({"color": {"$lte": "green"}}, ["pear"]),
        ({"size": {"w": 1, "h": 2}}, ["car"]),
        ({"tags": ["a", 1]}, ["pear"]),
        ({"gone": None}, ["pear"]),
        ({"score": "3"}, []),
        ({"it's": "% odd"}, ["apple"]),
    ],
    ids=str,
)
def test_filters_are_met_before_the_limit(acme, where, found):
    put(acme, ["a"], "apple", {"color": "red", "kind": "fruit", "score": 3, "it's": "% odd"})
    put(acme, ["a"], "car", {"color": "red", "score": 10, "size": {"h": 2, "w": 1}})
    put(acme, ["a"], "pear", {"color": "green", "score": 4.5, "tags": ["a", 1], "gone": None})
    for number in range(3):
        put(acme, ["a"], f"later {number}", {"other": number})
    assert sorted(keys(acme, "a", filter=where, limit=2)) == found


@pytest.mark.parametrize(
    "where", [{"x": {"$in": [1]}}, {"x": {"$gt": None}}, {"x": {"$gt": 1, "y": 2}}], ids=str
)
def test_an_unknown_operator_is_refused(acme, where):
    problem(acme.http.post(f"{URL}/search", json={"filter": where}), 422)


def test_the_server_finds_by_meaning(acme):
    put(acme, ["a"], "tea", {"text": "Ana drinks green tea every morning."})
    put(acme, ["a"], "car", {"text": "The car needs new tyres."})
    put(acme, ["b"], "elsewhere", {"text": "Ana drinks green tea every morning."})
    put(acme, ["a"], "hidden", {"text": "Ana drinks green tea every morning."}, index=False)
    found = search(acme, "a", query="What does Ana like to drink?")
    assert [one["key"] for one in found] == ["tea", "car"]
    assert 1 > found[0]["score"] > found[1]["score"] > -1
    assert keys(acme, "a", query="What does Ana like to drink?", limit=1, offset=1) == ["car"]
    assert sorted(keys(acme, "a")) == ["car", "hidden", "tea"]


def test_only_what_is_indexed_is_found_by_meaning(acme):
    value = {"text": "The car needs new tyres.", "note": "Ana drinks green tea."}
    put(acme, ["a"], "by text", value, index=["text"])
    put(acme, ["a"], "by note", value, index=["note"])
    assert keys(acme, "a", query="Ana drinks green tea.")[0] == "by note"


def vectors(*numbers):
    return [{"path": f"f{at}", "vector": one} for at, one in enumerate(numbers)]


def test_the_client_s_own_vectors_rank_by_the_best_of_an_item_s_fields(acme):
    put(acme, ["a"], "east", {"x": 1}, vectors=vectors([1, 0]))
    put(acme, ["a"], "north", {"x": 1}, vectors=vectors([0, 2]))
    put(acme, ["a"], "both", {"x": 1}, vectors=vectors([-1, 0], [0, 1], [3, 3]))
    put(acme, ["a"], "other model", {"x": 1}, vectors=vectors([1, 0, 0]))
    put(acme, ["a"], "none", {"x": 1})
    found = search(acme, "a", vector=[1, 0])
    assert [one["key"] for one in found] == ["east", "both", "north"]
    assert [one["score"] for one in found] == pytest.approx([1, 0.5**0.5, 0], abs=1e-6)
    assert keys(acme, "a", vector=[1, 0], filter={"x": 2}) == []
    assert keys(acme, "a", vector=[1, 0], limit=1, offset=1) == ["both"]


def test_distances_are_scores_of_which_more_is_nearer(acme):
    put(acme, ["a"], "near", {}, vectors=vectors([1, 1]))
    put(acme, ["a"], "long", {}, vectors=vectors([5, 0]))
    by = {one: search(acme, "a", vector=[1, 0], distance=one) for one in ("l2", "inner_product")}
    assert [(one["key"], one["score"]) for one in by["l2"]] == [("near", -1), ("long", -4)]
    assert [(one["key"], one["score"]) for one in by["inner_product"]] == [("long", 5), ("near", 1)]


def test_a_vector_without_a_direction_comes_last(acme):
    put(acme, ["a"], "nowhere", {}, vectors=vectors([0, 0]))
    put(acme, ["a"], "back", {}, vectors=vectors([-1, 0]))
    assert [(one["key"], one["score"]) for one in search(acme, "a", vector=[1, 0])] == [
        ("back", -1),
        ("nowhere", None),
    ]


def test_put_again_without_them_an_item_has_no_vectors_of_the_client_left(acme):
    put(acme, ["a"], "k", {}, vectors=vectors([1, 0]))
    put(acme, ["a"], "k", {})
    assert keys(acme, "a", vector=[1, 0]) == []
    assert get(acme, ["a"], "k") is not None
