"""The client of an object that may have been given none."""

from ..addresses import Address, address_of_environment
from ..calls import UNSET
from ..client import StrataClient

# Of a server and its key, for the whole process: a chain makes a new history for each of its calls, and each
# would open connections of its own. A dictionary is all that a fork at any moment leaves whole.
_clients: dict[Address, StrataClient] = {}


def client_of_environment() -> StrataClient:
    """The client of the server that the environment names now, as `StrataClient.from_env` finds it; the same
    one as long as server and key are the same."""
    address = address_of_environment()
    made = _clients.get(address)
    return made or _clients.setdefault(address, StrataClient(address.url, address.api_key))


def owned(client: StrataClient | None, *, user_id: str | None, agent_id: str | None) -> StrataClient:
    """The client, or that of the environment, meaning that user and that agent where they are given."""
    return (client or client_of_environment()).bound(
        user_id=UNSET if user_id is None else user_id, agent_id=UNSET if agent_id is None else agent_id
    )
