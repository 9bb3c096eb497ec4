# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `store`."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..calls import UNSET, Fields, Maybe
from ..group import AsyncGroup
from ..inputs import Distance, FieldVector, MatchCondition
from ..models.store import FoundStoreItems, StoreBatch, StoreItem, StoreNamespaces
from ..operations import store as does


class AsyncStoreGroup(AsyncGroup):
    """JSON items by namespace and key, found by their names, their fields or their meaning."""

    async def put(
        self,
        *,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        project: str | None = None,
        index: bool | Sequence[str] | None = None,
        ttl: float | None = None,
        vectors: Sequence[FieldVector | Mapping[str, Any]] | None = None,
    ) -> None:
        """Put an item into the store, in place of the one of that name.

        index: Paths of the fields that it is found by, such as `a.b`, `a[*].b` or `$`; `false`: none; by
          default the whole value.
        ttl: Minutes until it expires, after it was put or last read; by default never.
        vectors: The client's own, of one length, for searches by such a `vector`.
        """
        fields = {
            "namespace": namespace, "key": key, "value": value, "user_id": user_id,
            "agent_id": agent_id, "project": project, "index": index, "ttl": ttl, "vectors": vectors,
        }  # fmt: skip
        return await self._client.call(does.PUT, body=Fields(fields))

    async def get(
        self,
        *,
        key: str,
        namespace: Sequence[str],
        agent_id: Maybe[str] = UNSET,
        project: str | None = None,
        refresh_ttl: bool | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> StoreItem:
        """An item of the store.

        key: The item's key.
        project: Only of this project.
        refresh_ttl: Whether an item that expires begins to do so anew.
        """
        return await self._client.call(
            does.GET,
            query={
                "agent_id": agent_id,
                "key": key,
                "namespace": namespace,
                "project": project,
                "refresh_ttl": refresh_ttl,
                "user_id": user_id,
            },
        )

    async def delete(
        self,
        *,
        key: str,
        namespace: Sequence[str],
        agent_id: Maybe[str] = UNSET,
        project: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> None:
        """Delete an item of the store for good, if it is there.

        key: The item's key.
        project: Only of this project.
        """
        return await self._client.call(
            does.DELETE,
            query={
                "agent_id": agent_id,
                "key": key,
                "namespace": namespace,
                "project": project,
                "user_id": user_id,
            },
        )

    async def search(
        self,
        *,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        project: str | None = None,
        namespace_prefix: Sequence[str] | None = None,
        query: str | None = None,
        vector: Sequence[float] | None = None,
        distance: Distance | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        refresh_ttl: bool | None = None,
    ) -> FoundStoreItems:
        """Items below a namespace: those nearest to the query, or those put last.

        namespace_prefix: Labels that namespaces begin with; by default none.
        query: Text to be near to; empty: none.
        vector: To be near to by the client's vectors instead.
        filter: Fields of the value, each with what it equals, or with operators: `$eq`, `$ne`, `$gt`, `$gte`,
          `$lt`, `$lte`.
        """
        fields = {
            "user_id": user_id, "agent_id": agent_id, "project": project,
            "namespace_prefix": namespace_prefix, "query": query, "vector": vector,
            "distance": distance, "filter": filter, "limit": limit, "offset": offset,
            "refresh_ttl": refresh_ttl,
        }  # fmt: skip
        return await self._client.call(does.SEARCH, body=Fields(fields))

    async def namespaces(
        self,
        *,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        project: str | None = None,
        match_conditions: Sequence[MatchCondition | Mapping[str, Any]] | None = None,
        max_depth: int | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> StoreNamespaces:
        """Namespaces that hold items, in order.

        match_conditions: All of which a namespace meets; `*` stands for any one label.
        max_depth: Labels that are shown.
        """
        fields = {
            "user_id": user_id, "agent_id": agent_id, "project": project,
            "match_conditions": match_conditions, "max_depth": max_depth, "limit": limit,
            "offset": offset,
        }  # fmt: skip
        return await self._client.call(does.NAMESPACES, body=Fields(fields))

    async def batch(self, *, operations: Sequence[Mapping[str, Any]]) -> StoreBatch:
        """Several operations at once: what is read is as it was before what is written."""
        fields = {"operations": operations}
        return await self._client.call(does.BATCH, body=Fields(fields))
