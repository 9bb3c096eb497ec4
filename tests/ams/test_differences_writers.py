"""Where the original is broken or silent: many who write to one session or record at once."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from agent_memory_client import MemoryAPIClient
from agent_memory_client.filters import UserId
from agent_memory_client.models import ClientMemoryRecord, MemoryMessage, WorkingMemoryResponse

from tenants.policy.versions import Level, write_policy
from tests.ams.asking import SEARCH, SESSION, message, put, texts
from tests.conftest import Member
from tests.privacy.people import run_jobs

PATIENCE = 300  # seconds of the client: all at once, on a machine that may be busy
pytestmark = pytest.mark.filterwarnings("ignore:get_working_memory is deprecated:DeprecationWarning")


def test_appends_of_many_at_once_lose_nothing(acme):
    """Row: concurrency."""
    put(acme, "first")

    def append(number: int) -> int:
        body = {"messages": [message(f"m{number}")]}
        headers = {"Authorization": f"Bearer {acme.key}"}
        url = f"{acme.http.base_url}{SESSION}/messages"
        return httpx.post(url, json=body, headers=headers, timeout=PATIENCE).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(append, range(24))) == {200}
    assert sorted(texts(acme.http.get(SESSION))) == sorted(["first", *(f"m{number}" for number in range(24))])


@pytest.mark.parametrize("attempt", range(5))
@pytest.mark.parametrize("is_new", [True, False])
def test_twenty_appends_by_the_client_keep_twenty_messages(ask, is_new, attempt):
    """Row: concurrency. The client reads, adds, writes; of a new session it writes an empty one first."""
    said = [f"m{number}" for number in range(20)]

    async def append(client: MemoryAPIClient, text: str) -> WorkingMemoryResponse:
        return await client.append_messages_to_working_memory("s", [{"role": "user", "content": text}])

    async def all_at_once(client: MemoryAPIClient) -> list[str]:
        if not is_new:
            await append(client, "first")
        await asyncio.gather(*(append(client, text) for text in said))
        return [one.content for one in (await client.get_working_memory("s")).messages]

    kept = ask(all_at_once, timeout=PATIENCE)
    assert sorted(kept) == sorted(said if is_new else ["first", *said])


@pytest.mark.parametrize("has_id", [True, False])
def test_of_a_record_that_two_hundred_create_at_once_one_is_left(ask, has_id):
    """Row: concurrency. By its id, or by what it says: the client makes an id for one that has none."""

    async def create(client: MemoryAPIClient) -> None:
        record = ClientMemoryRecord(text="The sky over Oslo is pink", user_id="ana", memory_type="semantic")
        if has_id:
            record.id = "sky"
        assert (await client.create_long_term_memory([record])).status == "ok"

    async def all_at_once(client: MemoryAPIClient) -> tuple[int, list[str]]:
        await asyncio.gather(*(create(client) for _time in range(200)))
        found = await client.search_long_term_memory("", user_id=UserId(eq="ana"))
        return found.total, [one.text for one in found.memories]

    assert ask(all_at_once, timeout=PATIENCE) == (1, ["The sky over Oslo is pink"])


def test_writers_that_name_a_version_do_not_overwrite_each_other(acme):
    """Row: concurrency."""
    tag = put(acme, "hello").headers["ETag"]
    assert acme.http.get(SESSION).headers["ETag"] == tag
    done = put(acme, "hello", "mine", headers={"If-Match": tag})
    assert done.status_code == 200
    late = put(acme, "hello", "theirs", headers={"If-Match": tag})
    assert (late.status_code, late.json()) == (412, {"detail": "The session has changed since."})
    assert texts(acme.http.get(SESSION)) == ["hello", "mine"]
    body = {"messages": [message("more")]}
    assert acme.http.post(f"{SESSION}/messages", json=body, headers={"If-Match": tag}).status_code == 412
    appended = acme.http.post(f"{SESSION}/messages", json=body, headers={"If-Match": done.headers["ETag"]})
    assert texts(appended) == ["hello", "mine", "more"]


def test_a_star_matches_what_is_there(acme):
    """Row: concurrency."""
    assert put(acme, "hello", headers={"If-Match": "*"}).status_code == 412
    put(acme, "hello")
    assert put(acme, "bye", headers={"If-Match": "*"}).status_code == 200


def test_a_put_keeps_what_came_since_its_client_read(acme):
    """Row: concurrency."""
    read = put(acme, "hello").json()
    acme.http.post(f"{SESSION}/messages", json={"messages": [message("between")]})
    assert texts(put(acme, "hello", "mine", updated_at=read["updated_at"])) == ["hello", "between", "mine"]
    newest = acme.http.get(SESSION).json()["updated_at"]
    assert texts(put(acme, "only", updated_at=newest)) == ["only"]


def test_a_write_sent_again_is_done_once(acme):
    """Row: concurrency."""
    headers = {"Idempotency-Key": "k"}
    body = {"messages": [{"role": "user", "content": "hello"}]}
    for _time in range(2):
        answer = acme.http.post(f"{SESSION}/messages", json=body, headers=headers)
    assert answer.headers["Idempotency-Replayed"] == "true"
    assert texts(acme.http.get(SESSION)) == ["hello"]


HELPERS = {
    "update_working_memory_data": lambda client: client.update_working_memory_data("s", {"step": 1}),
    "set_working_memory_data": lambda client: client.set_working_memory_data("s", {"step": 1}),
    "add_memories_to_working_memory": lambda client: client.add_memories_to_working_memory(
        "s", [ClientMemoryRecord(id="r1", text="Ana likes tea", memory_type="semantic")]
    ),
}


@pytest.mark.parametrize("helper", HELPERS)
def test_what_others_add_while_a_helper_of_the_client_reads_and_writes_stays(acme, ask, helper):
    """Row: concurrency. The helpers send a new object, which does not say what was read."""
    put(acme, "first")

    async def meanwhile(client: MemoryAPIClient) -> list[str]:
        read = client.get_or_create_working_memory

        async def read_and_be_late(*args: object, **named: object) -> object:
            found = await read(*args, **named)
            acme.http.post(f"{SESSION}/messages", json={"messages": [message("between")]})
            return found

        client.get_or_create_working_memory = read_and_be_late
        await HELPERS[helper](client)
        return [one.content for one in (await client.get_working_memory("s")).messages]

    assert ask(meanwhile) == ["first", "between"]


def test_the_data_is_what_the_last_writer_says(ask):
    """Row: concurrency. Who sends back the object that was read keeps what came since but the data."""

    async def one_after_the_other(client: MemoryAPIClient) -> WorkingMemoryResponse:
        _created, read = await client.get_or_create_working_memory("s")
        await client.update_working_memory_data("s", {"theirs": 1})
        await client.append_messages_to_working_memory("s", [MemoryMessage(role="user", content="hello")])
        return await client.put_working_memory("s", read.model_copy(update={"data": {"mine": 1}}))

    done = ask(one_after_the_other)
    assert ([one.content for one in done.messages], done.data) == (["hello"], {"mine": 1})


LONG = [message(f"m{number}", content=f"m{number} {'word ' * 76}") for number in range(1, 9)]
WINDOW = 300  # tokens: it shows three of these, which have 100 each


async def append_by_helper(client: MemoryAPIClient) -> WorkingMemoryResponse:
    return await client.append_messages_to_working_memory("s", [LONG[0] | {"id": "new"}])


async def write_data_by_helper(client: MemoryAPIClient) -> WorkingMemoryResponse:
    return await client.update_working_memory_data("s", {"step": 1})


async def say_the_last_anew(client: MemoryAPIClient) -> WorkingMemoryResponse:
    read = await client.get_working_memory("s")
    said = [*read.messages[:-1], MemoryMessage(role="user", content="m8 in other words")]
    return await client.put_working_memory("s", read.model_copy(update={"messages": said}))


@pytest.mark.parametrize("write", [append_by_helper, write_data_by_helper, say_the_last_anew])
@pytest.mark.parametrize("others", [False, True])
def test_what_the_window_of_the_client_does_not_show_becomes_a_summary(acme, ask, write, others):
    """Row: concurrency. It reads with the window that it is configured with, and sends that back."""
    acme.http.put(SESSION, json={"messages": LONG})

    async def meanwhile(client: MemoryAPIClient) -> WorkingMemoryResponse:
        read = client.get_working_memory

        async def read_and_be_late(*args: object, **named: object) -> WorkingMemoryResponse:
            found = await read(*args, **named)
            assert [one.id for one in found.messages] == ["m6", "m7", "m8"]
            if others:
                acme.http.post(f"{SESSION}/messages", json={"messages": [message("between")]})
            return found

        client.get_working_memory = read_and_be_late
        return await write(client)

    done = ask(meanwhile, default_context_window_max=WINDOW)
    assert '"m1 word' in done.context
    said = int(re.match(r"Session with (\d+) messages", done.context)[1]) + len(done.messages)
    assert said == 8 + others + (write is append_by_helper)


def test_where_no_summaries_are_wanted_it_stays(acme, ask):
    """Row: concurrency."""
    write_policy(level=Level(acme.tenant.id), actor="test", changes={"write": {"episodes": "off"}})
    acme.http.put(SESSION, json={"messages": LONG})
    done = ask(append_by_helper, default_context_window_max=WINDOW)
    assert [one.id for one in done.messages] == [*(one["id"] for one in LONG), "new"]


def test_what_a_client_leaves_out_itself_is_gone(acme):
    """Row: concurrency. A list that begins elsewhere than what was shown is all there shall be."""
    acme.http.put(SESSION, json={"messages": LONG})
    url = f"{SESSION}?context_window_max={WINDOW}"
    read = acme.http.get(url).json()
    done = acme.http.put(url, json=read | {"messages": read["messages"][1:]}).json()
    assert [one["id"] for one in done["messages"]] == ["m7", "m8"]
    assert acme.http.put(url, json=done | {"messages": []}).json()["messages"] == []
    assert acme.http.get(SESSION).json()["context"] is None


def records_of(acme: Member) -> list[str]:
    found = acme.http.post(SEARCH, json={"limit": 100}).json()
    assert found["total"] == len(found["memories"])
    return sorted(one["text"] for one in found["memories"])


@pytest.mark.parametrize("tool", [True, False])
def test_records_that_many_keep_with_one_session_at_once_are_all_remembered(acme, ask, tool):
    """Row: concurrency. The tool for language models, and the helper, each read, add and write."""
    made = sorted(f"Gadget {number} weighs {number * 17 + 3} kg" for number in range(20))

    async def keep(client: MemoryAPIClient, text: str) -> None:
        if tool:
            given = {"text": text, "memory_type": "semantic"}
            name = "lazily_create_long_term_memory"
            done = await client.resolve_function_call(name, given, session_id="s", user_id="bob")
            assert done["success"], done
        else:
            record = ClientMemoryRecord(text=text, memory_type="semantic")
            await client.add_memories_to_working_memory("s", [record])

    async def all_at_once(client: MemoryAPIClient) -> None:
        await asyncio.gather(*(keep(client, text) for text in made))

    policy = {"records": {"deduplication_distance": 0.0}}
    write_policy(level=Level(acme.tenant.id), actor="test", changes=policy)
    ask(all_at_once, timeout=PATIENCE)
    run_jobs()
    assert records_of(acme) == made


def test_records_outlive_what_comes_next(acme):
    """Row: records that wait."""
    records = [{"id": "a", "text": "The red pump leaks."}, {"id": "b", "text": "Oslo lies in Norway."}]
    for record in records:
        shown = acme.http.put(SESSION, json={"memories": [record]}).json()["memories"]
        assert [one["id"] for one in shown] == [record["id"]]
    assert acme.http.delete(SESSION, headers={"Idempotency-Key": "k"}).json() == {"status": "ok"}
    assert acme.http.get(SESSION).status_code == 404
    run_jobs()
    assert records_of(acme) == ["Oslo lies in Norway.", "The red pump leaks."]


def test_of_two_messages_with_one_id_the_last_counts(acme):
    """Row: one id twice."""
    body = {"messages": [message("x", id="1"), message("z"), message("y", id="1")]}
    assert texts(acme.http.put(SESSION, json=body)) == ["y", "z"]
    more = {"messages": [message("x", id="2"), message("w"), message("y", id="2")]}
    assert texts(acme.http.post(f"{SESSION}/messages", json=more)) == ["y", "z", "y", "w"]
