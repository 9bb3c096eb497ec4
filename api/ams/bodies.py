"""What the routes of working memory and of records accept. Unknown fields are ignored; limits are those of
the store."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from django.conf import settings
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from api.ams.fields import (
    MOST_SECONDS,
    MOST_TOKENS,
    Count,
    Days,
    Id,
    Labels,
    Mark,
    MemoryType,
    Moment,
    Name,
    RecordId,
    Text,
)
from recall.extracting.config import FEWEST_WORDS, MOST_WORDS, USUAL_WORDS


def refuse_future(moment: datetime) -> datetime:
    """Raises ValueError for a moment that a clock of ours will not show soon."""
    now = datetime.now(UTC)
    if moment <= now:
        return moment
    most = settings.MAX_FUTURE_TIMESTAMP_SECONDS
    latest = now + timedelta(seconds=most)
    if moment > latest:
        raise ValueError(
            f"created_at cannot be more than {most} seconds in the future. "
            f"Received: {moment.isoformat()}, Max allowed: {latest.isoformat()}"
        )
    return moment


Past = Annotated[Moment, AfterValidator(refuse_future)]


class Message(BaseModel):
    role: Name
    content: str
    id: Id | None = None
    created_at: Moment | None = None
    persisted_at: Moment | None = None
    discrete_memory_extracted: Mark = "f"

    @model_validator(mode="after")
    def refuse_later(self) -> Self:
        """The error is the message's, not the field's: clients may look for it there."""
        if self.created_at is not None:
            refuse_future(self.created_at)
        return self


class Record(BaseModel):
    """A record as a session carries it."""

    id: RecordId
    text: Text
    session_id: Id | None = None
    user_id: Id | None = None
    namespace: Id | None = None
    last_accessed: Moment | None = None
    created_at: Past | None = None
    updated_at: Moment | None = None
    pinned: bool = False
    access_count: Count = 0
    topics: Labels | None = None
    entities: Labels | None = None
    memory_hash: str | None = None
    discrete_memory_extracted: Mark = "f"
    memory_type: MemoryType = "message"
    persisted_at: Moment | None = None
    extracted_from: list[Id] | None = None
    event_date: Moment | None = None
    extraction_strategy: Name = "discrete"
    extraction_strategy_config: dict[str, Any] = {}
    metadata: dict[str, Any] = {}


class NewRecord(Record):
    """A record that is stored at once."""

    discrete_memory_extracted: Mark = "t"
    memory_type: MemoryType = "semantic"


class StrategyConfig(BaseModel):
    """What strategies read of it; the rest is kept and told as it is."""

    model_config = ConfigDict(extra="allow")

    max_summary_length: Annotated[int, Field(ge=1, strict=True)] | None = Field(
        default=None,
        description=f"In words: {USUAL_WORDS} by default; less than {FEWEST_WORDS} counts as so many, more"
        f" than {MOST_WORDS} likewise.",
    )
    custom_prompt: str | None = None


class Strategy(BaseModel):
    strategy: Literal["discrete", "summary", "preferences", "custom"] = "discrete"
    config: StrategyConfig = StrategyConfig()

    def as_sent(self) -> dict[str, Any]:
        """With no more in its config than the client has put there."""
        return {"strategy": self.strategy, "config": self.config.model_dump(exclude_unset=True)}


class Messages(BaseModel):
    messages: list[Message]
    user_id: Id | None = None
    namespace: Id | None = None


class WorkingMemory(BaseModel):
    messages: list[Message] = []
    memories: list[Record] = []
    data: dict[str, Any] | None = None
    context: str | None = None
    user_id: Id | None = None
    namespace: Id | None = None
    tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS)] = 0
    long_term_memory_strategy: Strategy = Strategy()
    ttl_seconds: Annotated[int, Field(ge=1, le=MOST_SECONDS)] | None = Field(
        default=None, description="By default `AMS_TTL_SECONDS`."
    )
    last_accessed: Moment | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = Field(
        default=None, description="As it was read: what has come since, and is missing here, stays."
    )


class NewRecords(BaseModel):
    memories: list[NewRecord]
    deduplicate: bool = True


class RecordChanges(BaseModel):
    """Null changes nothing."""

    text: Text | None = None
    topics: Labels | None = None
    entities: Labels | None = None
    memory_type: MemoryType | None = None
    namespace: Id | None = None
    user_id: Id | None = None
    session_id: Id | None = None
    event_date: Moment | None = None
    pinned: bool | None = None


class ForgetPolicy(BaseModel):
    max_age_days: Days | None = None
    max_inactive_days: Days | None = None
    budget: Count | None = Field(
        default=None, description="How many are kept, those used last and newest first."
    )
    memory_type_allowlist: list[MemoryType] | None = Field(
        default=None, description="Only such are forgotten."
    )
    hard_age_multiplier: Annotated[float, Field(ge=1, le=1_000)] = 12.0


class Forget(BaseModel):
    policy: ForgetPolicy
    pinned_ids: list[Id] | None = None
