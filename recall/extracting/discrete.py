"""Strategy `discrete`: facts that hold and things that happened, each by itself."""

from collections.abc import Callable, Iterator

from episodic.models import MemoryType
from providers.llm import LLM, get_llm
from recall.extracting.answers import Memories, Preferences, read_memories
from recall.extracting.asking import ask
from recall.extracting.shown import show, show_earlier
from recall.extracting.types import Candidate, Found, Material
from recall.extracting.wording import names_in, names_of_fact, text_of, topics_of, topics_of_fact
from recall.remember.candidates import Fact
from recall.remember.extraction import showable
from recall.remember.rules import extract
from screening.fences import strip_fences
from working.extracted import Said

RULES = {"extractor": "rules"}


def find_discrete(material: Material) -> Found:
    """By the model; without one by what users say of themselves, and decide, book or ask to be remembered."""
    llm = get_llm()
    if llm is None:
        return Found(tuple(by_rules(material)), material.strategy.config, RULES)
    return by_model(llm, material, prompt="extract_discrete", answer=Memories)


def by_model(
    llm: LLM, material: Material, *, prompt: str, answer: type[Memories] | type[Preferences], **texts: str
) -> Found:
    """What the model finds in the messages; nothing where there is nothing to show it."""
    shown, config = show(material.messages), material.strategy.config
    if not shown.numbers:
        return Found((), config, RULES)
    given, metadata = ask(
        llm,
        material.task,
        prompt=prompt,
        answer=answer,
        conversation=shown.text,
        earlier=show_earlier(material.earlier),
        **texts,
    )
    return Found(read_memories(given.memories, numbers=shown.numbers), config, metadata)


def _any(_fact: Fact) -> bool:
    return True


def by_rules(
    material: Material, *, wanted: Callable[[Fact], bool] = _any, highlights: bool = True
) -> Iterator[Candidate]:
    """What the rules of `recall.remember` find in the user's messages. What ends something is no record."""
    least = material.policy.entities.min_confidence
    for one in material.messages:
        said = strip_fences(one.text) if one.role == "user" else ""
        if not said.strip():
            continue
        if not showable(said):
            yield Candidate(said, sources=(one.seq,), refusal="injection")
            continue
        found = extract(said)
        for fact in found.facts:
            if wanted(fact) and fact.key and not fact.ends:
                yield _of_fact(fact, one, refusal="" if fact.confidence >= least else "low_confidence")
        if highlights and found.summary:
            yield _highlight(found.summary, one, lasting=found.lasting)


def _of_fact(fact: Fact, said: Said, *, refusal: str) -> Candidate:
    return Candidate(
        text=text_of(fact),
        topics=topics_of_fact(fact),
        entities=names_of_fact(fact),
        sources=(said.seq,),
        words=f"{fact.words}\n{fact.clause}",
        refusal=refusal,
    )


def _highlight(text: str, said: Said, *, lasting: bool) -> Candidate:
    return Candidate(
        text=text,
        memory_type=MemoryType.SEMANTIC if lasting else MemoryType.EPISODIC,
        topics=topics_of(text),
        entities=names_in(text),
        event_date=None if lasting else said.said_at,
        sources=(said.seq,),
    )
