"""Everything that can be decided: meanings, units, bounds, defaults. docs/policy.md lists the same."""

from typing import Annotated, Any, Literal

from django.conf import settings
from pydantic import Field, Strict

from tenants.policy.fields import Section, chosen, deployed

DAY = 86_400
Name = Annotated[str, Field(min_length=1, max_length=255)]
# A document is JSON, which has lists only.
Names = Annotated[tuple[Name, ...], Strict(False)]
Signal = Literal[
    "words", "words_around", "answers", "meaning", "meaning_around", "session_words", "session_meaning",
    "speaker", "length", "asks", "date", "time_told", "recency", "entity",
]  # fmt: skip
Handling = Literal["refuse", "redact", "hold"]
WEIGHTS = {"words": 1.5, "recency": 0.5}  # an example

# Sections that an agent's level cannot have: their figures are the tenant's.
TENANT_ONLY = frozenset({"trial", "records"})


class Working(Section):
    """The window of a conversation."""

    turns: int = deployed(
        "WORKING_MEMORY_TURNS",
        "Exchanges, each begun by the user, that a window holds when the request names no number.",
        unit="exchanges",
        ge=1,
        le=1_000,
    )
    max_tool_result_chars: int = deployed(
        "MAX_TOOL_RESULT_CHARS",
        "Where a window cuts off the result of a tool when the request names no number; 0: nowhere.",
        unit="characters",
        ge=0,
        le=1_000_000,
    )
    include_summary_after_turn: int = deployed(
        "INCLUDE_SUMMARY_AFTER_TURN",
        "From how many turns on a window begins with the summary although it lacks no turn; one that lacks "
        "some always does.",
        unit="turns",
        ge=0,
        le=1_000,
    )


class Session(Section):
    """How long a conversation's state is kept at hand. Holds from when Redis next loads the session."""

    ttl_seconds: int = deployed(
        "SESSION_TTL_SECONDS",
        "How long an idle session stays in Redis; reading and writing begin it anew.",
        unit="seconds",
        ge=60,
        le=3 * DAY,
    )
    idle_seconds: int = deployed(
        "SESSION_IDLE_SECONDS",
        "After how long without activity a session counts as idle and is summarised.",
        unit="seconds",
        ge=60,
        le=3 * DAY,
    )
    max_age_seconds: int = deployed(
        "SESSION_MAX_AGE_SECONDS",
        "How old a session's copy in Redis may become, however busy it is.",
        unit="seconds",
        is_ceiling=True,
        ge=3_600,
        le=2**31,
    )


class Write(Section):
    """When something becomes memory, by kind of memory."""

    events: Literal["always", "off"] = chosen(
        "always", "Whether every turn and event is kept in the log, or none: then turns live in Redis alone."
    )
    entities: Literal["selective", "off"] = chosen(
        "selective", "Whether facts about the user are taken from the turns that are worth it."
    )
    episodes: Literal["periodic", "selective", "both", "off"] = chosen(
        "both", "Whether sessions become summaries, single turns become highlights, or both."
    )
    on_turn: bool = chosen(
        False,
        "Whether each of the user's turns is looked at for facts and highlights when it comes in, without "
        "being asked for.",
    )


class Summary(Section):
    """What triggers a periodic summary. The first trigger that fires counts."""

    every_turns: int = chosen(
        0, "After this many new turns; 0: not for their number.", unit="turns", ge=0, le=1_000
    )
    above_tokens: int = chosen(
        0, "When the new turns hold more tokens; 0: not for their size.", unit="tokens", ge=0, le=1_000_000
    )
    on_end: bool = chosen(True, "When the session is ended.")
    on_idle: bool = chosen(True, "When the session has been idle for `session.idle_seconds`.")


class Entities(Section):
    """Which facts about a user are believed."""

    min_confidence: float = deployed(
        "ENTITY_CONFIDENCE_MIN",
        "Confidence below which an extracted fact is not written.",
        ge=0,
        le=1,
    )
    allowed_keys: Names = chosen(
        (),
        "The only keys that may be written; none named: any.",
        max_length=1_000,
        examples=[["diet", "home_town"]],
    )
    high_impact_keys: Names = chosen(
        ("email", "address"),
        "Keys whose extracted values wait until someone confirms them, however they are spelled.",
        max_length=1_000,
        examples=[["email", "phone"]],
    )


