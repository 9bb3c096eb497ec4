"""Asking the language model in a job, and what becomes of the job when there is no usable answer."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from providers.llm import LLM, LLMRefused, LLMUnavailable
from providers.prompts import load_prompt
from recall.answers import PROMPTS
from tenants.jobs.kinds import GiveUp, RetryLater, Task
from tenants.usage import metered

TRIES = 3  # of what was answered with anything but what was asked for

T = TypeVar("T", bound=BaseModel)


def ask(
    llm: LLM, task: Task, *, purpose: str, prompt: str, answer: type[T], **texts: str
) -> tuple[T, Mapping[str, str]]:
    """The answer to the prompt, filled with the texts, and who gave it, to be kept with what is made of it.
    Outside of any scope. Raises RetryLater, and in the end GiveUp."""
    loaded = load_prompt(PROMPTS, prompt)
    try:
        with metered(task.tenant_id):
            given = llm.complete(messages=loaded.messages(**texts), answer=answer, purpose=purpose)
    except LLMUnavailable as error:
        raise RetryLater(str(error), after=error.retry_after or 0.0) from error
    except LLMRefused as error:
        if task.attempts < TRIES:  # the same model may say it right the next time
            raise RetryLater(str(error)) from error
        raise GiveUp(str(error)) from error
    return given, {"provider": llm.provider, "model": llm.model, "prompt": loaded.id}
