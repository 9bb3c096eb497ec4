"""Where the original is broken or silent: what a search finds."""

from datetime import UTC, datetime, timedelta

from tests.ams.asking import RECORDS, SEARCH, ids, put, save, search


def test_nested_filters_and_working_memory_are_searched_too(acme):
    """Row: nested filters."""
    save(acme, {"id": "r1", "text": "Ana likes tea", "user_id": "ana", "topics": ["tea"]})
    save(acme, {"id": "r2", "text": "Ana likes tea at night", "user_id": "ana"})
    put(acme, "we talked about Tea", user_id="ana")
    nested = {"topics": {"any": ["tea"]}}
    assert ids(search(acme, text="tea", user_id={"eq": "ana"}, filters=nested)) == ["r1"]
    with_working = search(acme, text="tea", filters={"user_id": {"eq": "ana"}}, include_working_memory=True)
    assert ids(with_working) == ["r1", "r2", "we talked about Tea"]
    alone = {"include_working_memory": True, "include_long_term_memory": False}
    found = search(acme, text="TEA", user_id={"eq": "ana"}, **alone)
    misspelt = acme.http.post(SEARCH, json={"text": "tea", "filters": {"userid": {"eq": "ana"}}})
    assert misspelt.status_code == 422
    assert [(one["memory_type"], one["text"]) for one in found["memories"]] == [
        ("message", "user: we talked about Tea")
    ]


def test_operators_of_one_field_are_all_met(acme):
    """Row: filters."""
    save(
        acme,
        {"id": "r1", "text": "one", "topics": ["a", "b"], "event_date": "2026-01-01T00:00:00Z"},
        {"id": "r2", "text": "two", "topics": ["a"], "event_date": "2026-02-01T00:00:00Z"},
        {"id": "r3", "text": "three", "topics": ["a", "b", "c"], "event_date": "2026-03-01T00:00:00Z"},
    )
    assert ids(search(acme, topics={"all": ["a", "b"]})) == ["r1", "r3"]
    assert ids(search(acme, topics={"all": ["a", "b"], "none": ["c"]})) == ["r1"]
    assert ids(search(acme, event_date={"gt": "2026-01-01T00:00:00Z", "lt": "2026-03-01T00:00:00Z"})) == [
        "r2"
    ]


def test_an_unknown_operator_is_refused_by_its_name(acme):
    """Row: filters."""
    answer = acme.http.post(SEARCH, json={"text": "tea", "topics": {"like": "tea"}})
    (detail,) = answer.json()["detail"]
    assert (answer.status_code, detail["loc"]) == (422, ["body", "topics", "like"])
    assert (detail["type"], detail["msg"]) == ("extra_forbidden", "Unknown filter operator 'like'")


def test_totals_are_those_of_all_matches(acme):
    """Row: totals."""
    save(acme, *({"id": f"r{number}", "text": f"tea number {number}"} for number in range(5)))
    for body in ({"text": "tea"}, {}):
        first = search(acme, limit=2, **body)
        assert (len(first["memories"]), first["total"], first["next_offset"]) == (2, 5, 2)
        last = search(acme, limit=2, offset=4, **body)
        assert (len(last["memories"]), last["total"], last["next_offset"]) == (1, 5, None)


def test_no_other_namespace_answers_for_an_empty_one(acme):
    """Row: isolation."""
    save(acme, {"id": "r1", "text": "tea", "namespace": "shop", "user_id": "ana"})
    for filters in ({"namespace": {"eq": "office"}}, {"user_id": {"eq": "bob"}}, {"topics": {"any": ["x"]}}):
        found = search(acme, text="tea", **filters)
        assert (found["memories"], found["total"]) == ([], 0)


def test_a_key_of_a_user_finds_that_users_records_whatever_it_asks_for(acme):
    """Row: isolation."""
    save(acme, {"id": "r1", "text": "tea", "user_id": "ana"}, {"id": "r2", "text": "tea!", "user_id": "bob"})
    own = acme.with_key(user_id="ana")
    assert ids(search(own, text="tea")) == ["r1"]
    assert ids(search(own, text="tea", user_id={"eq": "bob"})) == []
    assert own.http.get("/v1/long-term-memory/r2").status_code == 404
    assert own.http.delete(f"{RECORDS}?memory_ids=r2").json() == {"status": "ok, deleted 0 memories"}


def test_recency_is_computed_over_all_candidates(acme):
    """Row: recency. The page that would be first by likeness alone is not what is ranked."""
    old = (datetime.now(UTC) - timedelta(days=300)).isoformat()
    dated = {"created_at": old, "last_accessed": old}
    save(acme, *({"id": f"old{number}", "text": f"tea tea tea {number}", **dated} for number in range(5)))
    save(acme, {"id": "new", "text": "tea and a long walk along the river in the rain"})
    weights = {"recency_semantic_weight": 0.01, "recency_recency_weight": 0.99}
    found = search(acme, text="tea tea tea", limit=1, **weights)
    assert [one["id"] for one in found["memories"]] == ["new"]
    plain = search(acme, text="tea tea tea", limit=1, recency_boost=False)
    assert plain["memories"][0]["id"].startswith("old")


def test_who_scores_the_words_and_computes_recency_is_not_the_clients_to_say(acme):
    """Row: text_scorer, server_side_recency."""
    save(acme, *({"id": f"r{number}", "text": f"tea {'and milk ' * number}"} for number in range(4)))
    asked = {"text": "tea milk", "search_mode": "hybrid"}
    same = [
        [one["id"] for one in search(acme, **asked, **more)["memories"]]
        for more in ({}, {"text_scorer": "TFIDF"}, {"server_side_recency": True})
    ]
    assert same[0] == same[1] == same[2]


def test_a_search_that_is_only_wanted_searches_for_the_query(acme):
    """Row: `long_term_search: true`."""
    save(acme, {"id": "r1", "text": "Ana likes tea"}, {"id": "r2", "text": "The invoice was paid in March"})
    body = {"query": "When was it paid?", "long_term_search": True}
    found = acme.http.post("/v1/memory/prompt", json=body).json()
    assert [one["id"] for one in found["long_term_memories"]] == ["r2", "r1"]
    assert found["long_term_memories"][0]["score_type"] == "semantic"


def test_a_prompt_of_neither_is_refused(acme):
    """Row: `long_term_search: true`."""
    for body in ({"query": "x"}, {"query": "x", "long_term_search": False}):
        answer = acme.http.post("/v1/memory/prompt", json=body)
        assert (answer.status_code, answer.json()) == (
            400,
            {"detail": "Either session or long_term_search must be provided"},
        )