class Sensitive(Section):
    """What happens to a write that holds what should not be remembered."""

    secrets: Handling = chosen("refuse", "With a password, a private key or an API key in it.")
    cards: Handling = chosen("refuse", "With the number of a payment card in it.")
    health: Handling = chosen("refuse", "With words about somebody's health in it.")


class Episodes(Section):
    """What is kept beside summaries."""

    index_turns: bool = deployed(
        "INDEX_ALL_MESSAGES_IN_LONG_TERM_MEMORY",
        "Whether each turn is indexed by itself, so that its words can be found.",
    )
    keep_turns: bool = chosen(
        False, "Whether indexed turns stay in recall beside the summaries that tell of them, for good."
    )


class Recall(Section):
    """How memories are ranked. `hybrid` is a weighted sum of what the words, the meaning, the turns around,
    speakers and times say; `fused` is `alpha · cosine + (1 - alpha) · exp(-decay · age in hours)`; `recency`
    counts how lately a memory was used and written."""

    profile: Literal["hybrid", "fused", "recency", "similarity"] = chosen(
        "hybrid", "The ranking: `hybrid`, `fused`, `recency`, or `similarity` in meaning alone."
    )
    weights: dict[Signal, Annotated[float, Field(ge=-100, le=100)]] = chosen(
        {},
        "Other weights for signals of the `hybrid` ranking than those that came with this version.",
        examples=[WEIGHTS],
    )
    alpha: float = deployed(
        "RECALL_ALPHA",
        "Weight of likeness in meaning against recency. 0.6 to 0.85 is recommended; the rest is allowed.",
        ge=0,
        le=1,
    )
    decay: float = deployed(
        "RECALL_LAMBDA",
        "How fast recency fades: 0.08 halves it in 8.7 hours.",
        unit="per hour",
        ge=0,
        le=10,
    )
    top_k: int = deployed(
        "RECALL_TOP_K",
        "Memories that recall answers when the request names no number. 3 to 5 is recommended.",
        unit="memories",
        ge=1,
        le=200,
    )
    entity_boost: float = chosen(
        0.2, "Added to the score of a memory that names exactly what was asked about.", ge=0, le=1
    )
    session_recency_days: int = chosen(
        0, "Only memories of sessions this recent are recalled; 0: of all.", unit="days", ge=0, le=365
    )
    feedback_weight: float = chosen(
        0.0, "The most that being called helpful or not can move a score; 0: nothing.", ge=0, le=0.1
    )


class Retention(Section):
    """How long what sessions left behind is kept. What someone saved on purpose stays."""

    episodes_days: int = deployed(
        "EPISODIC_RETENTION_DAYS", "Summaries and highlights of sessions.", unit="days", ge=30, le=365
    )
    events_days: int = deployed(
        "EVENT_RETENTION_DAYS", "The log of turns and events.", unit="days", ge=1, le=3_650
    )


class Records(Section):
    """Long-term records that clients save: which of them are merged, and which are forgotten. Only a tenant
    decides this, no agent."""

    deduplication_distance: float = deployed(
        "DEDUPLICATION_DISTANCE_THRESHOLD",
        "Cosine distance up to which a new record is compared with one that may say the same; 0: none is.",
        ge=0,
        le=1,
    )
    compaction: bool = deployed(
        "COMPACT_SEMANTIC_DUPLICATES",
        "Whether records that say the same are merged every night.",
    )
    compaction_distance: float = chosen(
        0.2, "Cosine distance up to which compaction compares two records; 0: it compares none.", ge=0, le=1
    )
    forgetting: bool = deployed(
        "FORGETTING_ENABLED", "Whether records are forgotten every night by the figures below."
    )
    max_age_days: int = deployed(
        "FORGETTING_MAX_AGE_DAYS", "How old a record may become; 0: any age.", unit="days", ge=0, le=36_500
    )
    max_inactive_days: int = deployed(
        "FORGETTING_MAX_INACTIVE_DAYS",
        "How long a record may go unused; 0: for ever. With both, one goes that is too old and unused for "
        "too long, or twelve times too old.",
        unit="days",
        ge=0,
        le=36_500,
    )
    budget: int = deployed(
        "FORGETTING_BUDGET_KEEP_TOP_N",
        "How many records are left, those that were used and written last; 0: all.",
        unit="records",
        ge=0,
        le=10_000_000,
    )


