"""Strategy `summary`: one memory for each session, told anew when it has gone on."""

import json
from collections.abc import Sequence
from hashlib import sha256

from episodic.models import Episode
from providers.llm import LLM, get_llm
from recall.extracting.answers import MOST_ENTITIES, MOST_TOPICS, ThreadSummary, names, tidy
from recall.extracting.asking import ask
from recall.extracting.discrete import RULES
from recall.extracting.shown import cleaned
from recall.extracting.types import Candidate, Found, Material
from recall.extracting.wording import names_in, shorten, topics_of, within_words
from recall.summary import LONGEST_QUOTE, SUMMARISER, select_notes, summarise
from recall.transcript import render
from tenants.scope import scope
from working.extracted import Said
from working.models import Session
from working.types import Turn

QUOTED = {**RULES, "summariser": SUMMARISER}
FINGERPRINT = "fingerprint"  # what a summary's metadata say of the messages that it tells of


def record_id(session: Session) -> str:
    """The id of the session's summary: the same each time."""
    named = (session.namespace, session.user_id, session.external_id, session.agent_id, session.project)
    return f"thread_summary_{sha256(json.dumps(named).encode()).hexdigest()[:24]}"


def find_summary(material: Material) -> Found:
    """The summary of all that was said, by the model or by what was said itself; nothing if it was told of
    the same already."""
    session, thread = material.session, material.thread
    told = cleaned(thread)
    mark = _fingerprint(thread, material.strategy.most_words)
    if not told or _is_told(session, mark):
        return Found((), material.strategy.config, RULES)
    llm = get_llm()
    candidate, metadata = (_quoted(told), QUOTED) if llm is None else _retold(llm, material, told)
    text = within_words(candidate.text, material.strategy.most_words)
    whole = Candidate(
        text=shorten(text, material.policy.limits.episode_chars),
        topics=candidate.topics,
        entities=candidate.entities,
        sources=tuple(one.seq for one in thread),
        id=record_id(session),
        metadata={FINGERPRINT: mark},
    )
    return Found((whole,) if whole.text else (), material.strategy.config, metadata)


def _retold(llm: LLM, material: Material, told: Sequence[Said]) -> tuple[Candidate, dict[str, str]]:
    answer, metadata = ask(
        llm,
        material.task,
        prompt="extract_summary",
        answer=ThreadSummary,
        conversation=render([Turn(one.seq, one.role, one.text) for one in told]),
        most_words=str(material.strategy.most_words),
    )
    found = Candidate(
        text=tidy(answer.summary),
        topics=names(answer.topics, MOST_TOPICS),
        entities=names(answer.entities, MOST_ENTITIES),
    )
    return found, dict(metadata)


def _quoted(told: Sequence[Said]) -> Candidate:
    """The first and last words of the user, and what else was said that weighs something."""
    spoken = [one.text for one in told if one.role == "user"]
    texts = [one.text for one in told if one.role != "tool"]
    ends = [one[:LONGEST_QUOTE] for one in (spoken[0], spoken[-1])] if spoken else []
    text = summarise(
        messages=len(texts),
        first=spoken[0] if spoken else None,
        last=spoken[-1] if spoken else None,
        inflected=True,
        noted=select_notes(texts, known=ends),
    )
    said = "\n".join(spoken)
    return Candidate(text=text, topics=topics_of(said), entities=names_in(said))


def _fingerprint(thread: Sequence[Said], most_words: int) -> str:
    told = [most_words, *((one.id, one.role, one.text) for one in thread)]
    return sha256(json.dumps(told).encode()).hexdigest()[:32]


def _is_told(session: Session, mark: str) -> bool:
    with scope(session.tenant_id):
        mine = Episode.objects.filter(
            tenant_id=session.tenant_id,
            user_id=session.user_id,
            namespace=session.namespace,
            external_id=record_id(session),
            valid_to=None,
        )
        return mine.filter(metadata__contains={FINGERPRINT: mark}).exists()
