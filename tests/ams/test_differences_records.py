"""Where the original is broken or silent: records that are saved and forgotten."""

import pytest

from tests.ams.asking import RECORDS, ids, save, search
from tests.records.stored import put
from tests.store import items


def test_a_record_without_an_id_is_given_one(acme):
    """Row: missing record id."""
    save(acme, {"text": "no id"}, {"text": "null for an id", "id": None})
    found = search(acme)
    assert [len(one["id"]) for one in found["memories"]] == [26, 26]
    assert acme.http.post(RECORDS, json={"memories": [{"text": "x", "id": ""}]}).status_code == 422


def test_ids_that_stand_twice_in_one_body_are_one_record(acme):
    """Row: missing record id. The last of them counts."""
    save(acme, {"id": "r1", "text": "Ana likes tea"}, {"id": "r1", "text": "Ana likes coffee"})
    found = search(acme)
    assert [(one["id"], one["text"]) for one in found["memories"]] == [("r1", "Ana likes coffee")]


def test_a_record_takes_no_item_s_place(acme):
    """Though the item's id is listed like any record's."""
    items.put(acme, ["a"], "k", {"text": "Ana drinks tea."}, user_id="ana")
    (listed,) = search(acme, text="tea")["memories"]
    sent = {"id": listed["id"], "namespace": "store", "text": "Ana lives on Mars."}
    for one in (
        sent | {"user_id": "ana"},
        sent | {"user_id": "bob"},
        {"id": "x", "text": "y", "extraction_strategy": "item"},
    ):
        answer = acme.http.post(RECORDS, json={"memories": [{"id": "other", "text": "z"}, one]})
        assert answer.status_code == 409, answer.text
    assert items.get(acme, ["a"], "k", user_id="ana")["value"] == {"text": "Ana drinks tea."}
    assert [one["text"] for one in search(acme)["memories"]] == ["Ana drinks tea."]
    save(acme, sent | {"namespace": "elsewhere"})
    assert ids(search(acme)) == [listed["id"]] * 2


def test_labels_may_hold_commas(acme):
    """Row: commas."""
    save(acme, {"id": "r1", "text": "x", "topics": ["a, b"], "entities": ["c,d"], "extracted_from": ["e,f"]})
    found = acme.http.get("/v1/long-term-memory/r1").json()
    assert (found["topics"], found["entities"], found["extracted_from"]) == (["a, b"], ["c,d"], ["e,f"])
    assert ids(search(acme, topics={"any": ["a, b"]})) == ["r1"]
    assert ids(search(acme, topics={"any": ["a"]})) == []


@pytest.mark.parametrize(
    ("agent", "is_dry"),
    [
        ("agent-memory-client/0.14.0", False),
        ("agent-memory-client/0.9.2", False),
        ("agent-memory-client/0.14.1", True),
        ("agent-memory-client/1.0.0", True),
        ("curl/8.0", True),
    ],
)
def test_forgetting_is_a_rehearsal_unless_the_client_drops_false(acme, agent, is_dry):
    """Row: forget."""
    save(acme, {"id": "r1", "text": "x"})
    url, body, headers = "/v1/long-term-memory/forget", {"policy": {"budget": 0}}, {"User-Agent": agent}
    done = acme.http.post(url, json=body, headers=headers).json()
    assert done == {"scanned": 1, "deleted": 1, "deleted_ids": ["r1"], "dry_run": is_dry}
    assert acme.http.get("/v1/long-term-memory/r1").status_code == (200 if is_dry else 404)
    told = acme.http.post(f"{url}?dry_run={not is_dry}", json=body, headers=headers).json()
    assert told["dry_run"] is not is_dry


def test_an_id_that_several_people_use_is_named_by_user_and_namespace(acme):
    """Row: one id, several records."""
    whose = [{"user_id": "ana"}, {"user_id": "bob"}, {"user_id": "bob", "namespace": "office"}, {}]
    save(acme, *({"id": "dup", "text": f"Fact {place}"} | one for place, one in enumerate(whose)))
    url = f"{RECORDS}dup"
    refused = acme.http.get(url)
    assert refused.status_code == 409
    assert all(name in refused.json()["detail"] for name in ("user_id", "namespace", "dup"))
    exactly = [{"user_id": "", "namespace": ""} | one for one in whose]
    read = [acme.http.get(url, params=one).json()["text"] for one in exactly]
    assert read == ["Fact 0", "Fact 1", "Fact 2", "Fact 3"]
    assert acme.http.get(url, params={"user_id": "ana"}).json()["text"] == "Fact 0"
    assert acme.http.get(url, params={"user_id": "bob"}).status_code == 409
    assert acme.http.get(url, params={"user_id": "carol"}).status_code == 404

    assert acme.http.patch(url, json={"text": "x"}, params={"user_id": "bob"}).status_code == 409
    assert acme.http.patch(url, json={"text": "New"}, params=exactly[2]).json()["text"] == "New"
    assert acme.http.get(url, params=exactly[1]).json()["text"] == "Fact 1"


def test_of_several_ids_with_one_that_several_people_use_none_is_deleted(acme):
    """Row: one id, several records."""
    save(
        acme,
        {"id": "dup", "text": "Ana's", "user_id": "ana"},
        {"id": "dup", "text": "Bob's", "user_id": "bob"},
        {"id": "single", "text": "Ana's other", "user_id": "ana"},
    )
    named = {"memory_ids": ["dup", "single"]}
    refused = acme.http.delete(RECORDS, params=named)
    assert (refused.status_code, refused.json()["detail"].rpartition(": ")[2]) == (409, "dup")
    assert len(search(acme)["memories"]) == 3
    done = acme.http.delete(RECORDS, params=named | {"user_id": "ana"})
    assert done.json() == {"status": "ok, deleted 2 memories"}
    assert [one["text"] for one in search(acme)["memories"]] == ["Bob's"]


