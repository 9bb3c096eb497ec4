"""The helper classes of AEGIS over the server's routes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.conf import settings
from strata_memory import AsyncStrataClient
from strata_memory.aegis import RedisManager, WorkingMemory
from strata_memory.errors import InvalidAnswer, TooLarge

from tests.conftest import Member


def run(member: Member, scenario: Callable[[AsyncStrataClient], Awaitable[Any]], **options: Any) -> Any:
    async def whole() -> Any:
        async with AsyncStrataClient(str(member.http.base_url), member.key, timeout=60, **options) as client:
            return await scenario(client)

    return asyncio.run(whole())


def test_fields_are_merged_and_come_back_as_they_were(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        memory = WorkingMemory(client)
        assert await memory.get("c/1") == {}
        await memory.set("c/1", {"well_api": "42-329", "count": 3, "text": "123"})
        await memory.set("c/1", {"count": None})
        assert await memory.get("c/1") == {"well_api": "42-329", "count": None, "text": "123"}

    run(acme, scenario)


def test_scratchpad_and_entities_are_fields(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        memory = WorkingMemory(client)
        assert await memory.get_scratchpad("c") is None
        assert await memory.get_entities("c") == []
        await memory.set_scratchpad("c", "Look into well 2H.")
        await memory.set_entities("c", [{"type": "well", "id": "2H"}])
        assert await memory.get_scratchpad("c") == "Look into well 2H."
        assert await memory.get_entities("c") == [{"type": "well", "id": "2H"}]

    run(acme, scenario)


def test_some_fields_or_all_are_deleted(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        memory = WorkingMemory(client)
        await memory.set("c", {"a": 1, "b": 2, "c": 3})
        await memory.delete("c", ["a", "b"])
        await memory.delete("c", [])
        assert await memory.get("c") == {"c": 3}
        await memory.delete("c", None)
        assert await memory.get("c") == {}

    run(acme, scenario)


def test_too_much_is_written_and_told(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        memory = WorkingMemory(client)
        with pytest.raises(ValueError, match="65536"):
            await memory.set_scratchpad("c", "x" * 70_000)
        assert len(await memory.get_scratchpad("c") or "") == 70_000

    run(acme, scenario)


def test_more_than_the_server_takes_is_not_written_and_told_otherwise(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        memory = WorkingMemory(client)
        await memory.set_scratchpad("c", "before")
        with pytest.raises(ValueError, match="body") as raised:
            await memory.set_scratchpad("c", "x" * (settings.MAX_BODY_BYTES + 1))
        assert isinstance(raised.value, TooLarge)
        assert await memory.get_scratchpad("c") == "before"

    run(acme, scenario)


def test_a_client_with_a_user_means_that_users_conversations(acme: Member) -> None:
    async def write(client: AsyncStrataClient) -> None:
        await WorkingMemory(client).set("c", {"a": 1})
        await RedisManager(client).ledger_mark("c", "skill:x")
        await RedisManager(client).set("k", "v")

    async def read(client: AsyncStrataClient) -> list[Any]:
        manager = RedisManager(client)
        return [
            await WorkingMemory(client).get("c"),
            await manager.ledger_get_all("c"),
            await manager.get("k"),
        ]

    run(acme, write, user_id="ana")
    assert run(acme, read, user_id="ana") == [{"a": 1}, {"skill:x": "1"}, "v"]
    assert run(acme, read, user_id="bob") == [{}, {}, None]


def test_the_ledger_knows_what_was_injected(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        manager = RedisManager(client)
        assert not await manager.ledger_has("c", "skill:spacing")
        await manager.ledger_mark("c", "skill:spacing", "injected")
        await manager.ledger_mark("c", "entity:2H")
        assert await manager.ledger_has("c", "skill:spacing")
        assert await manager.ledger_get_all("c") == {"skill:spacing": "injected", "entity:2H": "1"}
        await manager.ledger_evict("c", "skill:spacing")
        assert not await manager.ledger_has("c", "skill:spacing")

    run(acme, scenario)


def test_one_of_several_who_claim_an_item_has_it(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> list[bool]:
        manager = RedisManager(client)
        return await asyncio.gather(*(manager.ledger_claim("c", "skill:spacing") for _ in range(4)))

    assert sorted(run(acme, scenario)) == [False, False, False, True]


def test_keys_have_values_until_they_are_deleted(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        manager = RedisManager(client)
        assert await manager.get("k/1") is None
        await manager.set("k/1", "one")
        await manager.set("k/1", "")
        assert await manager.get("k/1") == ""
        await manager.delete("k/1")
        await manager.delete("k/1")
        assert await manager.get("k/1") is None

    run(acme, scenario)


def test_numbers_and_bytes_come_back_as_text(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> list[str | None]:
        manager = RedisManager(client)
        told = []
        for value in (5, 2.5, "grün".encode()):
            await manager.set("k", value)
            told.append(await manager.get("k"))
        return told

    assert run(acme, scenario) == ["5", "2.5", "grün"]


def test_what_somebody_else_puts_under_a_key_is_no_value_of_it(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        await client.store.put(namespace=["aegis"], key="k", value={"other": 1})
        with pytest.raises(InvalidAnswer, match="holds no text"):
            await RedisManager(client).get("k")

    run(acme, scenario)


def test_a_key_may_expire(acme: Member) -> None:
    async def scenario(client: AsyncStrataClient) -> None:
        manager = RedisManager(client)
        await manager.set("k", "v", ex=1)
        end = time.monotonic() + 120
        while await manager.get("k") is not None:
            assert time.monotonic() < end
            await asyncio.sleep(0.2)

    run(acme, scenario)


def test_globex_does_not_reach_acmes_conversations(acme: Member, globex: Member) -> None:
    async def write(client: AsyncStrataClient) -> None:
        await WorkingMemory(client).set("c", {"a": 1})
        await RedisManager(client).set("k", "v")

    async def read(client: AsyncStrataClient) -> list[Any]:
        return [await WorkingMemory(client).get("c"), await RedisManager(client).get("k")]

    run(acme, write)
    assert run(globex, read) == [{}, None]
