"""The shape of the answers, for the OpenAPI document alone: `answers.py` and the views make them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.ams.bodies import Strategy
from api.ams.fields import Mark, MemoryType


class Done(BaseModel):
    status: str


class HeldRecord(BaseModel):
    id: str
    decision_id: str


class Saved(BaseModel):
    status: str
    held: list[HeldRecord] | None = Field(
        default=None, description="Those that wait for somebody to confirm them; left out without any."
    )


class Health(BaseModel):
    now: int


class Sessions(BaseModel):
    sessions: list[str]
    total: int


class StoredMessage(BaseModel):
    role: str
    content: str
    id: str
    created_at: datetime
    persisted_at: datetime | None
    discrete_memory_extracted: Mark


class PendingRecord(BaseModel):
    id: str
    text: str
    session_id: str | None
    user_id: str | None
    namespace: str | None
    last_accessed: datetime
    created_at: datetime
    updated_at: datetime
    pinned: bool
    access_count: int
    topics: list[str] | None
    entities: list[str] | None
    memory_hash: str | None
    discrete_memory_extracted: Mark
    memory_type: MemoryType
    persisted_at: datetime | None
    extracted_from: list[str] | None
    event_date: datetime | None
    extraction_strategy: str
    extraction_strategy_config: dict[str, Any]
    metadata: dict[str, Any]


class StoredRecord(PendingRecord):
    topics: list[str]
    entities: list[str]
    extracted_from: list[str]


class Result(PendingRecord):
    dist: float
    score: float | None
    score_type: Literal["semantic", "keyword", "hybrid"] | None


class Results(BaseModel):
    memories: list[Result]
    total: int
    next_offset: int | None


class PromptContent(BaseModel):
    type: Literal["text"]
    text: str
    annotations: None
    meta: None = Field(alias="_meta")


class PromptMessage(BaseModel):
    role: Literal["system", "user", "assistant"]
    content: PromptContent


class Prompted(BaseModel):
    messages: list[PromptMessage]
    long_term_memories: list[Result] | None


class Forgotten(BaseModel):
    scanned: int
    deleted: int
    deleted_ids: list[str]
    dry_run: bool


class StoredWorkingMemory(BaseModel):
    messages: list[StoredMessage]
    memories: list[PendingRecord]
    data: dict[str, Any] | None
    context: str | None
    user_id: str | None
    tokens: int
    session_id: str
    namespace: str | None
    long_term_memory_strategy: Strategy
    ttl_seconds: int | None
    last_accessed: datetime
    created_at: datetime
    updated_at: datetime
    context_percentage_total_used: float | None
    context_percentage_until_summarization: float | None
    unsaved: Literal[True] | None = None


_INVALID = {
    "type": {"type": "string"},
    "loc": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
    "msg": {"type": "string"},
    "input": {"description": "What was sent."},
    "ctx": {"type": "object", "additionalProperties": {}},
}
_DETAIL = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _INVALID,
                "required": ["type", "loc", "msg", "input"],
            },
        },
    ]
}
ERROR = {"type": "object", "properties": {"detail": _DETAIL}, "required": ["detail"]}
