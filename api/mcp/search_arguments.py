"""What the tools that search records are called with, as the schema that agents are shown."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from api.mcp.record_arguments import Id, Moment, complaint_of
from api.mcp.tool import ToolError
from episodic.record_tests import MOMENTS, SEVERAL, FieldTest, Operator
from episodic.record_tests import Field as FieldName
from episodic.types import EpisodeFilter
from recall.long_term import RecordQuery
from recall.long_term_prompt import SessionPart
from recall.ranking.recency import RecencyWeights
from recall.working_memory import WindowSize
from tenants.errors import Invalid
from working.types import SessionAddress

Asked = str | list[str] | dict[str, Any]
Share = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[float, Field(ge=0, le=36_500)]
ALIASES: dict[str, Operator] = {"in_": "any", "not_in": "none", "not_eq": "ne"}
USUAL = RecencyWeights()
# By what the arguments are called, what they weigh.
WEIGHTS = {
    "recency_semantic_weight": "semantic",
    "recency_recency_weight": "recency",
    "recency_freshness_weight": "freshness",
    "recency_novelty_weight": "novelty",
    "recency_half_life_last_access_days": "half_life_last_access_days",
    "recency_half_life_created_days": "half_life_created_days",
}
_MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)
_ID: TypeAdapter[str] = TypeAdapter(Id)

TEXTS = 'a value, a list of values of which one is meant, or operators such as {"ne": …}, {"startswith": …}'
LISTS = 'a value, a list of which one must be there, or operators: {"all": […]}, {"none": […]}'
DATES = 'a date and time, or operators: {"gte": …, "lt": …}'
ONE = 'A session is one user\'s and of one namespace: name it by a value, or {"eq": …}.'


def _asked(what: str, form: str) -> Any:
    return Field(None, description=f"Only records {what}: {form}.")


def _recency(what: str, usual: float) -> Any:
    return Field(None, description=f"With recency: {what}, {usual:g} by default.")


def _value_of_eq(given: Any) -> Any:
    """The value where it is named as a filter names it."""
    if not isinstance(given, dict):
        return given
    present = _present(given)
    return present["eq"] if present.keys() == {"eq"} else given


class Filters(BaseModel):
    """Which records are meant."""

    session_id: Asked | None = _asked("of this session", TEXTS)
    namespace: Asked | None = _asked("of this namespace", TEXTS)
    user_id: Asked | None = _asked("of this user", TEXTS)
    topics: Asked | None = _asked("about these topics", LISTS)
    entities: Asked | None = _asked("about these entities", LISTS)
    memory_type: Asked | None = _asked("of this type, episodic, semantic or message", TEXTS)
    created_at: str | dict[str, Any] | None = _asked("created then", DATES)
    last_accessed: str | dict[str, Any] | None = _asked("last used then", DATES)
    event_date: str | dict[str, Any] | None = _asked("of what happened then", DATES)

    def tests(self) -> tuple[FieldTest, ...]:
        """Raises ToolError for an operator that there is not, and for what does not fit one."""
        try:
            return tuple(self._tests())
        except Invalid as error:
            raise ToolError(f"{error.field}: {error}") from error
        except ValidationError as error:
            raise ToolError(complaint_of(error)) from error

    def _tests(self) -> Iterator[FieldTest]:
        for name in Filters.model_fields:
            asked = getattr(self, name)
            if isinstance(asked, dict):
                for operator, value in (_present(asked) or asked).items():
                    yield from _of_operator(name, operator, value)
            elif asked is not None:
                yield from _of_operator(name, "any" if isinstance(asked, list) else "eq", asked)


class Wanted(Filters):
    """How records are searched for, and how many."""

    search_mode: Literal["semantic", "keyword", "hybrid"] = Field(
        "semantic", description="By meaning, by words, or by both."
    )
    hybrid_alpha: Share = Field(
        0.7, description="By both: what meaning counts for, from 0 to 1; words have the rest."
    )
    distance_threshold: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, description="By meaning: nothing farther than this, from 0 (the same) to 2."
    )
    limit: Annotated[int, Field(ge=1, le=100)] = Field(10, description="How many to answer at most.")
    offset: Annotated[int, Field(ge=0)] = Field(0, description="How many to pass over: next_offset.")
    optimize_query: bool = Field(False, description="Have a language model put the text in better words.")
    recency_boost: bool | None = Field(None, description="Whether recency counts; left out, it does.")
    recency_semantic_weight: Share | None = _recency("what nearness counts for", USUAL.semantic)
    recency_recency_weight: Share | None = _recency("what recency counts for", USUAL.recency)
    recency_freshness_weight: Share | None = _recency("of it, the last use", USUAL.freshness)
    recency_novelty_weight: Share | None = _recency("of it, the creation", USUAL.novelty)
    recency_half_life_last_access_days: Days | None = _recency(
        "in how many days the last use counts half", USUAL.half_life_last_access_days
    )
    recency_half_life_created_days: Days | None = _recency(
        "in how many days the creation counts half", USUAL.half_life_created_days
    )
    include_working_memory: bool = Field(
        False, description="Whether what waits or was said in sessions comes first."
    )

    def query(self, text: str, *, without: str = "") -> RecordQuery:
        """Raises ToolError for a filter that is none."""
        tests = tuple(one for one in self.tests() if one.field != without)
        return RecordQuery(
            text=text,
            mode=self.search_mode,
            alpha=self.hybrid_alpha,
            where=EpisodeFilter(tests=tests),
            distance_threshold=self.distance_threshold,
            limit=self.limit,
            offset=self.offset,
            recency=None if self.recency_boost is False else self._weights(),
            optimize=self.optimize_query,
            with_working=self.include_working_memory,
        )

    def _weights(self) -> RecencyWeights:
        given = {name: getattr(self, argument) for argument, name in WEIGHTS.items()}
        return replace(USUAL, **_present(given))


class Text(BaseModel):
    """What comes first."""

    text: str = Field("", description="What to look for, in plain words; without it, the newest are listed.")


class SearchArguments(Wanted, Text):
    """Of `search_long_term_memory`."""


class Question(BaseModel):
    """Likewise."""

    question: str = Field(alias="query", description="The user's question.")


class PromptArguments(Wanted, Question):
    """Of `memory_prompt`: the filters are those of its search, which goes beyond the session."""

    session_id: Annotated[
        Id | None, BeforeValidator(_value_of_eq, json_schema_input_type=str | dict[str, Any] | None)
    ] = Field(None, description='The session that the question is asked in: its id, or {"eq": …}.')
    namespace: Asked | None = Field(None, description=f"The namespace of session and records: {TEXTS}.")
    user_id: Asked | None = Field(None, description=f"The user of session and records: {TEXTS}.")
    model_name: Id | None = Field(None, description="The model that is asked, by which the window is known.")
    context_window_max: Annotated[int, Field(ge=1)] | None = Field(None, description="Tokens of the window.")
    include_long_term_search: bool = Field(
        True, description="Whether records are searched for; if not, name a session."
    )

    def session(self) -> SessionPart | None:
        """None where none is named. Raises ToolError where user or namespace may be several."""
        if not self.session_id:
            return None
        address = SessionAddress(self.session_id, self._only("user_id"), self._only("namespace"))
        return SessionPart(address, WindowSize(self.model_name, self.context_window_max))

    def search(self) -> RecordQuery | None:
        """None where none is wanted. Raises ToolError for a filter that is none."""
        return self.query(self.question, without="session_id") if self.include_long_term_search else None

    def _only(self, name: str) -> str | None:
        value = _value_of_eq(getattr(self, name))
        if isinstance(value, list | dict) and value:
            raise ToolError(f"{name}: {ONE}")
        try:
            return _ID.validate_python(value or "") or None
        except ValidationError as error:
            raise ToolError(f"{name}: {complaint_of(error)}") from error


def _of_operator(name: str, operator: str, value: Any) -> Iterator[FieldTest]:
    field = cast(FieldName, name)
    if operator == "between" and isinstance(value, list) and len(value) == 2:
        yield FieldTest(field, "gte", _value(field, "gte", value[0]))
        yield FieldTest(field, "lte", _value(field, "lte", value[1]))
        return
    known = ALIASES.get(operator) or cast(Operator, operator)  # which the test refuses if it is none
    yield FieldTest(field, known, _value(field, known, value))


def _value(field: FieldName, operator: Operator, value: Any) -> Any:
    if field in MOMENTS:
        return _MOMENT.validate_python(value)
    return tuple(value) if operator in SEVERAL and isinstance(value, list) else value


def _present(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
