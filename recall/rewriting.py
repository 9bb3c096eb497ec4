"""The summary of a session in a language model's words, in place of the deterministic one, afterwards.

Ends and turns stay fast and need no provider: they store the deterministic summary and record this job.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic.models import Episode
from episodic.revision import revise_episode
from providers.llm import get_llm
from recall.answers import SessionSummary
from recall.asking import ask
from recall.told import running_summary
from recall.transcript import render
from screening.injection import find_injection
from screening.sensitive import find_sensitive, mask
from tenants.embedding import try_embed
from tenants.jobs.kinds import GiveUp, Kind, Task
from tenants.jobs.queue import enqueue
from tenants.scope import scope
from working.events import turns_between
from working.models import Session
from working.summaries import Announced, announce_summary, replace_summary

REWRITE = "session.summarise"
PURPOSE = "session_summary"


@dataclass(frozen=True, slots=True)
class Material:
    """A deterministic summary, and what was said."""

    session: Session
    covers: tuple[int, int]
    text: str
    transcript: str


@dataclass(frozen=True, slots=True)
class Written:
    """What the model made of it, and which it was; `announced` tells Redis that the summary is about to
    change."""

    material: Material
    answer: SessionSummary
    vector: NDArray[np.float32] | None
    by: Mapping[str, str]
    announced: Announced


def enqueue_rewrite(*, session: Session, episode: Episode, now: datetime) -> None:
    """Records the job in the open scope, if there is a language model."""
    if get_llm() is not None:
        payload = {"session": str(session.id), "episode": str(episode.id)}
        enqueue(REWRITE, payload=payload, now=now, user_id=session.user_id, dedup_key=str(episode.id))


def rewrite_kind() -> Kind:
    """The job that asks the model."""
    return Kind(REWRITE, _apply, prepare=_prepare, slow=True)


def _prepare(task: Task) -> Written | None:
    """Asks the model, outside of any scope. None when there is nothing to rewrite any more."""
    llm, material = get_llm(), _material(task)
    if llm is None or material is None:
        return None
    answer, by = ask(
        llm, task, purpose=PURPOSE, prompt=PURPOSE, answer=SessionSummary, transcript=material.transcript
    )
    answer = _harmless(answer)
    vectors = try_embed([answer.summary], tenant_id=task.tenant_id, interactive=False)
    return Written(
        material=material,
        answer=answer,
        vector=None if vectors is None else vectors[0],
        by=by,
        announced=announce_summary(session=material.session),
    )


def _apply(task: Task, written: Written | None) -> None:
    """Replaces the text of the episode, and the same in the session's summary if nobody has changed that. The
    deterministic text stays in the metadata."""
    if written is None:
        return
    material, answer = written.material, written.answer

    def better(locked: Session | None) -> str | None:
        before = running_summary(locked) if locked else ""
        revise_episode(
            tenant_id=task.tenant_id,
            episode_id=UUID(task.payload["episode"]),
            before=material.text,
            text=answer.summary,
            topics=answer.topics,
            outcome=answer.outcome,
            metadata={"deterministic": material.text, **written.by},
            vector=written.vector,
        )
        if locked is None:
            return None
        if (locked.summarised_seq, locked.summary) == (material.covers[1], material.text):
            return answer.summary
        return running_summary(locked) if locked.summary == before else None

    replace_summary(announced=written.announced, session=material.session, better=better)


def _harmless(answer: SessionSummary) -> SessionSummary:
    """The answer without what is sensitive, though the prompt forbids that. Raises GiveUp for one that gives
    orders, which would be read as a memory later."""
    if any(map(find_injection, (answer.summary, answer.outcome, *answer.topics))):
        raise GiveUp("The summary gives orders to the model.")
    return SessionSummary(
        summary=_masked(answer.summary),
        topics=[_masked(topic) for topic in answer.topics],
        outcome=_masked(answer.outcome),
    )


def _masked(text: str) -> str:
    return mask(text, find_sensitive(text))


def _material(task: Task) -> Material | None:
    """None when episode, session or turns are gone, or the episode is not the deterministic one any more."""
    tenant_id = task.tenant_id
    with scope(tenant_id):
        session = Session.objects.filter(tenant_id=tenant_id, id=task.payload["session"]).first()
        episode = Episode.objects.filter(tenant_id=tenant_id, id=task.payload["episode"]).first()
        if session is None or episode is None or not episode.covers_turns or "model" in episode.metadata:
            return None
        first, last = episode.covers_turns
        turns = turns_between(session=session, first=first, last=last)
    if not turns:
        return None
    return Material(session, (first, last), episode.text, render(turns))
