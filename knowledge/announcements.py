"""What webhooks are told of documents, in the scope of what happens to them."""

from knowledge.models import Document
from webhooks.announcing import announce
from webhooks.models import Event, Kind
from webhooks.types import Memory


def tell_document(document: Document, event: Event) -> None:
    """Tells of one document. Its text is its title: the whole would be too long for a message."""

    def told() -> list[Memory]:
        return [
            Memory(
                kind=Kind.DOCUMENT,
                id=str(document.id),
                user_id=document.user_id,
                project=document.project,
                url=f"/api/v1/documents/{document.id}",
                text=document.title,
            )
        ]

    announce(tenant_id=document.tenant_id, event=event, memories=told)
