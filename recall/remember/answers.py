"""What the language model is asked to answer with. Pure."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from recall.remember.candidates import MOST_FACTS, Extraction, Fact, settle

PROMPTS = Path(__file__).parent.parent / "prompts"
LONGEST_SUMMARY = 2_000  # characters of a highlight: a longer one is no summary, and would fill every prompt


class FoundFact(BaseModel):
    """One fact about the user. Its bounds are the gate's business: one bad fact must not cost the others."""

    key: str
    value: str
    confidence: float


class FoundMemory(BaseModel):
    """Answer to the prompt `remember`."""

    should_persist: bool
    memory_type: Literal["entity", "episodic", "none"]
    facts: list[FoundFact]
    summary: str | None


def read_answer(answer: FoundMemory) -> Extraction:
    """The answer as candidates. The summary counts only if the turn is called episodic, and nothing does if
    it is not worth keeping."""
    facts = [
        Fact(one.key.strip(), one.value.strip(), one.confidence if 0 <= one.confidence <= 1 else 0.0)
        for one in answer.facts[:MOST_FACTS]
        if one.key.strip() and one.value.strip()
    ]
    summary = (answer.summary or "").strip()
    if not answer.should_persist:
        left = (*(fact.text for fact in facts), *([summary] if summary else []))
        return Extraction(unworthy=left)
    stand, losers = settle(facts)
    if answer.memory_type == "episodic" or not summary:
        return Extraction(stand, losers, summary)
    return Extraction(stand, losers, unworthy=(summary,))
