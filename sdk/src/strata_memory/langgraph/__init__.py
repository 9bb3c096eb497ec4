"""LangGraph over a Strata server: a store, and reducers for what a graph keeps in its state.

Needs the extra: `pip install ./sdk[langgraph]`.
"""

from .indexing import StrataIndexConfig
from .reducers import SUMMARY_ID, Slot, digest, entities, fallen_out, running_summary, window
from .store import AsyncStrataStore, StrataStore

__all__ = [
    "SUMMARY_ID",
    "AsyncStrataStore",
    "Slot",
    "StrataIndexConfig",
    "StrataStore",
    "digest",
    "entities",
    "fallen_out",
    "running_summary",
    "window",
]
