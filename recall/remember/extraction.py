"""From a turn to what could be remembered: by the language model if there is one, else by rules.

The model sees the turn without what must not leave the house: sensitive parts are masked, sentences with
orders in them left out. What is sensitive is read by the rules alone, so that the policy can decide on it.
"""

import logging
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from providers.llm import LLM, LLMRefused, LLMUnavailable, get_llm
from providers.prompts import load_prompt
from recall.remember.answers import PROMPTS, FoundMemory, read_answer
from recall.remember.candidates import MOST_FACTS, Extraction
from recall.remember.rules import extract
from recall.remember.statements import split_sentences
from screening.fences import strip_fences
from screening.injection import find_injection
from screening.sensitive import find_sensitive, mask
from tenants.usage import metered

log = logging.getLogger(__name__)
PURPOSE = "remember"
LONGEST_SHOWN = 12_000  # characters of either side that the model is shown
BEGINNING = 0.75  # share of that for how it begins

Extractor = Literal["rules", "llm"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user said and what was answered, without what was injected. `emptied`: the user's message was
    nothing else."""

    user_message: str
    assistant_message: str = ""
    emptied: bool = False


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found and by whom. `failure`: why the model was not the one, though it was asked; `model` and
    `prompt`: which was. `beyond`: what it found when it had found enough."""

    found: Extraction
    extractor: Extractor
    failure: str = ""
    model: str = ""
    prompt: str = ""
    beyond: tuple[str, ...] = ()


def clean_turn(user_message: str, assistant_message: str | None) -> Turn:
    """The turn without the blocks that a prompt had around it."""
    said = strip_fences(user_message).strip()
    return Turn(
        said, strip_fences(assistant_message or "").strip(), emptied=not said and bool(user_message.strip())
    )


def extract_turn(turn: Turn, *, tenant_id: UUID) -> Extracted:
    """Candidates of the turn. Asks a provider, so never inside a scope; that it fails is no error."""
    by_rules = extract(turn.user_message)
    llm = get_llm()
    shown = showable(turn.user_message) if llm is not None else ""
    if llm is None or not shown:
        return Extracted(by_rules, "rules")
    try:
        with metered(tenant_id):
            answer, prompt = _ask(llm, shown, showable(turn.assistant_message))
    except LLMUnavailable:
        return Extracted(by_rules, "rules", failure="llm_unavailable")
    except LLMRefused:
        return Extracted(by_rules, "rules", failure="llm_refused")
    found = _with_sensitive(read_answer(answer), by_rules)
    beyond = tuple(f"{one.key.strip()}: {one.value.strip()}" for one in answer.facts[MOST_FACTS:])
    return Extracted(found, "llm", model=llm.model, prompt=prompt, beyond=beyond)


def _ask(llm: LLM, user_message: str, assistant_message: str) -> tuple[FoundMemory, str]:
    """The answer and the id of the prompt."""
    prompt = load_prompt(PROMPTS, PURPOSE)
    messages = prompt.messages(user_message=user_message, assistant_message=assistant_message)
    return llm.complete(messages=messages, answer=FoundMemory, purpose=PURPOSE), prompt.id


def showable(text: str) -> str:
    """What a provider may see of it; empty if orders to the model run through it."""
    if find_injection(text):
        text = " ".join(one for one in split_sentences(text) if not find_injection(one))
        if find_injection(text):
            return ""
    masked = mask(text, find_sensitive(text))
    if len(masked) <= LONGEST_SHOWN:
        return masked
    head = int(LONGEST_SHOWN * BEGINNING)
    return f"{masked[:head]} … {masked[len(masked) - (LONGEST_SHOWN - head) :]}"


def _with_sensitive(by_model: Extraction, by_rules: Extraction) -> Extraction:
    """The model's, and what the rules found in what it was not shown, or found to have ended: its answer
    cannot say so."""
    known = {fact.key for fact in by_model.facts}
    others = [fact for fact in by_rules.facts if fact.key not in known]
    unseen = [fact for fact in others if fact.ends or find_sensitive(fact.clause)]
    return replace(by_model, facts=(*by_model.facts, *unseen))
