"""Strategy `preferences`: what users like, prefer and wish, as statements that hold."""

from providers.llm import get_llm
from recall.extracting.answers import Preferences
from recall.extracting.discrete import RULES, by_model, by_rules
from recall.extracting.types import Found, Material
from recall.extracting.wording import is_taste


def find_preferences(material: Material) -> Found:
    """By the model, or by the rules that know tastes and wishes."""
    llm = get_llm()
    if llm is None:
        found = tuple(by_rules(material, wanted=is_taste, highlights=False))
        return Found(found, material.strategy.config, RULES)
    return by_model(llm, material, prompt="extract_preferences", answer=Preferences)