def test_nobody_makes_the_record_of_another_unreadable_for_that_one_s_key(acme):
    """Row: one id, several records. Neither by the same id nor by taking the id of an episode for one."""
    ana, bob = acme.with_key(user_id="ana"), acme.with_key(user_id="bob")
    save(ana, {"id": "single", "text": "Ana's"})
    told = ana.http.post("/api/v1/episodes", json={"text": "Told otherwise"}).json()["id"]
    save(bob, {"id": "single", "text": "Bob's"}, {"id": told, "text": "Bob's too"})
    read = [ana.http.get(f"{RECORDS}{one}").json()["text"] for one in ("single", told)]
    assert read == ["Ana's", "Told otherwise"]
    assert ana.http.get(f"{RECORDS}single", params={"user_id": "bob"}).status_code == 403
    assert acme.http.get(f"{RECORDS}{told}", params={"user_id": "ana"}).json()["text"] == "Told otherwise"


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        *(("forget", name) for name in ("user_id", "namespace", "session_id")),
        *(("compact", name) for name in ("user_id", "namespace")),
    ],
)
def test_an_empty_name_in_forgetting_and_compaction_is_refused(acme, verb, name):
    """Row: forget. It may be a variable that was never set, and would mean everybody's."""
    save(acme, {"id": "r1", "text": "x"})
    answer = acme.http.post(f"{RECORDS}{verb}?{name}=&dry_run=false", json={"policy": {"budget": 0}})
    assert answer.status_code == 422
    assert answer.json()["detail"] == [
        {"type": "string_too_short", "loc": ["query", name], "input": "",
         "msg": "String should have at least 1 character"}
    ]  # fmt: skip
    assert ids(search(acme)) == ["r1"]


def test_what_is_pinned_stays_so_in_whichever_of_two_that_say_the_same(acme):
    text = "Ana lives in Oslo."
    body = {"memories": [
        {"id": "p", "text": text, "pinned": True, "created_at": "2024-01-01T00:00:00Z"},
        {"id": "q", "text": text, "created_at": "2024-02-01T00:00:00Z"},
    ], "deduplicate": False}  # fmt: skip
    assert acme.http.post(RECORDS, json=body).status_code == 200
    assert acme.http.post(f"{RECORDS}compact").json() == {
        "status": "ok, 1 memories remaining after compaction"
    }
    assert [acme.http.get(f"{RECORDS}{one}").json()["pinned"] for one in "pq"] == [True, True]
    forgotten = acme.http.post(f"{RECORDS}forget?dry_run=false", json={"policy": {"max_age_days": 30}})
    assert forgotten.json()["deleted"] == 0
    save(acme, {"id": "a", "text": "Ana has a dog."})
    save(acme, {"id": "b", "text": "Ana has a dog.", "pinned": True})
    assert acme.http.get(f"{RECORDS}a").json()["pinned"] is True


def test_a_compaction_reaches_what_lies_behind_a_thousand_others(acme):
    food = [{"text": "User likes Italian food."}, {"text": "User likes Italian food, and pizza."}]
    assert acme.http.post(RECORDS, json={"memories": food, "deduplicate": False}).status_code == 200
    put(acme.caller, *({"external_id": f"r{n}", "text": f"{n} is a number."} for n in range(1_000)))
    answer = acme.http.post(f"{RECORDS}compact")
    assert answer.json() == {"status": "ok, 1001 memories remaining after compaction"}


def test_forgetting_is_of_all_that_was_saved_on_purpose(acme):
    """Row: forget. Whichever way it came in; what sessions left behind has its own retention."""
    save(acme, {"id": "r1", "text": "Saved here"})
    told = acme.http.post("/api/v1/episodes", json={"text": "Told otherwise"}).json()["id"]
    done = acme.http.post(f"{RECORDS}forget?dry_run=false", json={"policy": {"budget": 0}}).json()
    assert (done["scanned"], sorted(done["deleted_ids"])) == (2, sorted(["r1", told]))


@pytest.mark.parametrize("wrong", [{"text": " "}, {"text": "\n\t"}, {"id": "a/"}, {"id": "/"}])
def test_a_blank_text_and_an_id_that_no_path_can_name_are_refused(acme, wrong):
    """Row: missing record id."""
    one = {"id": "r1", "text": "x"} | wrong
    (name,) = wrong
    answer = acme.http.post(RECORDS, json={"memories": [one]})
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "memories", 0, name])
    save(acme, {"id": "a/b", "text": "x"})
    assert acme.http.get(f"{RECORDS}a/b").json()["id"] == "a/b"
    if "text" in wrong:
        assert acme.http.patch(f"{RECORDS}a/b", json=wrong).status_code == 422


def test_a_record_that_tells_only_when_it_was_created_was_updated_when_it_was_saved(acme):
    """Row: missing record id. As the field's default says: now."""
    save(acme, {"id": "r1", "text": "x", "created_at": "2020-01-01T00:00:00Z"})
    found = acme.http.get(f"{RECORDS}r1").json()
    assert found["created_at"] == "2020-01-01T00:00:00Z"
    assert found["updated_at"] == found["persisted_at"] > found["created_at"]


@pytest.mark.parametrize("field", ["id", "user_id", "namespace", "session_id"])
def test_a_name_has_up_to_255_characters(acme, field):
    """Row: lengths."""
    save(acme, {"id": "r1", "text": "x"} | {field: "n" * 255})
    answer = acme.http.post(RECORDS, json={"memories": [{"text": "x", field: "n" * 256}]})
    assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, "string_too_long")
