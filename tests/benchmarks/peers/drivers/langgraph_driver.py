"""LangGraph's PostgresStore, with an index over the text."""

from importlib.metadata import version

from langgraph.store.postgres import PostgresStore
from lines import API_KEY, DIMENSIONS, MODEL, serve
from openai import OpenAI

SETUP = "`put` and `search` of `PostgresStore` with `index.fields` of the text and its other defaults"


class LangGraph:
    """A namespace for each user."""

    version = f"langgraph-checkpoint-postgres {version('langgraph-checkpoint-postgres')}"
    setup = SETUP

    def __init__(self, *, database: str, embeddings: str, folder: str) -> None:
        self._client = OpenAI(api_key=API_KEY, base_url=embeddings)
        self._opened = PostgresStore.from_conn_string(
            database, index={"dims": DIMENSIONS, "embed": self._embed, "fields": ["text"]}
        )
        self._store = self._opened.__enter__()  # stays open as long as this process
        self._store.setup()

    def add(self, user: str, key: str, text: str) -> None:
        self._store.put((user,), key, {"text": text})

    def search(self, user: str, text: str, k: int) -> list[str]:
        return [one.key for one in self._store.search((user,), query=text, limit=k)]

    def _embed(self, texts: list[str]) -> list[list[float]]:
        answer = self._client.embeddings.create(input=texts, model=MODEL, encoding_format="float")
        return [one.embedding for one in answer.data]


if __name__ == "__main__":
    serve(LangGraph)
