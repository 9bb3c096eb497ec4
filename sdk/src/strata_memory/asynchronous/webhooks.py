# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `webhooks`."""

from collections.abc import AsyncIterator, Sequence

from ..calls import Fields
from ..group import AsyncGroup
from ..inputs import Events, ToldKind
from ..models.webhooks import Delivery, DeliveryPage, Webhook, WebhookPage, WebhookSecret
from ..operations import webhooks as does
from ..paging import aiterate


class AsyncWebhooksGroup(AsyncGroup):
    """Who is called when something changes, and what became of each call."""

    async def list(self, *, cursor: str | None = None, limit: int | None = None) -> WebhookPage:
        """Webhooks, newest first.

        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        """
        return await self._client.call(does.LIST, query={"cursor": cursor, "limit": limit})

    def iterate(self, *, limit: int | None = None) -> AsyncIterator[Webhook]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return aiterate(lambda cursor: self.list(limit=limit, cursor=cursor))

    async def create(
        self,
        *,
        url: str,
        description: str | None = None,
        events: Sequence[Events] | None = None,
        kinds: Sequence[ToldKind] | None = None,
        agent_id: str | None = None,
        project: str | None = None,
        include_text: bool | None = None,
        is_active: bool | None = None,
    ) -> Webhook:
        """Have a URL told of memories from now on.

        url: Where to: HTTPS, to a public address.
        kinds: None: of all.
        project: Only of this project's; empty: of all.
        include_text: Whether to tell what memories say.
        """
        fields = {
            "url": url, "description": description, "events": events, "kinds": kinds,
            "agent_id": agent_id, "project": project, "include_text": include_text,
            "is_active": is_active,
        }  # fmt: skip
        return await self._client.call(does.CREATE, body=Fields(fields))

    async def get(self, webhook_id: str) -> Webhook:
        """A webhook."""
        return await self._client.call(does.GET, path=(webhook_id,))

    async def change(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        description: str | None = None,
        events: Sequence[Events] | None = None,
        kinds: Sequence[ToldKind] | None = None,
        agent_id: str | None = None,
        project: str | None = None,
        include_text: bool | None = None,
        is_active: bool | None = None,
    ) -> Webhook:
        """Change a webhook, or switch it on or off.

        url: Where to: HTTPS, to a public address.
        kinds: None: of all.
        project: Only of this project's; empty: of all.
        include_text: Whether to tell what memories say.
        """
        fields = {
            "url": url, "description": description, "events": events, "kinds": kinds,
            "agent_id": agent_id, "project": project, "include_text": include_text,
            "is_active": is_active,
        }  # fmt: skip
        return await self._client.call(does.CHANGE, path=(webhook_id,), body=Fields(fields))

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook with its deliveries."""
        return await self._client.call(does.DELETE, path=(webhook_id,))

    async def deliveries_of(
        self,
        webhook_id: str,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        state: str | None = None,
    ) -> DeliveryPage:
        """Deliveries to one webhook, newest first.

        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        state: Only deliveries in this state.
        """
        return await self._client.call(
            does.DELIVERIES_OF, path=(webhook_id,), query={"cursor": cursor, "limit": limit, "state": state}
        )

    def iterate_deliveries_of(
        self, webhook_id: str, *, limit: int | None = None, state: str | None = None
    ) -> AsyncIterator[Delivery]:
        """All of `deliveries_of`, page by page; `limit` is the length of a page."""
        return aiterate(
            lambda cursor: self.deliveries_of(webhook_id, limit=limit, state=state, cursor=cursor)
        )

    async def rotate_secret(self, webhook_id: str) -> Webhook:
        """Give a webhook another secret; the former signs along for 24 hours."""
        return await self._client.call(does.ROTATE_SECRET, path=(webhook_id,))

    async def secret(self, webhook_id: str) -> WebhookSecret:
        """What a webhook's messages are signed with; entered in the audit log."""
        return await self._client.call(does.SECRET, path=(webhook_id,))

    async def test(self, webhook_id: str) -> Delivery:
        """Send a webhook a message that means nothing."""
        return await self._client.call(does.TEST, path=(webhook_id,))

    async def deliveries(
        self, *, cursor: str | None = None, limit: int | None = None, state: str | None = None
    ) -> DeliveryPage:
        """Deliveries to all webhooks, newest first; `state=failed` were given up.

        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        state: Only deliveries in this state.
        """
        return await self._client.call(
            does.DELIVERIES, query={"cursor": cursor, "limit": limit, "state": state}
        )

    def iterate_deliveries(
        self, *, limit: int | None = None, state: str | None = None
    ) -> AsyncIterator[Delivery]:
        """All of `deliveries`, page by page; `limit` is the length of a page."""
        return aiterate(lambda cursor: self.deliveries(limit=limit, state=state, cursor=cursor))

    async def delivery(self, delivery_id: str) -> Delivery:
        """What became of a delivery."""
        return await self._client.call(does.DELIVERY, path=(delivery_id,))

    async def replay_delivery(self, delivery_id: str) -> Delivery:
        """Send a delivery again, under the same event id."""
        return await self._client.call(does.REPLAY_DELIVERY, path=(delivery_id,))
