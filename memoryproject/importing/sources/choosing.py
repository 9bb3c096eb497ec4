"""Which source is meant by a kind and a path or address."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memoryproject.importing.errors import SourceUnknown
from memoryproject.importing.files import JsonFile
from memoryproject.importing.postgres import SCHEMES, PostgresTable
from memoryproject.importing.rows import Source
from memoryproject.importing.sources.agentops import ExportFile, ExportServer
from memoryproject.importing.sources.kaos import KaosAgent, KaosFile
from memoryproject.importing.sources.langgraph import StoreFile, StoreTable
from memoryproject.importing.sources.mem0 import Mem0File, Mem0Server, Mem0Table
from memoryproject.importing.sources.redis_ams import AmsFile, AmsServer
from memoryproject.importing.sources.redis_store import SCHEMES as REDIS
from memoryproject.importing.sources.redis_store import AmsStore
from memoryproject.importing.web import WebSource, bearer

KINDS = ("mem0", "redis-ams", "agentops", "langgraph", "kaos")
WEB = ("http://", "https://")
READERS: Mapping[str, Callable[[JsonFile], Source]] = {
    "mem0": Mem0File,
    "redis-ams": AmsFile,
    "agentops": ExportFile,
    "langgraph": StoreFile,
}
MEM0_COLUMNS = frozenset({"id", "vector", "payload"})
STORE_COLUMNS = frozenset({"prefix", "key", "value"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for. `location` is a path or an address, which may hold a password: it is not shown."""

    kind: str
    location: str
    api_key: str = ""
    user_id: str = ""
    table: str = ""


def open_source(asked: Asked) -> Source:
    """The source, ready to be read. Raises ImportFailed."""
    scheme = asked.location.partition("://")[0].lower() if "://" in asked.location else ""
    if asked.location.lower().startswith(WEB):
        return _server(asked)
    if asked.location.lower().startswith(SCHEMES):
        return _database(asked)
    if asked.kind == "redis-ams" and asked.location.lower().startswith(REDIS):
        return AmsStore(asked.location)
    if scheme:
        raise SourceUnknown(f"Of {asked.kind}, nothing can be read from an address with {scheme}://.")
    return _file(asked.kind, Path(asked.location))


def _server(asked: Asked) -> Source:
    if asked.kind == "langgraph":
        raise SourceUnknown("Of langgraph, a database or a file is read, and no server.")
    headers: Mapping[str, str] = bearer(asked.api_key)
    if asked.kind == "mem0" and asked.api_key:
        headers = {"X-API-Key": asked.api_key}
    web = WebSource(asked.location, headers=headers)
    if asked.kind == "mem0":
        return Mem0Server(web, user_id=asked.user_id)
    if asked.kind == "redis-ams":
        return AmsServer(web, user_id=asked.user_id)
    return KaosAgent(web) if asked.kind == "kaos" else ExportServer(web)


def _database(asked: Asked) -> Source:
    if asked.kind == "mem0":
        return Mem0Table(PostgresTable(asked.location, columns=MEM0_COLUMNS, table=asked.table))
    if asked.kind == "langgraph":
        table = asked.table or "store"
        return StoreTable(PostgresTable(asked.location, columns=STORE_COLUMNS, table=table))
    raise SourceUnknown(f"{asked.kind} keeps nothing in PostgreSQL that could be read.")


def _file(kind: str, path: Path) -> Source:
    if path.is_dir():
        raise SourceUnknown(f"{path} is a folder; name a file in it.")
    if kind == "kaos":
        return KaosFile(path)
    return READERS[kind](JsonFile(path))
