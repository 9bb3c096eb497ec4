"""What of an item is found by its meaning, and who computes the vectors: the client, or the server."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    IndexConfig,
    Op,
    PutOp,
    SearchOp,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)

Distance = Literal["cosine", "l2", "inner_product"]
DISTANCES = ("cosine", "l2", "inner_product")
WHOLE = "$"


class StrataIndexConfig(IndexConfig, total=False):
    """LangGraph's `dims`, `embed` and `fields`; all may be left out. Without `embed` the server embeds."""

    distance_type: Distance
    """How vectors of `embed` are compared; cosine if not given. The server compares its own by cosine."""


@dataclass(frozen=True, slots=True)
class FieldText:
    """The text at one place of a value; `path` is unique within its item."""

    path: str
    text: str


class Index:
    """An index configuration, checked. Raises ValueError for fields or a distance that there are not."""

    def __init__(self, config: StrataIndexConfig | None) -> None:
        given: Mapping[str, Any] = config or {}
        self.distance: Distance = given.get("distance_type", "cosine")
        if self.distance not in DISTANCES:
            raise ValueError(f"distance_type is one of {', '.join(DISTANCES)}, not {self.distance!r}.")
        self.fields = _fields(given.get("fields"))
        self.dims: int | None = given.get("dims")
        embed = given.get("embed")
        self.embeddings: Embeddings | None = ensure_embeddings(embed) if embed is not None else None

    def paths(self, op: PutOp) -> Literal[False] | list[str] | None:
        """Where the texts of an item are: nowhere (False), at the named paths, or the whole (None)."""
        paths = self.fields if op.index is None else op.index
        return None if paths == [WHOLE] else paths or False

    def texts(self, op: PutOp) -> list[FieldText]:
        """What is embedded of an item: a place with several texts, as `chapters[*]`, counts them."""
        paths = self.paths(op)
        if op.value is None or paths is False:
            return []
        found: list[FieldText] = []
        for path in paths or [WHOLE]:
            texts = get_text_at_path(op.value, path if path == WHOLE else tokenize_path(path))
            for at, text in enumerate(texts):
                found.append(FieldText(f"{path}.{at}" if len(texts) > 1 else path, text))
        return found

    def wanted(self, ops: Iterable[Op]) -> list[str]:
        """The texts whose vectors the operations need from `embed`, each once; none without it."""
        wanted: dict[str, None] = {}
        for op in ops if self.embeddings else ():
            if isinstance(op, PutOp):
                wanted |= dict.fromkeys(field.text for field in self.texts(op))
            elif isinstance(op, SearchOp) and op.query:
                wanted[op.query] = None
        return list(wanted)

    def embed(self, texts: Sequence[str]) -> dict[str, list[float]]:
        """The vectors by text. Raises ValueError where they are not of `dims`, or of another number."""
        if not texts or self.embeddings is None:
            return {}
        return self._by_text(texts, self.embeddings.embed_documents(list(texts)))

    async def aembed(self, texts: Sequence[str]) -> dict[str, list[float]]:
        """As `embed`, by the asynchronous function if there is one."""
        if not texts or self.embeddings is None:
            return {}
        return self._by_text(texts, await self.embeddings.aembed_documents(list(texts)))

    def _by_text(self, texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> dict[str, list[float]]:
        if len(vectors) != len(texts):
            raise ValueError(f"embed gave {len(vectors)} vectors for {len(texts)} texts.")
        if self.dims is not None and (wrong := {len(vector) for vector in vectors} - {self.dims}):
            raise ValueError(f"embed gave vectors of {min(wrong)} dimensions; dims says {self.dims}.")
        return {text: _single_precision(vector) for text, vector in zip(texts, vectors, strict=True)}


def _fields(given: object) -> list[str]:
    if given is None or given == []:
        return [WHOLE]
    fields = [given] if isinstance(given, str) else given
    if not isinstance(fields, list) or not all(isinstance(one, str) for one in fields):
        raise ValueError(f"fields is a list of paths, not {given!r}.")
    return fields


def _single_precision(vector: Sequence[float]) -> list[float]:
    """Nine digits are all that the server keeps; the further ones would double the request."""
    return [float(f"{one:.9g}") for one in vector]
