"""Real clients of the fake provider."""

import time
from collections.abc import Callable
from typing import Any

from providers.breaker import Breaker
from providers.fake import FakeProvider
from providers.openai.chat import OpenAIChat
from providers.openai.embedder import OpenAIEmbedder, Patience
from providers.openai.endpoint import Endpoint

MODEL = "text-embedding-3-small"


def endpoint_of(fake: FakeProvider, model: str = MODEL, **named: Any) -> Endpoint:
    named = {"connect_seconds": 1, "retries": 2, "api_key": "sk-secret-key"} | named
    return Endpoint(base_url=fake.base_url, model=model, **named)


def embedder_of(
    fake: FakeProvider, *, dimensions: int = 1536, model: str = MODEL, seconds: float = 5, **named: Any
) -> OpenAIEmbedder:
    own = {name: named.pop(name) for name in ("batch_size", "max_tokens") if name in named}
    patience = Patience(interactive=min(seconds, 0.5), background=seconds)
    return OpenAIEmbedder(endpoint_of(fake, model, **named), dimensions=dimensions, patience=patience, **own)


def chat_of(fake: FakeProvider, *, seconds: float = 5, **named: Any) -> OpenAIChat:
    return OpenAIChat(endpoint_of(fake, "gpt-4.1-mini", **named), seconds=seconds)


def patient_breaker(threshold: int = 1_000) -> Breaker:
    """One that does not open while a test counts attempts."""
    return Breaker(threshold=threshold)


def seconds_of(call: Callable[[], object]) -> float:
    start = time.monotonic()
    call()
    return time.monotonic() - start
