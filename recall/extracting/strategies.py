"""Which strategy looks for what, and whether it may."""

from collections.abc import Callable, Mapping

from recall.extracting.config import Name, Strategy
from recall.extracting.custom import find_custom
from recall.extracting.discrete import find_discrete
from recall.extracting.preferences import find_preferences
from recall.extracting.summary import find_summary
from recall.extracting.types import Found, Material
from tenants.policy.document import Policy

FINDERS: Mapping[Name, Callable[[Material], Found]] = {
    "discrete": find_discrete,
    "summary": find_summary,
    "preferences": find_preferences,
    "custom": find_custom,
}


def is_allowed(strategy: Strategy, policy: Policy) -> bool:
    """Whether the policy has sessions leave such memories: summaries are periodic, all else is selective."""
    kind = "periodic" if strategy.name == "summary" else "selective"
    return policy.write.episodes in {kind, "both"}


def find(material: Material) -> Found:
    """What the session's strategy finds. May ask the language model, so never in a scope."""
    return FINDERS[material.strategy.name](material)
