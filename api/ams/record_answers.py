"""What the routes of long-term records answer."""

from collections.abc import Mapping
from typing import Any

from rest_framework.response import Response

from api.ams import answers
from api.ams.answers import said
from api.ams.errors import MOST_TOLD
from episodic.access import Access
from episodic.models import Episode
from episodic.records import record_hash
from ledger.models import WriteDecision
from recall.gate import REFUSED
from recall.long_term import FoundRecord, FoundRecords
from recall.saving_records import SentRecords

# What a record of a session need not say.
UNSAID: dict[str, Any] = {
    "pinned": False, "access_count": 0, "topics": [], "entities": [], "memory_hash": None,
    "discrete_memory_extracted": "f", "memory_type": "message", "persisted_at": None, "extracted_from": [],
    "event_date": None, "extraction_strategy": "discrete", "extraction_strategy_config": {}, "metadata": {},
}  # fmt: skip


def record(one: Episode, used: Access) -> dict[str, Any]:
    """A record, whichever way it came in."""
    extraction: Mapping[str, Any] = one.extraction or {}
    return {
        "id": one.external_id or str(one.id),
        "text": one.text,
        "session_id": one.session or None,
        "user_id": one.user_id or None,
        "namespace": one.namespace or None,
        "last_accessed": used.last_accessed_at or one.created_at,
        "created_at": one.created_at,
        "updated_at": one.updated_at or one.persisted_at or one.created_at,
        "pinned": one.pinned_at is not None,
        "access_count": used.access_count,
        "topics": one.topics,
        "entities": one.entities,
        "memory_hash": record_hash(one),
        "discrete_memory_extracted": extraction.get("done", "t"),
        "memory_type": one.memory_type,
        "persisted_at": one.persisted_at or one.created_at,
        "extracted_from": extraction.get("from", []),
        "event_date": one.event_date,
        "extraction_strategy": extraction.get("strategy", "discrete"),
        "extraction_strategy_config": extraction.get("config", {}),
        "metadata": one.metadata,
    }


def sent(done: SentRecords) -> Response:
    """That the records are saved, and which of them wait for somebody to confirm them; or which of them may
    not be remembered, by their places."""
    if done.refused:
        return refusal(*((one.decision, ("memories", one.place, "text")) for one in done.refused))
    held = [{"id": one.id, "decision_id": one.decision.id} for one in done.held]
    return Response({**answers.OK, "held": held} if held else answers.OK)


def refusal(*refused: tuple[WriteDecision, tuple[str | int, ...]]) -> Response:
    """What may not be remembered, as not valid where it stood in the body. What it says is not repeated."""
    return Response(
        {
            "detail": [
                {
                    "type": decision.reason,
                    "loc": ["body", *place],
                    "msg": REFUSED[decision.reason],
                    "input": None,
                    "ctx": {"findings": decision.findings, "decision_id": decision.id},
                }
                for decision, place in refused[:MOST_TOLD]
            ]
        },
        status=422,
    )


def results(found: FoundRecords) -> dict[str, Any]:
    """What a search has found."""
    return {
        "memories": [result(one) for one in found.records],
        "total": found.total,
        "next_offset": found.next_offset,
    }


def result(one: FoundRecord) -> dict[str, Any]:
    """A record with how near it is; of one that stands in a session, as it stands there."""
    figures = {"dist": one.distance, "score": one.score, "score_type": one.score_type}
    if one.episode is not None:
        return record(one.episode, one.used) | figures
    assert one.working is not None  # noqa: S101  it is the one or the other
    return UNSAID | said(one.working.record) | figures
