"""Asking the language model for what a session is to leave."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from providers.llm import LLM
from recall import asking
from tenants.jobs.kinds import Task

PURPOSE = "extract"

T = TypeVar("T", bound=BaseModel)


def ask(llm: LLM, task: Task, *, prompt: str, answer: type[T], **texts: str) -> tuple[T, Mapping[str, str]]:
    """The answer, and what the records say of who gave it; otherwise as `recall.asking`."""
    given, by = asking.ask(llm, task, purpose=PURPOSE, prompt=prompt, answer=answer, **texts)
    return given, {"extractor": "llm", **by}
