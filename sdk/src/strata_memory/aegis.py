"""The helper classes of AEGIS, over a Strata server: what an agent works with, and what it was told already.

    memory = WorkingMemory(AsyncStrataClient(url, api_key))
    await memory.set("c1", {"well_api": "42-329-12345"})

Both take an `AsyncStrataClient`; without one, they make that of `AsyncStrataClient.from_env()`, and `close()`
or `async with` closes it. A client with a `user_id`
means that user's conversations. Every call raises the `StrataError`s of the client.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

from typing_extensions import TypedDict  # pydantic reads it, on Python 3.11 too

from .calls import UNSET, Operation
from .client import AsyncStrataClient
from .errors import InvalidAnswer, NotFound, TooLarge

__all__ = ["OverTheLimit", "RedisManager", "WorkingMemory"]

T = TypeVar("T")


class _Merged(TypedDict):
    data: dict[str, Any]


class _Deleted(TypedDict):
    deleted: list[str]


class _Checked(TypedDict):
    injected: bool


class _Marked(TypedDict):
    marked: bool


class _Claimed(TypedDict):
    claimed: bool


class _Evicted(TypedDict):
    evicted: bool


_WORKING, _LEDGER = "/working-memory/{}", "/ledger/{}"
_READ_FIELDS: Operation[dict[str, Any]] = Operation("GET", _WORKING, dict[str, Any])
_MERGE_FIELDS: Operation[_Merged] = Operation("PUT", _WORKING, _Merged, is_write=True)
_DELETE_FIELDS: Operation[_Deleted] = Operation("DELETE", _WORKING, _Deleted, is_write=True)
_READ_LEDGER: Operation[dict[str, str]] = Operation("GET", _LEDGER, dict[str, str])
_CHECK: Operation[_Checked] = Operation("POST", _LEDGER + "/check", _Checked)
_MARK: Operation[_Marked] = Operation("POST", _LEDGER + "/mark", _Marked, is_write=True)
_CLAIM: Operation[_Claimed] = Operation("POST", _LEDGER + "/claim", _Claimed, is_write=True)
_EVICT: Operation[_Evicted] = Operation("POST", _LEDGER + "/evict", _Evicted, is_write=True)
SHARED = ("aegis",)  # the namespace of the store that holds the keys
_OF_USER: Mapping[str, Any] = {"user_id": UNSET}


class OverTheLimit(TooLarge, ValueError):
    """413 for fields: the ValueError of AEGIS, with all that the client tells of a refusal."""


class _Helper:
    """A client that it was given, which others use too, or one of its own."""

    def __init__(self, client: AsyncStrataClient | None = None) -> None:
        self._client = client or AsyncStrataClient.from_env()
        self._is_own = client is None

    async def close(self) -> None:
        """Closes the connections of its own client; one that it was given stays open."""
        if self._is_own:
            await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class WorkingMemory(_Helper):
    """The fields of a conversation, for 24 hours from their last use, up to 64 KB of them together."""

    async def get(self, conversation_id: str) -> dict[str, Any]:
        """All fields, held for another 24 hours; empty for an unknown conversation."""
        return await self._client.call(_READ_FIELDS, path=[conversation_id], query=_OF_USER)

    async def set(self, conversation_id: str, data: dict[str, Any]) -> None:
        """Merges fields. Raises OverTheLimit, a ValueError, when they take more than 64 KB then: they are
        written all the same, unless the server is set to refuse them, and the message says which. It raises
        it too for a request longer than the server takes (1 MiB unless it was told otherwise), of which
        nothing is written; the `TooLarge` of the client is its cause.
        """
        try:
            await self._client.call(
                _MERGE_FIELDS, path=[conversation_id], query=_OF_USER, body={"data": data}
            )
        except TooLarge as error:
            raise OverTheLimit(
                error.status, error.detail, errors=error.errors, retry_after=error.retry_after
            ) from error

    async def delete(self, conversation_id: str, fields: Sequence[str] | None = None) -> None:
        """Deletes those fields, or all. They are named in the query: without them the same request would mean
        all, and proxies drop the body of a DELETE."""
        if fields is None or fields:
            query = {**_OF_USER, "fields": fields}
            await self._client.call(_DELETE_FIELDS, path=[conversation_id], query=query)

    async def set_scratchpad(self, conversation_id: str, content: str) -> None:
        """Writes the notes of the conversation. Raises as `set` does."""
        await self.set(conversation_id, {"scratchpad": content})

    async def get_scratchpad(self, conversation_id: str) -> str | None:
        """The notes of the conversation."""
        notes: str | None = (await self.get(conversation_id)).get("scratchpad")
        return notes

    async def set_entities(self, conversation_id: str, entities: list[dict[str, Any]]) -> None:
        """Writes the entities of the conversation. Raises as `set` does."""
        await self.set(conversation_id, {"entities": entities})

    async def get_entities(self, conversation_id: str) -> list[dict[str, Any]]:
        """The entities of the conversation; none in an unknown one."""
        return (await self.get(conversation_id)).get("entities") or []


class RedisManager(_Helper):
    """Keys with a value, and the ledger of what was injected into a conversation.

    The keys are items of the server's store, in the scope of the client's API key: they stay until they are
    deleted, or for the seconds that `set` names. Values are text, as the answers of Redis are decoded.
    """

    async def get(self, key: str) -> str | None:
        """The value of the key. Reading does not hold it any longer. Raises InvalidAnswer for an item that
        somebody else has put under this name."""
        try:
            item = await self._client.store.get(namespace=SHARED, key=key, refresh_ttl=False)
        except NotFound:
            return None
        value = item.value.get("value")
        if not isinstance(value, str):
            raise InvalidAnswer(f"The item {key!r} of the namespace {SHARED[0]!r} holds no text.")
        return value

    async def set(self, key: str, value: str | float | bytes, ex: int | None = None) -> None:
        """Writes the value of the key, for `ex` seconds or until it is deleted. Numbers become their digits,
        and bytes the text that they are in UTF-8, as through Redis. Raises TypeError for any other value, and
        ValueError for bytes that are no text, and for a time that is not above zero."""
        if ex is not None and not ex > 0:
            raise ValueError("A key lives for a number of seconds above zero.")
        await self._client.store.put(
            namespace=SHARED,
            key=key,
            value={"value": _text(value)},
            index=False,
            ttl=None if ex is None else ex / 60,
        )

    async def delete(self, key: str) -> None:
        """Deletes the key, if it is there."""
        await self._client.store.delete(namespace=SHARED, key=key)

    async def ledger_has(self, conversation_id: str, item_key: str) -> bool:
        """Whether the item was injected into the conversation."""
        return bool((await self._ledger(_CHECK, conversation_id, item_key=item_key))["injected"])

    async def ledger_mark(self, conversation_id: str, item_key: str, value: str = "1") -> None:
        """The item was injected."""
        await self._ledger(_MARK, conversation_id, item_key=item_key, value=value)

    async def ledger_claim(self, conversation_id: str, item_key: str) -> bool:
        """Marks the item unless it is marked: of several who ask at once, one is told to inject it."""
        return bool((await self._ledger(_CLAIM, conversation_id, item_key=item_key))["claimed"])

    async def ledger_evict(self, conversation_id: str, item_key: str) -> None:
        """The item may be injected again."""
        await self._ledger(_EVICT, conversation_id, item_key=item_key)

    async def ledger_get_all(self, conversation_id: str) -> dict[str, str]:
        """All items that were injected, and what they are marked with."""
        return await self._client.call(_READ_LEDGER, path=[conversation_id], query=_OF_USER)

    def _ledger_key(self, conversation_id: str) -> str:
        """The name that AEGIS gives the ledger in Redis; here the server keeps it."""
        return f"skill:ledger:{conversation_id}"

    async def _ledger(self, operation: Operation[T], conversation_id: str, **item: str) -> T:
        return await self._client.call(operation, path=[conversation_id], query=_OF_USER, body=item)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise ValueError("The value of a key is text: these bytes are not UTF-8.") from None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"The value of a key is text or a number, not {type(value).__name__}.")
    return str(value)
