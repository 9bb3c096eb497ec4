"""LangChain over a Strata server: a chat history, a retriever, and four memory classes by their old names.

Needs the extra: `pip install ./sdk[langchain]`. Without a `client`, each takes that of
the environment, which all of them share.
"""

from .buffers import ConversationBufferMemory, ConversationBufferWindowMemory
from .history import StrataChatMessageHistory
from .retriever import StrataRetriever
from .summary import ConversationSummaryMemory
from .vectors import VectorStoreRetrieverMemory

__all__ = [
    "ConversationBufferMemory",
    "ConversationBufferWindowMemory",
    "ConversationSummaryMemory",
    "StrataChatMessageHistory",
    "StrataRetriever",
    "VectorStoreRetrieverMemory",
]
