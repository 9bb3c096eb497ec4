"""An application of the Redis Agent Memory Server, moved to Strata by changing one URL.

What is below `BASE_URL` is as it was written for the other server, with its own client, which sends no key.
Where one is needed, two lines more send it; `make run` lets callers on the same machine in without.

    pip install agent-memory-client ./sdk        # ./sdk only finds the address here
    python docs/examples/redis_ams_app.py
"""

import asyncio
import secrets
from datetime import UTC, datetime

from agent_memory_client import create_memory_client
from agent_memory_client.filters import UserId
from agent_memory_client.models import ClientMemoryRecord, MemoryMessage, WorkingMemory
from strata_memory.addresses import find_address

SERVER = find_address(None, None)  # STRATA_URL and STRATA_API_KEY, else what `make run` has started
BASE_URL = SERVER.url  # it was "http://localhost:8000"


async def main() -> None:
    client = await create_memory_client(base_url=BASE_URL)
    if SERVER.api_key:  # the two lines
        client._client.headers["Authorization"] = f"Bearer {SERVER.api_key}"
    user = f"ada-{secrets.token_hex(3)}"
    session = f"{user}-chat"
    async with client:
        said = [
            MemoryMessage(role="user", content="I need a hotel in Lisbon.", created_at=datetime.now(UTC)),
            MemoryMessage(role="assistant", content="Near the river?", created_at=datetime.now(UTC)),
        ]
        memory = WorkingMemory(session_id=session, user_id=user, messages=said, data={"city": "Lisbon"})
        await client.put_working_memory(session, memory, user_id=user)
        _created, read = await client.get_or_create_working_memory(session, user_id=user)
        print(f"{user}, working memory: {len(read.messages)} messages, data {read.data}")

        record = ClientMemoryRecord(text="Ada wants a quiet room away from the lift.", user_id=user)
        await client.create_long_term_memory([record])
        found = await client.search_long_term_memory("which room does she like?", user_id=UserId(eq=user))
        print(f"{user}, long-term memory: {found.memories[0].text}")

        prompt = await client.memory_prompt("Book it.", session_id=session, user_id=user)
        print(f"{user}, prompt: {len(prompt['messages'])} messages for the model")


if __name__ == "__main__":
    asyncio.run(main())
