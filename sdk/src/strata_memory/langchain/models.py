"""Asking a language model of LangChain's for a summary."""

from functools import cache
from importlib.resources import files
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage

MOST_WORDS = 300
NOTHING = "NOTHING"


def summarise_on(llm: BaseLanguageModel[Any], *, summary: str, said: str) -> str:
    """The summary that follows from the one so far and what was said since."""
    prompt = _prompt("running_summary")
    return _asked(llm, prompt.format(summary=summary, said=said, words=MOST_WORDS))


def summarise_exchange(llm: BaseLanguageModel[Any], *, said: str) -> str:
    """What is worth remembering of an exchange; empty for nothing."""
    told = _asked(llm, _prompt("exchange_summary").format(said=said))
    return "" if told.strip(" .").upper() == NOTHING else told


def _asked(llm: BaseLanguageModel[Any], prompt: str) -> str:
    answer = llm.invoke(prompt)
    return str(answer.text if isinstance(answer, BaseMessage) else answer).strip()


@cache
def _prompt(name: str) -> str:
    return files(__package__).joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")
