"""Where the original's client names no user: whose session its convenience methods read and write."""

import pytest
from agent_memory_client import MemoryAPIClient
from agent_memory_client.models import ClientMemoryRecord

from tests.ams.asking import SESSION, ids, put, search
from tests.ams.conftest import ask_as

pytestmark = pytest.mark.filterwarnings("ignore:get_working_memory is deprecated:DeprecationWarning")


async def write_without_a_user(client: MemoryAPIClient) -> None:
    await client.set_working_memory_data("s", {"step": 2})
    await client.add_memories_to_working_memory("s", [ClientMemoryRecord(id="tea", text="Ana likes tea")])
    await client.promote_working_memories_to_long_term("s")


def test_methods_without_a_user_reach_the_session_of_nobody(acme):
    """Row: methods without a user. It stands beside the user's, which they leave as it is."""
    put(acme, "hello", user_id="ana", data={"step": 1})
    ask_as(acme, write_without_a_user)
    nobodys, anas = acme.http.get(SESSION).json(), acme.http.get(f"{SESSION}?user_id=ana").json()
    assert (nobodys["user_id"], nobodys["data"], nobodys["messages"]) == (None, {"step": 2}, [])
    assert [one["id"] for one in nobodys["memories"]] == ["tea"]
    assert (anas["data"], len(anas["messages"]), anas["memories"]) == ({"step": 1}, 1, [])
    assert ids(search(acme, user_id={"eq": "ana"})) == []


def test_with_a_key_of_the_user_they_reach_the_users_session(acme):
    """Row: methods without a user. The remedy: every call is that user's."""
    ana = acme.with_key(user_id="ana")
    put(ana, "hello", data={"step": 1})
    ask_as(ana, write_without_a_user)
    found = acme.http.get(f"{SESSION}?user_id=ana").json()
    assert (found["user_id"], found["data"], len(found["messages"])) == ("ana", {"step": 2}, 1)
    assert [one["id"] for one in found["memories"]] == ["tea"]
    assert acme.http.get(SESSION).status_code == 404
    assert ids(search(acme, user_id={"eq": "ana"})) == ["tea"]
