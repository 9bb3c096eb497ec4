"""The two clients."""

import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from .addresses import address_of_environment
from .asynchronous import AsyncGroups
from .blocking import Groups
from .buffer import DiskBuffer
from .calls import UNSET, Call, Maybe, Operation, Unset, build
from .portal import portal
from .sending import Sender
from .streaming import EventStream, LiveEvent, waited_for
from .transport import Transport, secret

T = TypeVar("T")


class _Client:
    """What both are made of; whose memory is meant where a call does not say."""

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        timeout: float = 10.0,
        retries: int = 2,
        buffer: DiskBuffer | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._user_id, self._agent_id = user_id, agent_id
        self._sender = Sender(
            Transport(url, secret(api_key), transport), timeout=timeout, retries=retries, buffer=buffer
        )
        self._begin()

    def _begin(self) -> None:
        """Makes the groups of calls."""
        raise NotImplementedError

    @classmethod
    def from_env(cls, **options: Any) -> Self:
        """The client of STRATA_URL, else of the server that run.json names, if it is on this machine: `make
        run` writes it to MEMORY_HOME, or .memory of the current folder; else of http://127.0.0.1:8002. The
        key is STRATA_API_KEY, else that in run.json, which only its own server gets; it may lack where the
        server asks for none. `options` as those of the class."""
        address = address_of_environment()
        return cls(address.url, address.api_key, **options)

    @property
    def user_id(self) -> str | None:
        """Whose memory is meant where a call does not say."""
        return self._user_id

    @property
    def agent_id(self) -> str | None:
        """Which agent's memory is meant where a call does not say."""
        return self._agent_id

    def bound(
        self,
        *,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        timeout: float | None = None,
    ) -> Self:
        """The same connections, meaning another user or agent, or with another deadline in seconds."""
        other = object.__new__(type(self))
        other._sender = self._sender if timeout is None else self._sender.within(timeout)
        other._user_id = self._user_id if isinstance(user_id, Unset) else user_id
        other._agent_id = self._agent_id if isinstance(agent_id, Unset) else agent_id
        other._begin()
        return other

    def _built(self, operation: Operation[Any], **parts: Any) -> Call:
        return build(operation, defaults={"user_id": self._user_id, "agent_id": self._agent_id}, **parts)

    def _stream(
        self,
        *,
        session_id: str | None,
        user_id: Maybe[str],
        agent_id: Maybe[str],
        event_types: Sequence[str],
        after: str | None,
        patience: float,
    ) -> AsyncGenerator[LiveEvent, None]:
        query = {
            "session_id": session_id,
            "user_id": self._user_id if isinstance(user_id, Unset) else user_id,
            "agent_id": self._agent_id if isinstance(agent_id, Unset) else agent_id,
            "event_types": list(event_types),
        }
        sender = self._sender
        stream = EventStream(
            sender.transport, query=query, after=after, timeout=sender.timeout, patience=patience
        )
        return stream.events()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sender.transport.url!r})"


class StrataClient(_Client, Groups):
    """A client whose calls wait for their answer. May be shared by threads.

    `api_key`: may lack where the server takes callers without one, as that of `make run` does on loopback.
    `timeout`: seconds for a whole call, retries included. `retries`: further attempts where no connection
    could be had or the server was busy. `buffer`: keeps writes while the server is away.
    """

    def _begin(self) -> None:
        Groups.__init__(self, self)

    def call(
        self,
        operation: Operation[T],
        *,
        path: Sequence[str] = (),
        query: Mapping[str, Any] | None = None,
        body: Any = UNSET,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> T:
        """Does an operation; what the methods of the groups do. Raises a StrataError."""
        call = self._built(operation, path=path, query=query, body=body, form=form, headers=headers)
        return operation.read(portal().run(self._sender.send(call)))

    def download(
        self, operation: Operation[bytes], *, path: Sequence[str], to: str | os.PathLike[str]
    ) -> int:
        """Writes what the operation answers to the file `to` and returns its size in bytes."""
        return portal().run(self._sender.download(self._built(operation, path=path), Path(to)))

    def stream(
        self,
        *,
        session_id: str | None = None,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        event_types: Sequence[str] = (),
        after: str | None = None,
        patience: float = 300.0,
    ) -> Generator[LiveEvent, None, None]:
        """The events of sessions as they are committed, without end; what they are of may be narrowed.
        Closing it, or dropping it, ends the connection a moment later.

        after: Go on behind this cursor; `0`: from the beginning of the log. Without it, from now on.
        patience: Seconds without the server, after which the stream raises what the last attempt did.
        """
        events = self._stream(
            session_id=session_id,
            user_id=user_id,
            agent_id=agent_id,
            event_types=event_types,
            after=after,
            patience=patience,
        )
        return waited_for(events)

    def flush(self, *, of_all_keys: bool = False, timeout: float | None = None) -> int:
        """Sends what waits in the buffer and returns how many writes that were; those that the server
        refuses are in `buffer.refused()`. `of_all_keys`: what was kept for this server under another key,
        too, as this one's, if it never left. `timeout`: seconds for all of it; without it, each write has
        those of a call, and another process that sends is waited for. Raises ConnectionFailed,
        DeadlineExceeded, InvalidAnswer, RateLimited, ServerError or Unauthenticated while the server is
        still away."""
        return portal().run(self._sender.flush(of_all_keys=of_all_keys, timeout=timeout))

    def close(self) -> None:
        """Closes the connections; the next call opens new ones."""
        portal().run(self._sender.transport.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncStrataClient(_Client, AsyncGroups):
    """A client whose calls are awaited, under asyncio. The arguments are those of `StrataClient`."""

    def _begin(self) -> None:
        AsyncGroups.__init__(self, self)

    async def call(
        self,
        operation: Operation[T],
        *,
        path: Sequence[str] = (),
        query: Mapping[str, Any] | None = None,
        body: Any = UNSET,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> T:
        """Does an operation; what the methods of the groups do. Raises a StrataError."""
        call = self._built(operation, path=path, query=query, body=body, form=form, headers=headers)
        return operation.read(await self._sender.send(call))

    async def download(
        self, operation: Operation[bytes], *, path: Sequence[str], to: str | os.PathLike[str]
    ) -> int:
        """Writes what the operation answers to the file `to` and returns its size in bytes."""
        return await self._sender.download(self._built(operation, path=path), Path(to))

    def stream(
        self,
        *,
        session_id: str | None = None,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        event_types: Sequence[str] = (),
        after: str | None = None,
        patience: float = 300.0,
    ) -> AsyncGenerator[LiveEvent, None]:
        """As `StrataClient.stream`, awaited."""
        return self._stream(
            session_id=session_id,
            user_id=user_id,
            agent_id=agent_id,
            event_types=event_types,
            after=after,
            patience=patience,
        )

    async def flush(self, *, of_all_keys: bool = False, timeout: float | None = None) -> int:
        """As `StrataClient.flush`."""
        return await self._sender.flush(of_all_keys=of_all_keys, timeout=timeout)

    async def close(self) -> None:
        """Closes the connections; the next call opens new ones."""
        await self._sender.transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
