"""The memory of KAOS agents: the names of its module `agent.memory`, and one that lives on a Strata server.

    import sys, strata_memory.kaos
    sys.modules["agent.memory"] = strata_memory.kaos

`LocalMemory` keeps sessions in this process, `RemoteMemory` on the server, `NullMemory` nowhere;
`RedisMemory` is a remote one under KAOS's name.
"""

from .environment import memory_from_env
from .events import MemoryEvent, SessionMemory
from .local import InMemorySessionService, LocalMemory
from .memory import Memory
from .null import NullMemory
from .redis_memory import RedisMemory
from .remote import RemoteMemory

__all__ = [
    "InMemorySessionService",
    "LocalMemory",
    "Memory",
    "MemoryEvent",
    "NullMemory",
    "RedisMemory",
    "RemoteMemory",
    "SessionMemory",
    "memory_from_env",
]
