"""What the routes of summary views accept. Unknown fields are ignored, but no unknown filter."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, Field, JsonValue

from api.ams.fields import MOST_DAYS, Id
from api.ams.filters import Known, MomentFilter, TextFilter, TypeFilter
from episodic.record_tests import Field as FieldName
from episodic.record_tests import FieldTest

LONGEST_PROMPT = 20_000  # characters
GroupField = Literal["user_id", "namespace", "session_id", "memory_type"]


def _operators(value: Any) -> Any:
    """A plain value is one that must be equal, a list one of which any will do."""
    if isinstance(value, str):
        return {"eq": value}
    return {"any": value} if isinstance(value, list) else value


OfText = Annotated[TextFilter, BeforeValidator(_operators)]
OfType = Annotated[TypeFilter, BeforeValidator(_operators)]
OfMoment = Annotated[MomentFilter, BeforeValidator(_operators)]


class ViewFilters(Known):
    """By field: a value, a list of values, or operators as in a search. All of them must be met."""

    user_id: OfText | None = None
    namespace: OfText | None = None
    session_id: OfText | None = None
    memory_type: OfType | None = None
    extraction_strategy: OfText | None = None
    topics: OfText | None = None
    event_date: OfMoment | None = None

    def field_tests(self) -> Iterator[FieldTest]:
        for name in get_args(FieldName):
            one: TextFilter | TypeFilter | MomentFilter | None = getattr(self, name, None)
            if one is not None:
                yield from one.tests(name)


class NewView(BaseModel):
    name: Id | None = None
    source: Annotated[str, Field(max_length=64, description="`long_term`; anything else is 400.")]
    group_by: Annotated[list[GroupField], Field(max_length=16)] = Field(
        default=[], description="One summary for each combination of values; none: one in all."
    )
    filters: dict[str, JsonValue] | None = Field(
        default=None, description="By field: a value, a list of values, or operators as in a search."
    )
    time_window_days: Annotated[int, Field(ge=1, le=MOST_DAYS)] | None = None
    continuous: bool | None = Field(default=None, description="Whether it is kept up to date.")
    prompt: Annotated[str, Field(max_length=LONGEST_PROMPT)] | None = Field(
        default=None, description="What the reader wants of a summary."
    )
    model_name: Id | None = None


class RunPartition(BaseModel):
    group: dict[str, Id] = Field(description="A value for each of the fields that the view groups by.")


class RunView(BaseModel):
    task_id: Annotated[Id, Field(min_length=1)] | None = Field(
        default=None, description="The id of the task; the same again is the same task."
    )
    force: bool = Field(default=False, description="Also where no record has changed.")
