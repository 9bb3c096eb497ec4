"""What a search asks of single fields: every operator that a server or a client of this protocol knows, all
of them ANDed. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, LiteralString, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from api.ams.fields import Id, MemoryType, Moment
from episodic.record_tests import Field as FieldName
from episodic.record_tests import FieldTest, Operator

Chosen = Annotated[list[Id], Field(max_length=1_000)]
# By what they are called here, what they are.
CANONICAL: dict[str, Operator] = {
    "eq": "eq", "ne": "ne", "not_eq": "ne", "any": "any", "in_": "any", "none": "none", "not_in": "none",
    "all": "all", "startswith": "startswith", "gt": "gt", "gte": "gte", "lt": "lt", "lte": "lte",
}  # fmt: skip
BOUNDS: dict[str, tuple[Operator, Operator]] = {
    "both": ("gte", "lte"), "left": ("gte", "lt"), "right": ("gt", "lte"), "neither": ("gt", "lt"),
}  # fmt: skip


class Known(BaseModel):
    """What has no other field than these: ignored, it would have more found than is meant."""

    model_config = ConfigDict(extra="forbid")  # as the OpenAPI document tells it
    unknown: ClassVar[LiteralString] = "Unknown filter field '{name}'"

    @model_validator(mode="before")
    @classmethod
    def refuse_unknown(cls, given: Any) -> Any:
        """Raises ValidationError with the names in its messages, which those of pydantic's own lack."""
        names = [one for one in given if one not in cls.model_fields] if isinstance(given, dict) else []
        if not names:
            return given
        raise ValidationError.from_exception_data(
            cls.__name__,
            [
                InitErrorDetails(
                    type=PydanticCustomError("extra_forbidden", cls.unknown, {"name": name}),
                    loc=(name,),
                    input=given[name],
                )
                for name in names
            ],
        )


class _Filter(Known):
    """One field's operators. One that is null is not there, unless there is no other: who sends that would
    be shown everything."""

    unknown = "Unknown filter operator '{name}'"

    @model_validator(mode="after")
    def refuse_nulls(self) -> Self:
        nulls = [name for name, value in self if value is None and name in self.model_fields_set]
        if nulls and not self.given().keys() - {"inclusive"}:
            raise ValueError(f"{nulls[0]} cannot be null")
        return self

    def given(self) -> dict[str, Any]:
        return {name: value for name, value in self if value is not None}

    def tests(self, field: FieldName) -> Iterator[FieldTest]:
        for name, value in self.given().items():
            if name in CANONICAL:
                yield FieldTest(field, CANONICAL[name], tuple(value) if isinstance(value, list) else value)


class TextFilter(_Filter):
    """Of texts, or of lists of them."""

    eq: Id | None = None
    ne: Id | None = None
    not_eq: Id | None = None
    any: Chosen | None = None
    in_: Chosen | None = None
    all: Chosen | None = None
    none: Chosen | None = None
    not_in: Chosen | None = None
    startswith: Id | None = None

    @model_validator(mode="after")
    def refuse_contradictions(self) -> Self:
        _refuse_together(self.given())
        return self


class TypeFilter(_Filter):
    """Of the kind of memory."""

    eq: MemoryType | None = None
    ne: MemoryType | None = None
    not_eq: MemoryType | None = None
    any: list[MemoryType] | None = None
    in_: list[MemoryType] | None = None
    all: list[MemoryType] | None = None
    none: list[MemoryType] | None = None
    not_in: list[MemoryType] | None = None

    @model_validator(mode="after")
    def refuse_contradictions(self) -> Self:
        _refuse_together(self.given())
        return self


class MomentFilter(_Filter):
    """Of moments; without a time zone, they are in UTC."""

    eq: Moment | None = None
    ne: Moment | None = None
    not_eq: Moment | None = None
    gt: Moment | None = None
    gte: Moment | None = None
    lt: Moment | None = None
    lte: Moment | None = None
    between: Annotated[list[Moment], Field(min_length=2, max_length=2)] | None = None
    inclusive: Literal["both", "neither", "left", "right"] = "both"

    @model_validator(mode="after")
    def refuse_contradictions(self) -> Self:
        given = self.given()
        _refuse_pair(given, "eq", "ne")
        for other in ("eq", "ne", "gt", "lt", "gte"):
            _refuse_pair(given, "between", other)
        return self

    def tests(self, field: FieldName) -> Iterator[FieldTest]:
        yield from super().tests(field)
        if self.between is not None:
            bounds: list[datetime] = self.between
            for operator, moment in zip(BOUNDS[self.inclusive], bounds, strict=True):
                yield FieldTest(field, operator, moment)


class Filters(BaseModel):
    """By field; of a field that is missing, anything will do. Beside them may stand what is ignored."""

    session_id: TextFilter | None = None
    namespace: TextFilter | None = None
    user_id: TextFilter | None = None
    topics: TextFilter | None = None
    entities: TextFilter | None = None
    memory_type: TypeFilter | None = None
    extraction_strategy: TextFilter | None = None
    created_at: MomentFilter | None = None
    last_accessed: MomentFilter | None = None
    event_date: MomentFilter | None = None

    def field_tests(self) -> Iterator[FieldTest]:
        """All that must be met."""
        for name in get_args(FieldName):
            one: _Filter | None = getattr(self, name, None)
            if one is not None:
                yield from one.tests(name)


class NestedFilters(Known, Filters):
    """Likewise, and nothing beside them."""


def _refuse_together(given: dict[str, Any]) -> None:
    """Raises ValueError for operators that contradict each other, or ask for nothing."""
    _refuse_pair(given, "eq", "ne")
    _refuse_pair(given, "any", "all")
    for name in ("any", "all"):
        if given.get(name) == []:
            raise ValueError(f"{name} cannot be an empty list")
    if "startswith" in given:
        if not given["startswith"]:
            raise ValueError("startswith cannot be empty")
        for other in given:
            if other != "startswith":
                raise ValueError(f"startswith and {other} cannot be used together")


def _refuse_pair(given: dict[str, Any], one: str, other: str) -> None:
    if one in given and other in given:
        raise ValueError(f"{one} and {other} cannot be used together")
