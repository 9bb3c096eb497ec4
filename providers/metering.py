"""What calls to outside providers amount to, told to whoever collects it in this context."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass

from providers.metrics import count_usage


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used of one model for one purpose.

    `calls` counts requests sent, `failures` those of them that brought nothing usable. Tokens are the
    provider's own figures; a request that failed mostly has none.
    """

    provider: str
    model: str
    purpose: str
    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Meter:
    """Adds up what is reported to it."""

    def __init__(self) -> None:
        self._totals: dict[tuple[str, str, str], Usage] = {}

    def add(self, usage: Usage) -> None:
        key = (usage.provider, usage.model, usage.purpose)
        former = self._totals.get(key, Usage(*key))
        self._totals[key] = Usage(
            *key,
            former.calls + usage.calls,
            former.failures + usage.failures,
            former.input_tokens + usage.input_tokens,
            former.output_tokens + usage.output_tokens,
        )

    def totals(self) -> list[Usage]:
        """One for each provider, model and purpose, in their order."""
        return [self._totals[key] for key in sorted(self._totals)]


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metering() -> Iterator[Meter]:
    """Collects what the block uses. Inside another block, the inner one alone collects."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def report(usage: Usage) -> None:
    """Counts it, for whoever collects: a health check's calls are in the metrics alone."""
    count_usage(**asdict(usage))
    if (meter := _meter.get()) is not None:
        meter.add(usage)
