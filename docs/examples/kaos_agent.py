"""A KAOS-style agent whose memory is RemoteMemory: it is restarted, and goes on where it was.

KAOS's own LocalMemory forgets everything with the process. RemoteMemory has the same interface, so the agent
stays as it is. Without arguments this file runs the agent twice, each time in a process of its own.

    pip install ./sdk
    python docs/examples/kaos_agent.py
"""

import asyncio
import os
import secrets
import subprocess
import sys

from strata_memory.addresses import find_address
from strata_memory.kaos import Memory, RemoteMemory


def model(context: str, said: str) -> str:
    """Stands where a model would be; a real one: one call of MODEL_API_URL with both."""
    told = [line.removeprefix("User: ") for line in context.splitlines() if line.startswith("User: ")]
    return f"Earlier you said: {told[0]}" if told else "Noted."


async def turn(memory: Memory, session: str, said: str) -> str:
    """What a KAOS agent does with a message: session, history, model, events."""
    await memory.get_or_create_session(session, "concierge", "ada")
    context = await memory.build_conversation_context(session)
    await memory.add_event(session, memory.create_event("user_message", said))
    answer = model(context, said)
    await memory.add_event(session, memory.create_event("agent_response", answer))
    return answer


async def run_agent(session: str, said: str) -> None:
    server = find_address(None, None)  # STRATA_URL and STRATA_API_KEY, else what `make run` has started
    memory = RemoteMemory(server.url, server.api_key, agent_name="concierge")  # instead of LocalMemory()
    try:
        print(f"process {os.getpid()}, session {session}\n  user:  {said}")
        print(f"  agent: {await turn(memory, session, said)}")
    finally:
        await memory.close()


def main() -> None:
    session = f"session_{secrets.token_hex(6)}"
    for said in ("My flight is on Friday.", "What did I tell you?"):
        subprocess.run([sys.executable, __file__, session, said], check=True)
    print("Two processes, one conversation: the second knew what the first was told.")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(run_agent(*sys.argv[1:]))
    else:
        main()
