"""What a search and a prompt accept."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter

from api.ams.errors import BadRequest
from api.ams.fields import Id, Share
from api.ams.filters import Filters, NestedFilters
from episodic.types import EpisodeFilter
from recall.long_term import RecordQuery
from recall.ranking.recency import RecencyWeights

Days = Annotated[float, Field(ge=0, le=36_500)]
Distance = Annotated[float, Field(ge=0, le=2)]
_FLAG: TypeAdapter[bool] = TypeAdapter(bool)
ONLY_SEMANTIC = "distance_threshold is only supported for semantic search mode"


class Search(Filters):
    """`filters` may hold the same again: all of them must be met."""

    filters: NestedFilters | None = None
    text: str | None = Field(
        default=None, description="Without one, all that the filters admit, newest first."
    )
    search_mode: Literal["semantic", "keyword", "hybrid"] = "semantic"
    hybrid_alpha: Share = Field(
        default=0.7, description="What likeness counts for in `hybrid`; words have the rest."
    )
    text_scorer: str = "BM25STD"
    distance_threshold: Distance | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    offset: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    recency_boost: bool | None = Field(default=None, description="By default recency counts.")
    recency_semantic_weight: Share = 0.8
    recency_recency_weight: Share = 0.2
    recency_freshness_weight: Share = 0.6
    recency_novelty_weight: Share = 0.4
    recency_half_life_last_access_days: Days = 7.0
    recency_half_life_created_days: Days = 30.0
    server_side_recency: bool | None = False
    include_working_memory: bool = Field(
        default=False, description="What waits or was said in sessions comes first."
    )
    include_long_term_memory: bool = True

    def query(self, *, optimize: bool) -> RecordQuery:
        """As the domain takes it. Raises BadRequest for what does not go together."""
        if self.distance_threshold is not None and self.search_mode != "semantic":
            raise BadRequest(ONLY_SEMANTIC)
        tests = [*self.field_tests(), *(self.filters.field_tests() if self.filters else ())]
        return RecordQuery(
            text=self.text,
            mode=self.search_mode,
            alpha=self.hybrid_alpha,
            where=EpisodeFilter(tests=tuple(tests)),
            distance_threshold=self.distance_threshold,
            limit=self.limit,
            offset=self.offset,
            recency=None if self.recency_boost is False else self._weights(),
            optimize=optimize,
            with_working=self.include_working_memory,
            with_long_term=self.include_long_term_memory,
        )

    def _weights(self) -> RecencyWeights:
        return RecencyWeights(
            semantic=self.recency_semantic_weight,
            recency=self.recency_recency_weight,
            freshness=self.recency_freshness_weight,
            novelty=self.recency_novelty_weight,
            half_life_last_access_days=self.recency_half_life_last_access_days,
            half_life_created_days=self.recency_half_life_created_days,
        )


class PromptSession(BaseModel):
    session_id: Annotated[Id, Field(min_length=1)]
    namespace: Id | None = None
    user_id: Id | None = None
    model_name: Id | None = None
    context_window_max: Annotated[int, Field(ge=1)] | None = None


def _search_of(given: Any) -> Any:
    """A yes is a search with the usual options, a no is none. So errors lie where they are in the body, and
    not within the one or the other that it may be."""
    if given is None or isinstance(given, dict):
        return given
    return {} if _FLAG.validate_python(given) else None


class Prompt(BaseModel):
    """At least one of session and search."""

    query: str
    session: PromptSession | None = None
    long_term_search: Annotated[
        Search | None, BeforeValidator(_search_of, json_schema_input_type=Search | bool | None)
    ] = Field(default=None, description="`true`: a search for the query, with the usual options.")
