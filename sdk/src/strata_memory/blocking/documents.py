# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `documents`."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..calls import UNSET, Fields, Maybe
from ..group import Group
from ..inputs import DocumentFilters
from ..models.documents import Document, DocumentPage, FoundChunks, IngestedDocument
from ..operations import documents as does
from ..paging import iterate


class DocumentsGroup(Group):
    """Documents that are searched passage by passage, apart from what is remembered."""

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        project: str | None = None,
        source: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> DocumentPage:
        """Documents, the newest change first.

        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        project: Only of this project, in any case, or of none.
        source: Only from there.
        """
        return self._client.call(
            does.LIST,
            query={
                "cursor": cursor,
                "limit": limit,
                "project": project,
                "source": source,
                "user_id": user_id,
            },
        )

    def iterate(
        self,
        *,
        limit: int | None = None,
        project: str | None = None,
        source: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> Iterator[Document]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return iterate(
            lambda cursor: self.list(
                limit=limit, project=project, source=source, user_id=user_id, cursor=cursor
            )
        )

    def create(
        self,
        *,
        title: str,
        content: str,
        source: str | None = None,
        media_type: str | None = None,
        project: str | None = None,
        user_id: Maybe[str] = UNSET,
        metadata: Mapping[str, Any] | None = None,
    ) -> IngestedDocument:
        """Take a document in: as JSON, or a form with a file.

        source: Where it comes from: the same source again replaces it.
        media_type: text/plain, text/markdown, text/html, application/pdf; by default by the name and the
          first bytes.
        project: By default for every project.
        """
        fields = {
            "title": title, "content": content, "source": source, "media_type": media_type,
            "project": project, "user_id": user_id, "metadata": metadata,
        }  # fmt: skip
        return self._client.call(does.CREATE, body=Fields(fields))

    def upload(
        self,
        *,
        file: tuple[str, bytes, str] | tuple[str, bytes],
        source: str | None = None,
        media_type: str | None = None,
        project: str | None = None,
        user_id: Maybe[str] = UNSET,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> IngestedDocument:
        """Take a document in: as JSON, or a form with a file.

        source: Where it comes from: the same source again replaces it.
        media_type: text/plain, text/markdown, text/html, application/pdf; by default by the name and the
          first bytes.
        project: By default for every project.
        title: By default its own, or the file's name.
        metadata: A JSON object.
        """
        fields = {
            "file": file, "source": source, "media_type": media_type, "project": project,
            "user_id": user_id, "title": title, "metadata": metadata,
        }  # fmt: skip
        return self._client.call(does.UPLOAD, form=fields)

    def get(self, document_id: str) -> Document:
        """A document."""
        return self._client.call(does.GET, path=(document_id,))

    def delete(self, document_id: str) -> None:
        """Delete a document with its chunks."""
        return self._client.call(does.DELETE, path=(document_id,))

    def search(
        self,
        *,
        query: str,
        top_k: int | None = None,
        user_id: Maybe[str] = UNSET,
        filters: DocumentFilters | Mapping[str, Any] | None = None,
    ) -> FoundChunks:
        """What do the documents say about this?"""
        fields = {"query": query, "top_k": top_k, "user_id": user_id, "filters": filters}
        return self._client.call(does.SEARCH, body=Fields(fields))
