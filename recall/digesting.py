"""The summary of some records: in a language model's words, or else the deterministic one."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from pydantic import BaseModel, Field

from episodic.summary_partitions import Told, fingerprint_of
from providers.llm import LLM, LLMRefused, LLMUnavailable, get_llm
from providers.prompts import Prompt, load_prompt
from recall.answers import PROMPTS
from recall.digest import digest
from screening.fences import strip_fences
from screening.injection import find_injection
from screening.sensitive import find_sensitive, mask
from tenants.usage import metered

PURPOSE = "record_summary"
DETERMINISTIC = "deterministic.v1"
PIECE = 24_000  # characters of records that the model is shown at once
LONGEST_WANTED = 8_000  # likewise of what the reader wants


class RecordSummary(BaseModel):
    """Answer to the prompt `record_summary`."""

    summary: str = Field(min_length=1, max_length=10_000)


@dataclass(frozen=True, slots=True)
class Digest:
    """A summary and who wrote it: the model and the prompt, both empty for the deterministic one. `away` says
    why that stands in for a model that did not answer, and `retry_after` when it may, in seconds."""

    text: str
    model: str = ""
    prompt_id: str = ""
    away: str = ""
    retry_after: float = 0.0


def wanted_fingerprint(records: Sequence[Told], *, wanted: str) -> str:
    """Stands for the records and for who would summarise them now, as `wanted`."""
    llm = get_llm()
    by = (DETERMINISTIC,) if llm is None else (load_prompt(PROMPTS, PURPOSE).id, llm.model, wanted)
    return fingerprint_of(records, *by)


def quotable(records: Sequence[Told]) -> list[Told]:
    """The records as they may be shown: none that gives orders to a model, and without what is sensitive."""
    harmless = (one for one in records if not any(map(find_injection, (one.text, *one.topics))))
    return [
        replace(one, text=_masked(strip_fences(one.text)), topics=[_masked(topic) for topic in one.topics])
        for one in harmless
    ]


def write_digest(
    records: Sequence[Told], *, tenant_id: UUID, wanted: str, seconds: float | None = None
) -> Digest:
    """The summary of quotable records, at least one, oldest first, as `wanted`. `seconds`: the model has no
    more than so many in all. Never in a scope."""
    llm = get_llm()
    if llm is None:
        return _deterministic(records)
    prompt = load_prompt(PROMPTS, PURPOSE)
    try:
        with metered(tenant_id):
            text = _ask(llm, prompt, records, wanted, seconds)
    except LLMUnavailable as error:
        return replace(_deterministic(records), away=str(error), retry_after=error.retry_after or 0.0)
    except LLMRefused:
        return _deterministic(records)
    if find_injection(text):  # it would be read as a memory later
        return _deterministic(records)
    return Digest(_masked(text), llm.model, prompt.id)


def _deterministic(records: Sequence[Told]) -> Digest:
    moments = [one.happened_at for one in records]
    return Digest(
        digest(
            texts=[one.text for one in records],
            topics=[one.topics for one in records],
            first=min(moments),
            last=max(moments),
        )
    )


def _ask(llm: LLM, prompt: Prompt, records: Sequence[Told], wanted: str, seconds: float | None) -> str:
    """Piece by piece, each with the summary of those before."""
    until, summary = None if seconds is None else time.monotonic() + seconds, ""
    for piece in _pieces(records):
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise LLMUnavailable("There was no time left for the rest.")
        messages = prompt.messages(wanted=_masked(wanted[:LONGEST_WANTED]), so_far=summary, memories=piece)
        answer = llm.complete(messages=messages, answer=RecordSummary, purpose=PURPOSE, seconds=left)
        summary = _masked(answer.summary)
    return summary


def _pieces(records: Sequence[Told]) -> Iterator[str]:
    lines: list[str] = []
    length = 0
    for one in records:
        line = f"- {one.happened_at.date().isoformat()}: {' '.join(one.text.split())}"
        if lines and length + len(line) > PIECE:
            yield "\n".join(lines)
            lines, length = [], 0
        lines.append(line)
        length += len(line) + 1
    yield "\n".join(lines)


def _masked(text: str) -> str:
    return mask(text, find_sensitive(text))
