# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `documents`."""

from ..calls import Operation
from ..models.documents import Document, DocumentPage, FoundChunks, IngestedDocument

LIST: Operation[DocumentPage] = Operation("GET", "/api/v1/documents", answer=DocumentPage)
CREATE: Operation[IngestedDocument] = Operation(
    "POST", "/api/v1/documents", answer=IngestedDocument, is_write=True
)
UPLOAD: Operation[IngestedDocument] = Operation(
    "POST", "/api/v1/documents", answer=IngestedDocument, is_write=True
)
GET: Operation[Document] = Operation("GET", "/api/v1/documents/{document_id}", answer=Document)
DELETE: Operation[None] = Operation("DELETE", "/api/v1/documents/{document_id}", is_write=True)
SEARCH: Operation[FoundChunks] = Operation("POST", "/api/v1/documents/search", answer=FoundChunks)
