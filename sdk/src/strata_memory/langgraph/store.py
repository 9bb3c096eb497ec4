"""LangGraph's store over a Strata server: what PostgresStore and AsyncPostgresStore are over a database."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal, Self

from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    NOT_PROVIDED,
    BaseStore,
    ListNamespacesOp,
    NotProvided,
    Op,
    Result,
    SearchItem,
    TTLConfig,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore

from ..client import AsyncStrataClient, StrataClient
from .indexing import Index, StrataIndexConfig
from .operations import Vectors, checked, texts
from .strict import check_json
from .talking import Talk

LOOK = ListNamespacesOp(limit=1)  # what a store asks to see whether it is answered
TIMEOUT = 30.0  # seconds of a batch: a thousand new items are embedded in it


class _Configured:
    """What both stores know: how items are indexed and how long they live, and whose they are."""

    supports_ttl = True

    def _configure(
        self,
        client: StrataClient | AsyncStrataClient,
        *,
        index: StrataIndexConfig | None,
        ttl: TTLConfig | None,
        project: str | None,
        timeout: float,
    ) -> None:
        self.index_config = index
        self.ttl_config = ttl
        self._index = Index(index)
        self._timeout = timeout
        scope = {"user_id": client.user_id, "agent_id": client.agent_id, "project": project}
        self._scope = {name: value for name, value in scope.items() if value is not None}

    @property
    def embeddings(self) -> Embeddings | None:
        """What `embed` stands for; None where the server embeds."""
        return self._index.embeddings

    def _talk(self, batch: list[Op], vectors: Vectors) -> Talk:
        return Talk(batch, index=self._index, vectors=vectors, scope=self._scope, timeout=self._timeout)


class StrataStore(_Configured, BaseStore):
    """A store whose calls wait for their answer; in place of PostgresStore. May be shared by threads.

    Items belong to the client's user and agent and to `project`; whoever reads with others of these has other
    items. `index` as PostgresStore takes it: with `embed` the vectors are computed here. Without it, or
    without `index`, the server embeds, and a search by `query` works all the same. `timeout`: seconds for a
    batch, with all requests that it takes; the embedding that is done here is not counted.

    Everything raises a StrataError for what the server refuses or does not answer, and InvalidNamespaceError,
    ValueError or TypeError for what cannot be sent: values are JSON, and nothing is translated into it.
    """

    def __init__(
        self,
        client: StrataClient,
        *,
        index: StrataIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        project: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        super().__init__()
        self._configure(client, index=index, ttl=ttl, project=project, timeout=timeout)
        self._client = client

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        url: str,
        *,
        api_key: str | None = None,
        pipeline: bool = False,
        pool_config: Mapping[str, Any] | None = None,
        index: StrataIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        project: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Iterator[Self]:
        """A store with its own connections, until the end of the block. Without `api_key`: STRATA_API_KEY.
        `pipeline` and `pool_config` are taken as PostgresStore takes them, and mean nothing here."""
        with StrataClient(url, _key(api_key), user_id=user_id, agent_id=agent_id, timeout=timeout) as client:
            yield cls(client, index=index, ttl=ttl, project=project, timeout=timeout)

    def setup(self) -> None:
        """Nothing is to be set up; sees whether the server answers this key. Raises a StrataError."""
        self.batch([LOOK])

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The operations in one request, if they fit; reads see what was before the writes."""
        batch = checked(ops)
        return self._ask(batch, self._index.embed(texts(batch, self._index)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, in a thread; an asynchronous `embed` is awaited."""
        batch = checked(ops)
        vectors = await self._index.aembed(texts(batch, self._index))
        return await asyncio.to_thread(self._ask, batch, vectors)

    def start_ttl_sweeper(self, sweep_interval_minutes: int | None = None) -> Future[None]:
        """The server sweeps, whoever runs; a future that is done."""
        future: Future[None] = Future()
        future.set_result(None)
        return future

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Nothing runs here: True."""
        return True

    def sweep_ttl(self) -> int:
        """What has expired is no longer answered, and the server deletes it: none are left to this call."""
        return 0

    def _ask(self, batch: list[Op], vectors: Vectors) -> list[Result]:
        talk = self._talk(batch, vectors)
        while talk.wires:
            talk.take(self._client.bound(timeout=talk.left()).call(talk.operation, body=talk.body))
        return talk.results


class AsyncStrataStore(_Configured, AsyncBatchedBaseStore):
    """A store whose calls are awaited; in place of AsyncPostgresStore. Made where an event loop runs.

    What is called at the same time goes in one batch, and a batch in one request: what the server refuses in
    it fails all of them, what cannot be sent only its own call. The blocking methods serve other threads than
    the loop's, where they raise asyncio.InvalidStateError. All else as `StrataStore`.
    """

    def __init__(
        self,
        client: AsyncStrataClient,
        *,
        index: StrataIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        project: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        super().__init__()
        self._configure(client, index=index, ttl=ttl, project=project, timeout=timeout)
        self._client = client

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls,
        url: str,
        *,
        api_key: str | None = None,
        pipeline: bool = False,
        pool_config: Mapping[str, Any] | None = None,
        index: StrataIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        project: str | None = None,
        timeout: float = TIMEOUT,
    ) -> AsyncIterator[Self]:
        """As StrataStore's."""
        async with AsyncStrataClient(
            url, _key(api_key), user_id=user_id, agent_id=agent_id, timeout=timeout
        ) as client:
            yield cls(client, index=index, ttl=ttl, project=project, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing: the client is its maker's to close."""

    async def setup(self) -> None:
        """As StrataStore's."""
        await self.abatch([LOOK])

    async def aput(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Puts an item. Raises TypeError or ValueError before others' calls are joined with it."""
        limit = None if isinstance(ttl, NotProvided) else ttl
        check_json(value=value and dict(value), index=index, ttl=limit)
        await super().aput(namespace, key, value, index, ttl=ttl)

    async def asearch(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Items below a namespace. Raises as `aput` does."""
        check_json(filter=filter, limit=limit, offset=offset)
        return await super().asearch(
            namespace_prefix,
            query=query,
            filter=filter,
            limit=limit,
            offset=offset,
            refresh_ttl=refresh_ttl,
        )

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `StrataStore.batch`."""
        batch = checked(ops)
        vectors = await self._index.aembed(texts(batch, self._index))
        talk = self._talk(batch, vectors)
        while talk.wires:
            talk.take(await self._client.bound(timeout=talk.left()).call(talk.operation, body=talk.body))
        return talk.results

    async def start_ttl_sweeper(self, sweep_interval_minutes: int | None = None) -> asyncio.Task[None]:
        """As StrataStore's; a task that ends by itself."""
        return asyncio.create_task(asyncio.sleep(0))

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """As StrataStore's."""
        return True

    async def sweep_ttl(self) -> int:
        """As StrataStore's."""
        return 0


def _key(given: str | None) -> str | None:
    """Without one too, a server may answer."""
    return os.environ.get("STRATA_API_KEY") if given is None else given
