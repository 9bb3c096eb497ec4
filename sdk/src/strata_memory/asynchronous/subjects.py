# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `subjects`."""

import os
from collections.abc import AsyncIterator

from ..calls import Fields
from ..group import AsyncGroup
from ..inputs import RecalledKind
from ..models.several import Job
from ..models.subjects import (
    PersonLinkAnswer,
    Receipt,
    ReceiptKey,
    ReceiptPage,
    RestrictionState,
    SubjectMemory,
)
from ..operations import subjects as does
from ..paging import aiterate


class AsyncSubjectsGroup(AsyncGroup):
    """Persons and their rights: export, erasure, rectification, restriction."""

    async def download_own_export(self, token: str, to: str | os.PathLike[str]) -> int:
        """The file of an export, by its link. Written to the file `to`; returns its size in bytes."""
        return await self._client.download(does.DOWNLOAD_OWN_EXPORT, path=(token,), to=to)

    async def receipt_key(self) -> ReceiptKey:
        """The public key that receipts are verified with."""
        return await self._client.call(does.RECEIPT_KEY)

    async def erase(self, user_id: str) -> Job:
        """Erase everything that is kept of a person."""
        return await self._client.call(does.ERASE, path=(user_id,))

    async def export(self, user_id: str) -> Job:
        """Export everything that is kept of a person."""
        return await self._client.call(does.EXPORT, path=(user_id,))

    async def link(self, user_id: str, *, seconds: int | None = None) -> PersonLinkAnswer:
        """Make a link to a person's own pages."""
        fields = {"seconds": seconds}
        return await self._client.call(does.LINK, path=(user_id,), body=Fields(fields))

    async def unlink(self, user_id: str) -> None:
        """Revoke every link to a person's own pages that was made so far, and end the visits by them."""
        return await self._client.call(does.UNLINK, path=(user_id,))

    async def receipts(
        self, user_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> ReceiptPage:
        """A person's erasures, newest first.

        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        """
        return await self._client.call(
            does.RECEIPTS, path=(user_id,), query={"cursor": cursor, "limit": limit}
        )

    def iterate_receipts(self, user_id: str, *, limit: int | None = None) -> AsyncIterator[Receipt]:
        """All of `receipts`, page by page; `limit` is the length of a page."""
        return aiterate(lambda cursor: self.receipts(user_id, limit=limit, cursor=cursor))

    async def rectify(self, user_id: str, *, kind: RecalledKind, id: str, text: str) -> SubjectMemory:
        """Put right what a memory says; what it said before stays in its history.

        text: What is right: of an observation its content, of a slot its value.
        """
        fields = {"kind": kind, "id": id, "text": text}
        return await self._client.call(does.RECTIFY, path=(user_id,), body=Fields(fields))

    async def restriction(self, user_id: str) -> RestrictionState:
        """Whether a person's memory is restricted."""
        return await self._client.call(does.RESTRICTION, path=(user_id,))

    async def restrict(self, user_id: str, *, reason: str | None = None) -> Job:
        """Keep a person's memory without using it: nothing of it is read, changed or added to."""
        fields = {"reason": reason}
        return await self._client.call(does.RESTRICT, path=(user_id,), body=Fields(fields))

    async def lift_restriction(self, user_id: str) -> None:
        """Have a person's memory used again."""
        return await self._client.call(does.LIFT_RESTRICTION, path=(user_id,))
