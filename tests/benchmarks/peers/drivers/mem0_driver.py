"""mem0 without a language model: `infer=False`, vectors in pgvector."""

import os
from importlib.metadata import version
from pathlib import Path

from lines import API_KEY, DIMENSIONS, MODEL, serve

SETUP = (
    "`add(infer=False)`, pgvector store with its defaults (HNSW), `search(threshold=0)`; no language model, "
    "telemetry off, without the `nlp` extra"
)


class Mem0:
    """One collection for all users."""

    version = f"mem0ai {version('mem0ai')}"
    setup = SETUP

    def __init__(self, *, database: str, embeddings: str, folder: str) -> None:
        os.environ |= {"MEM0_DIR": folder, "MEM0_TELEMETRY": "False"}  # read when it is imported
        from mem0 import Memory

        model = {"model": MODEL, "api_key": API_KEY, "openai_base_url": embeddings}
        store = {
            "connection_string": database,
            "collection_name": "turns",
            "embedding_model_dims": DIMENSIONS,
        }
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "openai", "config": model | {"embedding_dims": DIMENSIONS}},
                "llm": {"provider": "openai", "config": model},  # must be there; is never called
                "vector_store": {"provider": "pgvector", "config": store},
                "history_db_path": str(Path(folder) / "history.db"),
            }
        )

    def add(self, user: str, key: str, text: str) -> None:
        self._memory.add(
            [{"role": "user", "content": text}], user_id=user, metadata={"turn": key}, infer=False
        )

    def search(self, user: str, text: str, k: int) -> list[str]:
        found = self._memory.search(text, filters={"user_id": user}, top_k=k, threshold=0.0)
        return [one["metadata"]["turn"] for one in found["results"]]


if __name__ == "__main__":
    serve(Mem0)
