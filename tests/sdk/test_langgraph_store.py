"""LangGraph's store over the running server: what its own stores promise, kept by this one."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from strata_memory.errors import Forbidden, Invalid, Unauthenticated
from strata_memory.langgraph import StrataStore

from tests.conftest import Member
from tests.plugin import STORES

Open = Callable[..., StrataStore]


@pytest.fixture
def opened(acme: Member) -> Open:
    def opened(member: Member = acme, **options: Any) -> StrataStore:
        return StrataStore(client(member, options.pop("user_id", None)), **options)

    return opened


def client(member: Member, user_id: str | None = None) -> Any:
    from strata_memory import StrataClient

    return StrataClient(str(member.http.base_url), member.key, user_id=user_id, timeout=60)


def keys(found: Sequence[Any]) -> list[str]:
    return [one.key for one in found]


def test_an_item_is_kept_replaced_and_deleted(opened: Open) -> None:
    store = opened()
    store.put(("users", "kim"), "profile", {"name": "Kim", "tags": ["a", {"b": None}], "n": 1.5})
    first = store.get(("users", "kim"), "profile")
    assert first is not None
    assert (first.namespace, first.key) == (("users", "kim"), "profile")
    assert first.value == {"name": "Kim", "tags": ["a", {"b": None}], "n": 1.5}
    store.put(("users", "kim"), "profile", {"name": "Kim B."})
    second = store.get(("users", "kim"), "profile")
    assert second is not None
    assert second.value == {"name": "Kim B."}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    store.delete(("users", "kim"), "profile")
    assert store.get(("users", "kim"), "profile") is None
    store.delete(("users", "kim"), "profile")


def test_keys_and_namespaces_may_hold_any_text(opened: Open) -> None:
    store = opened()
    for label in ("user_1", "a%b", "straße 🙂", "line\n", "quote'\"", "*"):
        store.put((label, "x/y"), "key / with % and . 中", {"label": label})
        found = store.get((label, "x/y"), "key / with % and . 中")
        assert found is not None
        assert found.value == {"label": label}


def test_a_batch_reads_what_was_before_it(opened: Open) -> None:
    store = opened()
    store.put(("a",), "old", {"n": 1})
    got, _, found, namespaces, deleted, missing = store.batch(
        [
            GetOp(("a",), "old"),
            PutOp(("b",), "new", {"n": 2}),
            SearchOp(()),
            ListNamespacesOp(),
            PutOp(("a",), "old", None),
            GetOp(("b",), "new"),
        ]
    )
    assert got.value == {"n": 1}
    assert keys(found) == ["old"]
    assert namespaces == [("a",)]
    assert deleted is None
    assert missing is None
    assert store.list_namespaces() == [("b",)]


def test_of_several_puts_of_a_batch_the_last_holds(opened: Open) -> None:
    store = opened()
    store.batch([PutOp(("a",), "k", {"n": 1}), PutOp(("a",), "k", {"n": 2})])
    store.batch([PutOp(("a",), "l", {"n": 1}), PutOp(("a",), "l", None)])
    assert [one.value for one in store.search(("a",))] == [{"n": 2}]


def test_a_batch_of_more_than_a_request_holds_is_whole(opened: Open) -> None:
    store = opened()
    store.batch([PutOp(("many",), f"{n:04}", {"n": n}, index=False) for n in range(1_200)])
    assert len(store.batch([GetOp(("many",), f"{n:04}") for n in range(1_200)])) == 1_200
    found = store.search(("many",), limit=5_000)
    assert sorted(keys(found)) == [f"{n:04}" for n in range(1_200)]


def test_a_search_without_words_gives_what_was_put_last(opened: Open) -> None:
    store = opened()
    for key in ("1", "2", "3"):
        store.put(("docs",), key, {"n": int(key)})
    store.put(("docs",), "1", {"n": 1})
    found = store.search(("docs",))
    assert keys(found) == ["1", "3", "2"]
    assert {one.score for one in found} == {None}
    assert keys(store.search(("docs",), query="")) == ["1", "3", "2"]
    assert keys(store.search(("docs",), limit=2, offset=1)) == ["3", "2"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"color": "red"}, {"1", "2"}),
        ({"color": {"$eq": "red"}}, {"1", "2"}),
        ({"color": {"$ne": "red"}}, {"3", "4"}),
        ({"score": {"$gt": 4}}, {"1", "4"}),
        ({"score": {"$gte": 4.0}}, {"1", "3", "4"}),
        ({"score": {"$lt": 4}}, {"2"}),
        ({"score": {"$lte": 4}}, {"2", "3"}),
        ({"score": {"$gt": 3, "$lt": 10}, "color": "red"}, {"1"}),
        ({"tags": ["x", "y"]}, {"3"}),
        ({"color": "blue"}, set()),
        ({"nothing": None}, {"4"}),
    ],
)
def test_filters_compare_fields_of_the_value(opened: Open, where: dict[str, Any], expected: set[str]) -> None:
    """Numbers as numbers: 10 is above 4, whatever their digits."""
    store = opened()
    rows: dict[str, dict[str, Any]] = {
        "1": {"color": "red", "score": 4.5},
        "2": {"color": "red", "score": 3},
        "3": {"color": "green", "score": 4, "tags": ["x", "y"]},
        "4": {"color": "grey", "score": 10, "nothing": None},
    }
    store.batch([PutOp(("f",), key, value, index=False) for key, value in rows.items()])
    assert set(keys(store.search(("f",), filter=where))) == expected


def test_an_unknown_operator_is_a_typed_error(opened: Open) -> None:
    with pytest.raises(Invalid):
        opened().search((), filter={"n": {"$near": 1}})


def test_a_namespace_ends_where_its_labels_end(opened: Open) -> None:
    store = opened()
    paths = [("foo",), ("foo", "child"), ("foobar",), ("fo",), ("x", "foo"), ("FOO",)]
    store.batch([PutOp(path, "k", {"n": 1}, index=False) for path in paths])
    assert {one.namespace for one in store.search(("foo",))} == {("foo",), ("foo", "child")}
    assert {one.namespace for one in store.search(())} == set(paths)
    assert store.list_namespaces(prefix=("foo",)) == [("foo",), ("foo", "child")]
    assert store.list_namespaces(suffix=("foo",)) == [("foo",), ("x", "foo")]


def test_namespaces_are_listed_by_patterns_depth_and_page(opened: Open) -> None:
    store = opened()
    paths = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "c", "f"), ("u", "1", "f")]
    store.batch([PutOp(path, "k", {"n": 1}, index=False) for path in paths])
    assert store.list_namespaces() == sorted(paths)
    assert store.list_namespaces(prefix=("a", "*", "d")) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
    assert store.list_namespaces(suffix=("*", "f")) == [("a", "c", "f"), ("u", "1", "f")]
    assert store.list_namespaces(prefix=("a",), suffix=("f",)) == [("a", "c", "f")]
    assert store.list_namespaces(prefix=("a",), max_depth=3) == [
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("a", "c", "f"),
    ]
    assert store.list_namespaces(limit=2, offset=1) == sorted(paths)[1:3]
    (found,) = store.batch([ListNamespacesOp((MatchCondition("prefix", ()),))])
    assert found == sorted(paths)


def test_the_server_embeds_for_a_client_without_a_model(opened: Open) -> None:
    store = opened()
    store.put(("notes",), "tea", {"text": "She drinks green tea every morning."})
    store.put(("notes",), "car", {"text": "The car needs new winter tyres."})
    store.put(("notes",), "secret", {"text": "She drinks green tea as well."}, index=False)
    found = store.search(("notes",), query="What does she like to drink?")
    assert keys(found) == ["tea", "car"]
    assert found[0].score > found[1].score
    assert keys(store.search(("notes",), query="drink", filter={"text": {"$ne": ""}}, limit=1)) == ["tea"]
    assert set(keys(store.search(("notes",)))) == {"tea", "car", "secret"}


def test_only_the_named_fields_are_found_by_meaning(opened: Open) -> None:
    store = opened(index={"fields": ["title"]})
    value = {"title": "Winter tyres", "body": "She drinks green tea."}
    store.put(("n",), "title", value)
    store.put(("n",), "body", value, index=["body"])
    assert keys(store.search(("n",), query="a hot drink"))[0] == "body"
    assert keys(store.search(("n",), query="car wheels"))[0] == "title"


def letters(texts: Sequence[str]) -> list[list[float]]:
    """How often each letter occurs: not of length one, so that the distances differ."""
    return [[float(text.count(chr(97 + at))) for at in range(26)] for text in texts]


def cosine(a: list[float], b: list[float]) -> float:
    return inner(a, b) / (inner(a, a) * inner(b, b)) ** 0.5


def inner(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def minus_l2(a: list[float], b: list[float]) -> float:
    return -(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5)


@pytest.mark.parametrize(
    ("distance", "score"), [("cosine", cosine), ("inner_product", inner), ("l2", minus_l2)]
)
def test_the_clients_own_vectors_rank_and_score(opened: Open, distance: Any, score: Any) -> None:
    store = opened(index={"dims": 26, "embed": letters, "fields": ["t"], "distance_type": distance})
    texts = {"1": "aab", "2": "abc", "3": "xyz", "4": "aaaabb"}
    store.batch([PutOp(("v",), key, {"t": text}) for key, text in texts.items()])
    store.put(("v",), "unseen", {"t": "aab"}, index=False)
    found = store.search(("v",), query="aab")
    (query,) = letters(["aab"])
    expected = {key: score(query, letters([text])[0]) for key, text in texts.items()}
    assert {one.key: one.score for one in found} == pytest.approx(expected, abs=1e-4)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    (second,) = store.search(("v",), query="aab", limit=1, offset=1)
    assert second.key == found[1].key


def test_an_item_is_as_near_as_the_nearest_of_its_texts(opened: Open) -> None:
    store = opened(index={"dims": 26, "embed": letters, "fields": ["title", "parts[*].text"]})
    store.put(("v",), "parts", {"title": "zzz", "parts": [{"text": "mmm"}, {"text": "abc"}]})
    store.put(("v",), "title", {"title": "abd"})
    found = store.search(("v",), query="abc")
    assert keys(found) == ["parts", "title"]
    assert found[0].score == pytest.approx(1, abs=1e-4)
    store.put(("v",), "parts", {"title": "zzz"})
    assert keys(store.search(("v",), query="abc")) == ["title", "parts"]


def ages(store: StrataStore, member: Member, key: str, minutes: float) -> None:
    """As if the item's time of expiry had been so much earlier."""
    with psycopg.connect(STORES.postgres.superuser_url("strata"), autocommit=True) as connection:
        done = connection.execute(
            "UPDATE store_items SET expires_at = expires_at - %s * interval '1 minute'"
            " WHERE tenant_id = %s AND key = %s",
            [minutes, member.tenant.id, key],
        )
        assert done.rowcount == 1


