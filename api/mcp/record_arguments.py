"""What the tools that save and read records and sessions are called with, as the schema that agents are
shown."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from api.mcp.tool import Arguments, ToolError
from api.parsers import mend_text
from episodic.compacting import MOST_COMPARED

Model = TypeVar("Model", bound=BaseModel)
LONGEST_ID = 255
MOST_LABELS = 100
MOST_RECORDS = 100  # in one call


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_in_utc)]
Id = Annotated[str, Field(max_length=LONGEST_ID)]
RecordId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
NewId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, pattern=r"[^/]$")]  # that a path can end in
Said = Annotated[str, Field(min_length=1, pattern=r"\S")]
Filled = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]  # an empty one would narrow nothing
Labels = Annotated[list[Id], Field(max_length=MOST_LABELS)]
MemoryType = Literal["episodic", "semantic", "message"]


class Record(BaseModel):
    """A record to be saved."""

    text: Said = Field(description="One fact, which must make sense alone.")
    memory_type: MemoryType = Field(
        "semantic", description="semantic: what holds; episodic: what happened, with its event_date."
    )
    id: NewId | None = Field(None, description="Takes the place of the record of this id, if there is one.")
    topics: Labels = Field([], description="What it is about, in a few words each.")
    entities: Labels = Field([], description="Names that stand in it.")
    event_date: Moment | None = Field(None, description="When it happened, ISO 8601 in UTC.")
    user_id: Id | None = Field(None, description="Whom it is about.")
    session_id: Id | None = Field(None, description="The session that it comes from.")
    namespace: Id | None = Field(None, description="Where it is kept apart.")


class CreateArguments(BaseModel):
    """Of `create_long_term_memories`."""

    memories: Annotated[list[Record], Field(max_length=MOST_RECORDS)] = Field(
        description="The records, each one fact."
    )


class WhoseArguments(BaseModel):
    """Of tools to which one id may stand for the records of several users or namespaces."""

    of_user: Id | None = Field(None, description="Whose record, if several go by one id; empty: nobody's.")
    of_namespace: Id | None = Field(None, description="Of which namespace, likewise; empty: of none.")


class MemoryId(BaseModel):
    """What comes before that."""

    memory_id: str = Field(description="The record's id, as a search tells it.")


class MemoryIds(BaseModel):
    """Likewise, of several."""

    memory_ids: Annotated[list[str], Field(max_length=1_000)] = Field(
        description="The records' ids, as a search tells them."
    )


class IdArguments(WhoseArguments, MemoryId):
    """Of `get_long_term_memory`."""


class EditArguments(IdArguments):
    """Of `edit_long_term_memory`: what is left out stays."""

    text: Said | None = Field(None, description="What it says from now on.")
    topics: Labels | None = Field(None, description="What it is about.")
    entities: Labels | None = Field(None, description="Names that stand in it.")
    memory_type: MemoryType | None = Field(None, description="episodic, semantic or message.")
    namespace: Id | None = Field(None, description="Where it is kept apart.")
    user_id: Id | None = Field(None, description="Whom it is about.")
    session_id: Id | None = Field(None, description="The session that it comes from.")
    event_date: Moment | None = Field(None, description="When it happened, ISO 8601 in UTC.")


class DeleteArguments(WhoseArguments, MemoryIds):
    """Of `delete_long_term_memories`."""


class CompactArguments(BaseModel):
    """Of `compact_long_term_memories`."""

    namespace: Filled | None = Field(None, description="Only records of this namespace.")
    user_id: Filled | None = Field(None, description="Only records of this user.")
    limit: Annotated[int, Field(ge=1, le=MOST_COMPARED)] = Field(
        MOST_COMPARED, description="How many to compare at most, those saved last first."
    )


class SessionArguments(BaseModel):
    """Whose session is meant: exactly that of this user and namespace."""

    session_id: RecordId = Field(description="The session's id.")
    user_id: Id | None = Field(None, description="The session's user, if it has one.")
    namespace: Id | None = Field(None, description="The session's namespace, if it has one.")


class GetSessionArguments(SessionArguments):
    """Of `get_working_memory`."""

    recent_messages_limit: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Only the last messages, so many."
    )


class SaidMessage(BaseModel):
    """A message of a session."""

    role: Annotated[str, Field(min_length=1, max_length=64)] = Field(description="user, assistant, …")
    content: Annotated[str, Field(min_length=1)] = Field(description="What was said.")
    id: RecordId | None = Field(None, description="The message's own id: it is kept once.")
    created_at: Moment | None = Field(None, description="When it was said, ISO 8601 in UTC.")


class SetSessionArguments(SessionArguments):
    """Of `set_working_memory`: what is left out is empty then."""

    messages: list[SaidMessage] = Field([], description="All that was said, oldest first.")
    memories: Annotated[list[Record], Field(max_length=MOST_RECORDS)] = Field(
        [], description="Facts that become long-term records by themselves."
    )
    context: str | None = Field(None, description="A summary of what was said before the messages.")
    data: dict[str, Any] | None = Field(None, description="Any JSON by name, for this session alone.")
    ttl_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        None,
        description="How long it is held after its last change; left out, an hour unless set up otherwise.",
    )


def parse(model: type[Model], given: Arguments) -> Model:
    """The arguments as the model has them. What cannot be stored of a text becomes U+FFFD. Raises ToolError
    with the first of what is wrong."""
    try:
        return model.model_validate(_mended(given))
    except ValidationError as error:
        raise ToolError(complaint_of(error)) from error


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema, without the titles that repeat the names."""
    schema: dict[str, Any] = _untitled(model.model_json_schema())
    schema.pop("description", None)
    return schema


def complaint_of(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, list):
        return [_mended(one) for one in value]
    if isinstance(value, Mapping):
        return {_mended(name): _mended(one) for name, one in value.items()}
    return value


def _untitled(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {key: _untitled(one) for key, one in part.items()} if name == "properties" else _untitled(part)
        for name, part in schema.items()
        if name != "title"
    }
