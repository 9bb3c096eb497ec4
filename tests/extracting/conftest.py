from tests.recall.conftest import caller, llm

__all__ = ["caller", "llm"]