def test_what_has_expired_is_nowhere(opened: Open, acme: Member) -> None:
    store = opened(ttl={"default_ttl": 10})
    store.put(("t", "gone"), "gone", {"text": "green tea"})
    store.put(("t", "kept"), "kept", {"text": "green tea"}, ttl=None)
    ages(store, acme, "gone", 11)
    assert store.get(("t", "gone"), "gone") is None
    assert keys(store.search(("t",), limit=1)) == ["kept"]
    assert keys(store.search(("t",), query="tea")) == ["kept"]
    assert store.list_namespaces() == [("t", "kept")]
    store.put(("t", "gone"), "gone", {"text": "back"})
    assert store.get(("t", "gone"), "gone") is not None


@pytest.mark.parametrize("how", ["get", "search", "query", "put"])
def test_what_is_used_lives_on(opened: Open, acme: Member, how: str) -> None:
    store = opened(ttl={"default_ttl": 10})
    store.put(("t",), "k", {"text": "green tea"})
    ages(store, acme, "k", 9)
    uses: dict[str, Callable[[], Any]] = {
        "get": lambda: store.get(("t",), "k"),
        "search": lambda: store.search(("t",)),
        "query": lambda: store.search(("t",), query="tea"),
        "put": lambda: store.put(("t",), "k", {"text": "green tea"}),
    }
    uses[how]()
    ages(store, acme, "k", 9)
    assert store.get(("t",), "k") is not None