class Limits(Section):
    """How much may be written."""

    episode_chars: int = chosen(
        1_000_000, "The longest text of an episode.", unit="characters", ge=1_000, le=1_000_000
    )
    working_memory_bytes: int = deployed(
        "WORKING_MEMORY_MAX_BYTES",
        "Size of a session's working-memory hash from which a write is too large. The level is the key's: "
        "its agent, else the tenant.",
        unit="bytes",
        is_ceiling=True,
        ge=1_024,
        le=2**31,
    )
    entity_value_chars: int = chosen(
        4_096, "The longest value of an entity slot, as JSON.", unit="characters", ge=64, le=65_536
    )
    entities_per_user: int = chosen(
        1_000, "Entity slots that a user may have.", unit="slots", ge=1, le=100_000
    )


class Evaluation(Section):
    """What is set aside to measure recall with."""

    session_share: float = chosen(
        0.01, "Share of ended sessions that is sampled into the tenant's evaluation set.", ge=0, le=1
    )


class Trial(Section):
    """A second setting of `recall`, tried on a share of the sessions, or of the users where a query comes
    without one. What is null is as in `recall`. Only a tenant has a trial, no agent."""

    share: float = chosen(
        0.0, "Share of the sessions that recall by the second setting; 0: no trial.", ge=0, le=1
    )
    profile: Literal["hybrid", "fused", "recency", "similarity"] | None = chosen(
        None, "The ranking of the second setting."
    )
    weights: dict[Signal, Annotated[float, Field(ge=-100, le=100)]] | None = chosen(
        None,
        "Weights for signals of the `hybrid` ranking; `{}`: those that came with this version.",
        examples=[WEIGHTS],
    )
    alpha: Annotated[float, Field(ge=0, le=1)] | None = chosen(
        None, "Weight of likeness in meaning against recency."
    )
    decay: Annotated[float, Field(ge=0, le=10)] | None = chosen(
        None, "How fast recency fades.", unit="per hour"
    )
    entity_boost: Annotated[float, Field(ge=0, le=1)] | None = chosen(
        None, "Added to the score of a memory that names exactly what was asked about."
    )
    session_recency_days: Annotated[int, Field(ge=0, le=365)] | None = chosen(
        None, "Only memories of sessions this recent are recalled; 0: of all.", unit="days"
    )
    feedback_weight: Annotated[float, Field(ge=0, le=0.1)] | None = chosen(
        None, "The most that being called helpful or not can move a score."
    )


class Policy(Section):
    """What holds for a tenant or one of its agents."""

    working: Working = Field(default_factory=Working)
    session: Session = Field(default_factory=Session)
    write: Write = Field(default_factory=Write)
    summary: Summary = Field(default_factory=Summary)
    entities: Entities = Field(default_factory=Entities)
    sensitive: Sensitive = Field(default_factory=Sensitive)
    episodes: Episodes = Field(default_factory=Episodes)
    recall: Recall = Field(default_factory=Recall)
    retention: Retention = Field(default_factory=Retention)
    records: Records = Field(default_factory=Records)
    limits: Limits = Field(default_factory=Limits)
    evaluation: Evaluation = Field(default_factory=Evaluation)
    trial: Trial = Field(default_factory=Trial)


def policy_schema() -> dict[str, Any]:
    """The JSON schema of a policy document, with this deployment's defaults and ceilings."""
    schema = Policy.model_json_schema()
    for section, defaults in Policy():
        values = defaults.model_dump(mode="json")
        name = schema["properties"][section]["$ref"].rpartition("/")[2]
        for field, about in schema["$defs"][name]["properties"].items():
            about["default"] = values[field]
            if ceiling := about.pop("ceiling", None):
                about["maximum"] = getattr(settings, ceiling)
    return schema
