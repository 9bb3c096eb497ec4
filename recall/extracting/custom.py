"""Strategy `custom`: what the client's own prompt asks for.

The prompt is a client's, and so a wish as to what is extracted and how it is worded; it has no say in what
the model is, or in the form of its answer. One that gives such orders is not followed.
"""

from collections.abc import Mapping
from typing import Any

from providers.llm import get_llm
from recall.extracting.answers import Memories
from recall.extracting.config import LONGEST_KEPT
from recall.extracting.discrete import by_model, find_discrete
from recall.extracting.types import Found, Material
from screening.injection import find_injection
from screening.sensitive import find_sensitive, mask
from tenants.jobs.kinds import GiveUp


def find_custom(material: Material) -> Found:
    """By the model; without one, or without a prompt, as `discrete` does, and the records say so. Raises
    GiveUp for a prompt that gives orders: its session's messages stay to be looked at."""
    llm, wishes = get_llm(), material.strategy.wishes
    if found := find_injection(wishes):
        raise GiveUp(f"custom_prompt gives orders to the model: {', '.join(found)}.")
    if llm is None or not wishes:
        why = "no language model" if wishes else f"no custom_prompt of up to {LONGEST_KEPT} characters"
        return _fallen_back(find_discrete(material), {"fallback": "discrete", "fallback_reason": why})
    hidden = mask(wishes, find_sensitive(wishes))
    return by_model(llm, material, prompt="extract_custom", answer=Memories, wishes=hidden)


def _fallen_back(found: Found, how: Mapping[str, Any]) -> Found:
    return Found(found.candidates, {**found.config, **how}, found.metadata)
