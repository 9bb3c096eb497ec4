"""Where the original is broken or silent: what a session keeps, for how long, and for whom."""

import time

import pytest
from agent_memory_client import MemoryAPIClient
from django_redis import get_redis_connection

from tests.ams.asking import SESSION, message, put, texts
from working import keys
from working.types import SessionRef

pytestmark = pytest.mark.filterwarnings("ignore:get_working_memory is deprecated:DeprecationWarning")


def test_the_user_of_the_query_is_before_that_of_the_body(acme):
    """Row: user on PUT."""
    url = f"{SESSION}?user_id=ana"
    done = acme.http.put(url, json={"messages": [message("hello")], "user_id": "bob"}).json()
    assert done["user_id"] == "ana"
    assert acme.http.get(url).status_code == 200
    assert acme.http.get(f"{SESSION}?user_id=bob").status_code == 404


def test_a_session_is_held_for_an_hour_unless_it_says_how_long(acme):
    """Row: TTL."""
    assert put(acme, "hello").json()["ttl_seconds"] == 3_600
    assert put(acme, "hello", ttl_seconds=None).json()["ttl_seconds"] == 3_600
    assert put(acme, "hello", ttl_seconds=60).json()["ttl_seconds"] == 60


def test_a_session_whose_hold_is_over_is_not_found(acme):
    """Row: TTL."""
    put(acme, "hello", ttl_seconds=1)
    deadline = time.monotonic() + 120
    while acme.http.get(SESSION).status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert acme.http.get(SESSION).status_code == 404


def test_a_session_without_a_hold_is_there_when_redis_has_let_it_go(acme, browser, put_here, settings):
    """Row: TTL."""
    settings.AMS_TTL_SECONDS = 0
    done = put_here("hello", "bye", data={"step": 1}, context="They met.")
    assert done["ttl_seconds"] is None
    ref = SessionRef(tenant_id=acme.tenant.id, namespace="", user_id="", session_id="s")
    assert get_redis_connection().delete(*keys.all_of(ref)) > 0
    assert browser.get(SESSION).json() == done


def test_more_messages_than_the_window_takes_leave_a_summary(browser, put_here, settings):
    """Row: window."""
    settings.WINDOW_SIZE = 10
    numbered = [f"m{number}" for number in range(11)]
    assert len(put_here(*numbered[:10])["messages"]) == 10
    done = put_here(*numbered)
    assert [one["id"] for one in done["messages"]] == ["m7", "m8", "m9", "m10"]
    assert done["context"].startswith("Session with 7 messages.")
    assert browser.get(SESSION).json()["context"] == done["context"]


def test_so_do_more_tokens_than_seven_tenths_of_the_window(put_here, settings):
    """Row: window. Whichever is reached first: here it is not the number of messages."""
    long = [f"m{number} {'word ' * 76}" for number in range(8)]  # of 100 tokens each
    for count, left in ((6, 6), (8, 4)):
        done = put_here(*long[:count], window=1_000)
        assert len(done["messages"]) == left
    assert done["context"].startswith("Session with 4 messages.")
    settings.SUMMARIZATION_THRESHOLD = 0.9
    other = put_here(*long, window=1_000, session="other")
    assert (len(other["messages"]), other["context"]) == (8, None)


def test_how_full_the_window_is_counts_up_to_the_summary(put_here):
    """Row: window."""
    done = put_here("hello there", window=100)
    used, until = done["context_percentage_total_used"], done["context_percentage_until_summarization"]
    assert 0 < used < until
    assert until == pytest.approx(used / 0.7)


def test_null_is_left_out_of_data(acme):
    """Row: nulls."""
    assert put(acme, "hello", data={"a": None, "b": {"c": None}}).json()["data"] == {"b": {"c": None}}
    assert acme.http.get(SESSION).json()["data"] == {"b": {"c": None}}


def test_who_reads_a_session_without_data_can_add_to_it(acme, ask):
    """Row: nulls. As with the original, what is written is told as it came."""
    assert put(acme, "hello").json()["data"] is None
    assert acme.http.get(SESSION).json()["data"] == {}

    async def add(client: MemoryAPIClient) -> dict[str, object]:
        _created, memory = await client.get_or_create_working_memory("s")
        memory.data["step"] = 1
        return (await client.put_working_memory("s", memory)).data

    assert ask(add) == {"step": 1}


def test_no_size_is_refused_that_aegis_would_refuse(acme):
    """Row: 64 KB."""
    answer = put(acme, "hello", data={"a": "x" * 100_000})
    assert answer.status_code == 200
    assert len(acme.http.get(SESSION).json()["data"]["a"]) == 100_000
    aegis = acme.http.put("/working-memory/other", json={"data": {"a": "x" * 100_000}})
    assert aegis.status_code == 413


def test_a_session_is_found_by_the_user_and_namespace_that_it_was_written_with(acme):
    """Row: isolation."""
    put(acme, "hello", user_id="ana", namespace="shop")
    found = [
        acme.http.get(SESSION, params=query).status_code
        for query in (
            {"user_id": "ana", "namespace": "shop"},
            {"user_id": "ana"},
            {"namespace": "shop"},
            {"user_id": "bob", "namespace": "shop"},
            {},
        )
    ]
    assert found == [200, 404, 404, 404, 404]


@pytest.mark.parametrize("name", ["model-of-tomorrow", "any/thing at:all ü"])
def test_a_model_that_is_unknown_has_the_usual_window(acme, name):
    """Row: model_name."""
    body = {"messages": [message("m", content="hello there " * 100)]}
    used = [
        acme.http.put(SESSION, params=query, json=body).json()["context_percentage_total_used"]
        for query in ({"model_name": name}, {"context_window_max": 16_000})
    ]
    assert used[0] == used[1] > 0
    assert acme.http.get(SESSION, params={"model_name": name}).status_code == 200


def test_a_missing_session_may_be_an_empty_one(browser, settings):
    """Row: missing session."""
    answer = browser.get(SESSION)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Session s not found"})
    settings.MISSING_SESSION = "empty"
    answer = browser.get(f"{SESSION}?user_id=ana&namespace=shop&context_window_max=100")
    assert answer.status_code == 200
    found = answer.json()
    assert found["unsaved"] is True
    assert (found["session_id"], found["user_id"], found["namespace"]) == ("s", "ana", "shop")
    assert (found["messages"], found["memories"], found["data"], found["context"]) == ([], [], {}, None)
    assert found["context_percentage_total_used"] == 0
    assert browser.get(SESSION).json()["context_percentage_total_used"] is None


def test_a_message_that_another_client_has_left_empty_is_sent_back(acme):
    """Row: concurrency. Whoever has read it sends it again with the rest."""
    turns = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": ""}]
    acme.http.post("/api/v1/sessions/s/turns", json={"turns": turns})
    read = acme.http.get(SESSION).json()
    read["messages"].append(message("bye"))
    assert texts(acme.http.put(SESSION, json=read)) == ["hello", "", "bye"]
    read["messages"].append(message("new", content=""))
    answer = acme.http.put(SESSION, json=read)
    told = {"detail": "Message content cannot be empty (message ID: new)"}
    assert (answer.status_code, answer.json()) == (400, told)
