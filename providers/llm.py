"""The one way to a language model: `get_llm().complete(...)`, or None where the settings choose none."""

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from pydantic import BaseModel

from providers.errors import LLMRefused, LLMUnavailable
from providers.messages import Message

__all__ = ["LLM", "LLMRefused", "LLMUnavailable", "Message", "get_llm", "reset_llm"]

T = TypeVar("T", bound=BaseModel)


class LLM(Protocol):
    """Answers in a form that is asked for. Safe to call from several threads at once."""

    # To be kept beside what it has written.
    provider: str
    model: str

    def complete(
        self, *, messages: Sequence[Message], answer: type[T], purpose: str, seconds: float | None = None
    ) -> T:
        """The answer to `messages`, validated as an `answer`. Never inside a scope: it may take seconds.

        `purpose` is a short name, such as `session_summary`, under which the usage is counted. `seconds`: no
        more than so many, while somebody waits. Raises LLMUnavailable when asking later may help, LLMRefused
        when asking the same again is useless.
        """


@dataclass
class _Process:
    """This process's client; a forked child gets its own, since connections do not survive a fork."""

    llm: LLM | None = None
    built: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


_process = _Process()


def get_llm() -> LLM | None:
    """Return the process's language model, None when `LLM_PROVIDER` is `none`; nothing is asked yet.

    Raises ImproperlyConfigured when the settings name an unknown provider or no model.
    """
    if not _process.built:
        with _process.lock:
            if not _process.built:
                _process.llm, _process.built = _build_llm(), True
    return _process.llm


def reset_llm() -> None:
    """Forget the client, so that the next call reads the settings again (tests)."""
    with _process.lock:
        _process.llm, _process.built = None, False


def _build_llm() -> LLM | None:
    if settings.LLM_PROVIDER == "none":
        return None
    if settings.LLM_PROVIDER != "openai":
        raise ImproperlyConfigured(
            f"LLM_PROVIDER is {settings.LLM_PROVIDER!r}; the providers are 'none' and 'openai'."
        )
    if not settings.LLM_MODEL:
        raise ImproperlyConfigured("LLM_PROVIDER 'openai' needs LLM_MODEL, such as gpt-4.1-mini.")
    # The client's import takes a quarter of a second, which nobody pays who does not use it.
    from providers.openai.chat import OpenAIChat
    from providers.openai.endpoint import Endpoint

    endpoint = Endpoint(
        base_url=settings.LLM_BASE_URL,
        api_key=settings.LLM_API_KEY,
        model=settings.LLM_MODEL,
        connect_seconds=settings.PROVIDER_CONNECT_SECONDS,
        retries=settings.PROVIDER_RETRIES,
    )
    return OpenAIChat(endpoint, seconds=settings.PROVIDER_TIMEOUT_SECONDS)


def _start_over_in_child() -> None:
    _process.llm, _process.built = None, False
    _process.lock = threading.Lock()


os.register_at_fork(after_in_child=_start_over_in_child)
