"""What models cost. Pure."""

import math
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEFAULT_FILE = Path(__file__).parent / "prices.toml"
DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


class PricesUnreadable(ValueError):
    """The price file is missing or malformed."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens: the same number as millionths of a dollar per token."""

    input: float
    output: float


def load_prices(path: Path = DEFAULT_FILE) -> dict[str, Price]:
    """The prices by model. Raises PricesUnreadable."""
    try:
        models = tomllib.loads(path.read_text(encoding="utf-8")).get("models", {})
        return {str(model): _price(entry) for model, entry in models.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise PricesUnreadable(f"The price file {path.name} cannot be read: {error}") from error


def price_of(model: str, prices: dict[str, Price]) -> Price | None:
    """The model's price; None when it is not known."""
    return prices.get(model) or prices.get(DATED.sub("", model))


def _price(entry: dict[str, Any]) -> Price:
    price = Price(float(entry.get("input", 0)), float(entry.get("output", 0)))
    if not all(math.isfinite(value) and value >= 0 for value in (price.input, price.output)):
        raise ValueError("a price is a number from 0 up")
    return price
