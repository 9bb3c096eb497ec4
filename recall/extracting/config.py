"""A client's word how memories are to be extracted, as far as it can be followed. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Name = Literal["discrete", "summary", "preferences", "custom"]
BY_NAME: Mapping[str, Name] = {name: name for name in get_args(Name)}
USUAL_WORDS, FEWEST_WORDS, MOST_WORDS = 500, 10, 2_000  # of a summary
MOST_KEPT = 20  # values of a configuration that stand in every record
LONGEST_KEPT = 10_000  # characters of one of them


@dataclass(frozen=True, slots=True)
class Strategy:
    """`config`: what of the client's configuration is kept with the records."""

    name: Name
    config: Mapping[str, Any]

    @property
    def most_words(self) -> int:
        """How long a summary may become."""
        wanted = self.config.get("max_summary_length")
        if isinstance(wanted, bool) or not isinstance(wanted, int):
            return USUAL_WORDS
        return min(max(wanted, FEWEST_WORDS), MOST_WORDS)

    @property
    def wishes(self) -> str:
        """What the client's own prompt asks for; empty if it has none."""
        wanted = self.config.get("custom_prompt")
        return wanted.strip() if isinstance(wanted, str) else ""


def read_strategy(given: Mapping[str, Any]) -> Strategy:
    """What is named nowhere, or is unknown, is `discrete`."""
    config = given.get("config")
    values = config.items() if isinstance(config, dict) else ()
    kept = [(key, value) for key, value in values if _is_plain(value)]
    return Strategy(BY_NAME.get(str(given.get("strategy")), "discrete"), dict(kept[:MOST_KEPT]))


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool) and len(str(value)) <= LONGEST_KEPT