def test_what_is_only_looked_at_does_not(opened: Open, acme: Member) -> None:
    store = opened(ttl={"default_ttl": 10, "refresh_on_read": False})
    store.put(("t",), "k", {"text": "green tea"})
    ages(store, acme, "k", 9)
    assert store.get(("t",), "k") is not None
    assert keys(store.search(("t",))) == ["k"]
    ages(store, acme, "k", 9)
    assert store.get(("t",), "k") is None


def test_a_ttl_shorter_than_a_second_is_kept_to(opened: Open) -> None:
    store = opened()
    store.put(("t",), "k", {"n": 1}, ttl=0.1 / 60)
    deadline = time.monotonic() + 60
    while store.get(("t",), "k", refresh_ttl=False) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_users_and_tenants_do_not_see_each_others_items(opened: Open, globex: Member) -> None:
    opened(user_id="kim").put(("a",), "k", {"whose": "kim"})
    for other in (opened(user_id="lee"), opened(), opened(member=globex, user_id="kim")):
        assert other.get(("a",), "k") is None
        assert other.search(()) == []
        assert other.list_namespaces() == []
    assert opened(user_id="kim").get(("a",), "k") is not None


def test_a_project_is_a_scope_of_its_own(opened: Open) -> None:
    opened(project="one").put(("a",), "k", {"n": 1})
    assert opened(project="two").get(("a",), "k") is None
    assert opened(project="one").get(("a",), "k") is not None


def test_setting_up_sees_whether_the_server_answers_the_key(opened: Open, acme: Member) -> None:
    store = opened()
    store.setup()
    store.setup()
    acme.key = "mem_0000_unknown"
    with pytest.raises(Unauthenticated):
        opened(acme).setup()


def test_a_key_that_only_reads_may_not_put(opened: Open, acme: Member) -> None:
    opened().put(("a",), "k", {"n": 1})
    reading = opened(acme.with_key(scopes=["read"]))
    assert reading.get(("a",), "k") is not None
    with pytest.raises(Forbidden):
        reading.put(("a",), "k", {"n": 2})


def test_what_may_not_be_remembered_is_a_typed_error_that_names_it(opened: Open) -> None:
    store = opened()
    with pytest.raises(Invalid) as raised:
        store.batch(
            [
                PutOp(("a",), "1", {"text": "fine"}),
                PutOp(("a",), "2", {"text": "my card is 4111 1111 1111 1111"}),
            ]
        )
    assert "1" in raised.value.errors[0].field
    assert store.search(("a",)) == []


def test_an_item_is_a_memory_that_recall_finds(opened: Open, acme: Member) -> None:
    opened(user_id="kim").put(("notes",), "tea", {"text": "Kim drinks green tea every morning."})
    answer = acme.http.post("/api/v1/recall", json={"query": "What does Kim drink?", "user_id": "kim"})
    assert any("green tea" in one["text"] for one in answer.json()["results"])
