"""The tools of long-term records: what each answers, and that none reaches beyond its key."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from api.mcp.connection import connect
from api.mcp.record_search import MEMORY_PROMPT
from api.mcp.tool import ToolError
from episodic.records import access_record
from tenants.errors import NotFound
from tests.records.saving import save
from tests.records.stored import put


def ask(door, member, tool, **arguments):
    text, failed = door.call(member, tool, arguments)
    assert not failed, text
    return json.loads(text)


def fail(door, member, tool, **arguments):
    text, failed = door.call(member, tool, arguments)
    assert failed, text
    return text


def create(door, member, *records):
    return ask(door, member, "create_long_term_memories", memories=list(records))


FACTS = (
    {"id": "m1", "text": "Ana prefers window seats.", "user_id": "ana", "topics": ["travel"],
     "namespace": "n"},
    {"id": "m2", "text": "The deployment runs on Kubernetes.", "memory_type": "semantic"},
    {"id": "m3", "text": "Bob visited Oslo in May 2026.", "user_id": "bob", "memory_type": "episodic",
     "event_date": "2026-05-04T10:00:00Z"},
)  # fmt: skip


@pytest.fixture
def filled(acme, web):
    create(web, acme, *FACTS)
    return acme


def test_the_time_is_told_in_utc(acme, either):
    answer = ask(either, acme, "get_current_datetime")
    told = datetime.fromisoformat(answer["iso_utc"])
    assert told.tzinfo == UTC
    assert answer["iso_utc"].endswith("Z")
    assert abs(told.timestamp() - answer["unix_ts"]) < 1


def test_what_is_created_can_be_read_by_its_id(acme, either):
    answer = create(either, acme, {"text": "Ana has a dog.", "user_id": "ana"}, FACTS[2])
    assert answer["status"] == "ok"
    first, second = answer["memory_ids"]
    assert second == "m3"
    read = ask(either, acme, "get_long_term_memory", memory_id=first)
    assert (read["text"], read["user_id"], read["memory_type"]) == ("Ana has a dog.", "ana", "semantic")
    episodic = ask(either, acme, "get_long_term_memory", memory_id="m3")
    assert episodic["event_date"] == "2026-05-04T10:00:00Z"


def test_a_search_answers_the_nearest_first(filled, either):
    answer = ask(either, filled, "search_long_term_memory", text="Where does Ana like to sit on a plane?")
    assert answer["memories"][0]["id"] == "m1"
    assert 0 < answer["memories"][0]["dist"] < answer["memories"][1]["dist"]
    assert answer["total"] == 3
    assert "next_offset" not in answer
    page = ask(either, filled, "search_long_term_memory", text="Ana", limit=2)
    assert page["next_offset"] == 2


@pytest.mark.parametrize(("filters", "ids"), [
    ({"user_id": "ana"}, {"m1"}), ({"user_id": ["ana", "bob"]}, {"m1", "m3"}),
    ({"user_id": {"ne": "ana"}}, {"m2", "m3"}), ({"namespace": {"startswith": "n"}}, {"m1"}),
    ({"topics": ["travel", "food"]}, {"m1"}), ({"topics": {"none": ["travel"]}}, {"m2", "m3"}),
    ({"memory_type": {"not_eq": "semantic"}}, {"m3"}), ({"user_id": {"not_in": ["ana"]}}, {"m2", "m3"}),
    ({"event_date": {"between": ["2026-05-01", "2026-05-31"]}}, {"m3"}),
    ({"event_date": {"gte": "2026-06-01T00:00:00Z"}}, set()),
    ({"created_at": {"gt": "2020-01-01T00:00:00Z"}}, {"m1", "m2", "m3"}),
])  # fmt: skip
def test_filters_are_values_lists_or_operators(filled, web, filters, ids):
    for text in ("", "Ana"):
        answer = ask(web, filled, "search_long_term_memory", text=text, **filters)
        assert {one["id"] for one in answer["memories"]} == ids


@pytest.mark.parametrize(("arguments", "told"), [
    ({"topics": {"like": "x"}}, "topics: like is no operator of this field."),
    ({"created_at": {"gt": "yesterday"}}, "Input should be a valid datetime"),
    ({"limit": 101}, "limit: Input should be less than or equal to 100"),
    ({"limit": "many"}, "limit: Input should be a valid integer"),
    ({"search_mode": "magic"}, "search_mode: Input should be"),
    ({"user_id": {"any": "ana"}}, "user_id: This is no value for any."),
    ({"search_mode": "keyword", "text": "x", "distance_threshold": 0.5}, "distance_threshold is only"),
])  # fmt: skip
def test_wrong_arguments_are_told_to_the_model(acme, web, arguments, told):
    assert told in fail(web, acme, "search_long_term_memory", **arguments)


def test_words_and_both_are_searched_for_too(filled, web):
    for mode in ("keyword", "hybrid"):
        answer = ask(web, filled, "search_long_term_memory", text="Kubernetes", search_mode=mode)
        assert answer["memories"][0]["id"] == "m2"
        assert answer["memories"][0]["dist"] == 0


def test_an_edit_changes_what_it_names(filled, either):
    edited = ask(either, filled, "edit_long_term_memory", memory_id="m1", text="Ana prefers aisle seats.")
    assert (edited["text"], edited["topics"], edited["user_id"]) == (
        "Ana prefers aisle seats.", ["travel"], "ana",
    )  # fmt: skip
    assert fail(either, filled, "edit_long_term_memory", memory_id="m1") == ("No fields provided for update")
    assert "failed to edit the memory" in fail(
        either, filled, "edit_long_term_memory", memory_id="m9", text="x"
    )


def test_what_is_deleted_is_gone(filled, either):
    assert ask(either, filled, "delete_long_term_memories", memory_ids=["m1", "m9"]) == {
        "status": "ok, deleted 1 memories"
    }
    assert "failed to get the memory" in fail(either, filled, "get_long_term_memory", memory_id="m1")
    with pytest.raises(NotFound):
        access_record(caller=filled.caller, record_id="m1")


def test_compaction_tells_what_is_left(filled, web):
    answer = ask(web, filled, "compact_long_term_memories")
    assert answer == {"status": "ok, 3 memories remaining after compaction"}
    assert ask(web, filled, "compact_long_term_memories", user_id="ana")["status"].startswith("ok, 1 ")


def test_compaction_reaches_what_lies_behind_a_thousand_others(acme, web):
    save(acme.caller, "Ana likes tea, especially green tea.", "Ana likes tea.", deduplicate=False)
    put(acme.caller, *({"external_id": f"r{n}", "text": f"{n} is a number."} for n in range(1_000)))
    assert ask(web, acme, "compact_long_term_memories")["status"].startswith("ok, 1001 ")


def test_a_prompt_holds_session_memories_and_question(filled, either):
    ask(
        either, filled, "set_working_memory", session_id="s1", user_id="ana", context="They met.",
        messages=[{"role": "user", "content": "I fly on Monday."}],
    )  # fmt: skip
    answer = ask(either, filled, "memory_prompt", query="Which seat?", session_id="s1", user_id="ana")
    assert [one["role"] for one in answer["messages"]] == ["system", "user", "system", "user"]
    texts = [one["content"]["text"] for one in answer["messages"]]
    assert texts[0] == "## A summary of the conversation so far:\nThey met."
    assert texts[2] == (
        "## Long term memories related to the user's query\n - Ana prefers window seats. (ID: m1)"
    )
    assert texts[3] == "Which seat?"
    assert [one["id"] for one in answer["long_term_memories"]] == ["m1"]
    alone = ask(either, filled, "memory_prompt", query="Which seat?", memory_type="episodic")
    assert [one["id"] for one in alone["long_term_memories"]] == ["m3"]


def test_globex_reaches_nothing_of_acme_s(filled, globex, web):
    assert ask(web, globex, "search_long_term_memory", text="Ana")["memories"] == []
    assert ask(web, globex, "memory_prompt", query="Ana")["long_term_memories"] == []
    assert ask(web, globex, "delete_long_term_memories", memory_ids=["m1"])["status"] == (
        "ok, deleted 0 memories"
    )
    for tool, more in (("get_long_term_memory", {}), ("edit_long_term_memory", {"text": "x"})):
        assert "There is no such record" in fail(web, globex, tool, memory_id="m1", **more)
    assert access_record(caller=filled.caller, record_id="m1").text == FACTS[0]["text"]


def test_a_key_bound_to_a_user_reaches_its_own_alone(filled, web):
    bob = filled.with_key(user_id="bob")
    found = ask(web, bob, "search_long_term_memory", text="Ana")["memories"]
    assert [one["id"] for one in found] == ["m3"]
    assert ask(web, bob, "search_long_term_memory", text="Ana", user_id="ana")["memories"] == []
    assert "There is no such record" in fail(web, bob, "get_long_term_memory", memory_id="m1")
    refused = fail(web, bob, "create_long_term_memories", memories=[{"text": "x", "user_id": "ana"}])
    assert refused == "failed to create memories: This key is bound to another user."


@pytest.mark.parametrize(("arguments", "told"), [
    ({}, "memories: Field required"), ({"memories": "x"}, "memories: Input should be a valid list"),
    ({"memories": [{"text": ""}]}, "memories.0.text: String should have at least 1 character"),
    ({"memories": [{"text": "x", "memory_type": "dream"}]}, "memories.0.memory_type: Input should be"),
])  # fmt: skip
def test_what_cannot_be_saved_is_told(acme, web, arguments, told):
    assert told in fail(web, acme, "create_long_term_memories", **arguments)


def test_what_cannot_be_stored_of_a_text_becomes_a_sign_for_it(acme, web):
    (one,) = create(web, acme, {"text": "a\x00b", "topics": ["t\x00"]})["memory_ids"]
    read = ask(web, acme, "get_long_term_memory", memory_id=one)
    assert (read["text"], read["topics"]) == ("a\ufffdb", ["t\ufffd"])


def test_whose_session_and_records_are_meant_may_be_said_as_a_filter(filled, either):
    """As the tool of the original documents it, beside plain values."""
    ask(
        either, filled, "set_working_memory", session_id="s1", user_id="ana", namespace="n",
        messages=[{"role": "user", "content": "I fly on Monday."}],
    )  # fmt: skip
    plain = {"session_id": "s1", "user_id": "ana", "namespace": "n"}
    as_filters = {name: {"eq": value} for name, value in plain.items()}
    for named in (plain, as_filters):
        answer = ask(either, filled, "memory_prompt", query="Which seat?", **named)
        assert answer["messages"][0]["content"]["text"] == "I fly on Monday."
        assert [one["id"] for one in answer["long_term_memories"]] == ["m1"]
    others = ask(either, filled, "memory_prompt", query="Which seat?", user_id={"ne": "ana"})
    assert {one["id"] for one in others["long_term_memories"]} == {"m2", "m3"}


@pytest.mark.parametrize(("named", "complaint"), [
    ({"session_id": {"startswith": "s"}}, "session_id: Input should be a valid string"),
    ({"session_id": ["s1", "s2"]}, "session_id: Input should be a valid string"),
    ({"session_id": "s1", "user_id": ["ana", "bob"]}, "user_id: A session is one user's and of one"),
    ({"session_id": "s1", "namespace": {"ne": "n"}}, "namespace: A session is one user's and of one"),
    ({"session_id": "s1", "user_id": "u" * 256}, "user_id: String should have at most 255 characters"),
    ({"include_long_term_search": False}, "Either session_id or include_long_term_search must be given"),
])  # fmt: skip
def test_a_prompt_of_no_one_session_is_refused(acme, web, named, complaint):
    assert complaint in fail(web, acme, "memory_prompt", query="x", **named)


def test_a_prompt_may_be_of_the_session_alone(filled, either):
    ask(
        either, filled, "set_working_memory", session_id="s1",
        messages=[{"role": "user", "content": "I fly on Monday."}],
    )  # fmt: skip
    named = {"query": "Which seat?", "session_id": "s1", "include_long_term_search": False}
    answer = ask(either, filled, "memory_prompt", **named)
    assert [one["content"]["text"] for one in answer["messages"]] == ["I fly on Monday.", "Which seat?"]
    assert answer["long_term_memories"] == []


def test_a_prompt_of_the_session_alone_needs_no_long_term_memory(acme, settings):
    settings.LONG_TERM_MEMORY = False
    connection = connect(caller=acme.caller, project="", session_id="")
    given = {"query": "Which seat?", "session_id": "s1", "include_long_term_search": False}
    assert "Which seat?" in MEMORY_PROMPT.run(connection, given)
    with pytest.raises(ToolError, match="Long-term memory is disabled"):
        MEMORY_PROMPT.run(connection, {"query": "Which seat?", "session_id": "s1"})


def test_what_recency_counts_for_may_be_said(acme, either):
    old = (datetime.now(UTC) - timedelta(days=300)).isoformat()
    records = [
        {"id": "old", "text": "tea tea tea", "created_at": old, "last_accessed": old},
        {"id": "new", "text": "tea and a long walk along the river in the rain"},
    ]
    assert acme.http.post("/v1/long-term-memory/", json={"memories": records}).status_code == 200
    late = {"recency_semantic_weight": 0.01, "recency_recency_weight": 0.99}
    for more, first in ((late, "new"), ({"recency_boost": False, **late}, "old")):
        found = ask(either, acme, "search_long_term_memory", text="tea tea tea", limit=1, **more)
        assert [one["id"] for one in found["memories"]] == [first]
        made = ask(either, acme, "memory_prompt", query="tea tea tea", limit=1, **more)
        assert [one["id"] for one in made["long_term_memories"]] == [first]


def test_words_and_likeness_may_be_weighed_and_sessions_searched(filled, web):
    ask(
        web, filled, "set_working_memory", session_id="s1",
        messages=[{"role": "user", "content": "Kubernetes is fine."}],
    )  # fmt: skip
    arguments = {"text": "Kubernetes", "search_mode": "hybrid", "recency_half_life_created_days": None}
    for alpha in (0, 1):
        found = ask(web, filled, "search_long_term_memory", hybrid_alpha=alpha, **arguments)
        assert found["memories"][0]["id"] == "m2"
    with_working = ask(web, filled, "search_long_term_memory", include_working_memory=True, **arguments)
    assert with_working["memories"][0]["text"] == "user: Kubernetes is fine."


@pytest.mark.parametrize(("more", "complaint"), [
    ({"hybrid_alpha": 2}, "hybrid_alpha: Input should be less than or equal to 1"),
    ({"recency_recency_weight": -1}, "recency_recency_weight: Input should be greater than or equal to 0"),
    ({"recency_half_life_created_days": -1}, "recency_half_life_created_days: Input should be greater"),
    ({"user_id": {"eq": None}}, "user_id: "), ({"user_id": {"like": "a"}}, "user_id: like is no operator"),
])  # fmt: skip
def test_a_search_that_cannot_be_meant_is_refused(acme, web, more, complaint):
    assert complaint in fail(web, acme, "search_long_term_memory", text="x", **more)
    assert complaint in fail(web, acme, "memory_prompt", query="x", **more)
