"""Celery's transport over Redis, for a worker that outlives the loss of its broker.

Kombu 5.7 may close a channel of a lost connection twice. The second time it gives back what was not
acknowledged over a connection that was already taken apart, and fails with AttributeError, which Celery takes
for the worker's own fault: it ends. Of some ten losses, one ended a busy worker. Here the channel says what
is so: there is no connection. What was not given back is found by the sweeps of beat.
"""

from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis
from redis.exceptions import ConnectionError as RedisConnectionError


class QoS(redis.QoS):
    """What a worker has taken, and what of it is done."""

    def ack(self, delivery_tag: str) -> None:
        """Marks it as done also if the broker cannot be told: Kombu would count it among what the worker has
        in hand until the connection is lost, and a worker with four of these takes no more."""
        try:
            super().ack(delivery_tag)
        finally:
            self._quick_ack(delivery_tag)  # type: ignore[attr-defined]


class Channel(redis.Channel):
    QoS = QoS

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if self.connection is None or self.connection.client is None:
            raise RedisConnectionError("The connection to the broker was closed.")
        parameters: dict[str, Any] = super()._connparams(asynchronous)  # type: ignore[misc]
        return parameters


class Transport(redis.Transport):
    Channel = Channel


def use_our_transport() -> None:
    """Behind every redis URL: of redis+socket:// the setting broker_transport would be ignored."""
    path = f"{__name__}:{Transport.__name__}"
    TRANSPORT_ALIASES.update(redis=path, rediss=path)
