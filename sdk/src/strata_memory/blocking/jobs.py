# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `jobs`."""

import os
from collections.abc import Iterator

from ..group import Group
from ..models.jobs import JobPage
from ..models.several import Job
from ..operations import jobs as does
from ..paging import iterate


class JobsGroup(Group):
    """Work in the background: its state, its result, and doing it again."""

    def list(
        self,
        *,
        cursor: str | None = None,
        kind: str | None = None,
        limit: int | None = None,
        state: str | None = None,
    ) -> JobPage:
        """Jobs, newest first; `state=failed` are the dead letters.

        cursor: Where to go on: `next` of the answer before.
        kind: Only jobs of this kind.
        limit: The most results in one answer.
        state: Only jobs in this state.
        """
        return self._client.call(
            does.LIST, query={"cursor": cursor, "kind": kind, "limit": limit, "state": state}
        )

    def iterate(
        self, *, kind: str | None = None, limit: int | None = None, state: str | None = None
    ) -> Iterator[Job]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return iterate(lambda cursor: self.list(kind=kind, limit=limit, state=state, cursor=cursor))

    def get(self, job_id: str) -> Job:
        """How far a job is; of an export, a link to it."""
        return self._client.call(does.GET, path=(job_id,))

    def download(self, job_id: str, to: str | os.PathLike[str]) -> int:
        """The file of a finished export. Written to the file `to`; returns its size in bytes."""
        return self._client.download(does.DOWNLOAD, path=(job_id,), to=to)

    def replay(self, job_id: str) -> Job:
        """Put a dead letter back into the queue."""
        return self._client.call(does.REPLAY, path=(job_id,))
