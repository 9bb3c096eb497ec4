"""What a receipt says was left of a person, in words, and the way to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.http import urlencode

from console.pages import Page
from tenants.privacy.naming import name_of_place, name_of_store
from tenants.privacy.requests import Whereabouts
from working.idle import find_sessions
from working.sessions import ref_of
from working.types import SessionRef

AGAIN = "Erase the person again: what came late or was missed is looked for anew."
KINDS = (  # columns by what an id in them means, and what can be done
    ("user_id subject principal", "Rows of the person that were not deleted.", AGAIN),
    (
        "entities topics names tags entities_mentioned",
        "Lists in other people's rows that still name the person.",
        AGAIN,
    ),
    (
        "actor author created_by decided_by deployed_by judge replaced_by requested_by",
        "Who did it: the person is named as the one who acted.",
        "Look at it. It goes with its row.",
    ),
    (
        "session external_id source_session namespace item_key key",
        "Something of somebody else, such as a session, is called by this id.",
        "Look whether it means the person; if so, delete it, and erase again.",
    ),
    (
        "metadata content tool value data findings held body payload",
        "A value in somebody else's data is this id.",
        "Look at it, change or delete it if it means the person, and erase again.",
    ),
)
TOLD = {column: (meaning, remedy) for columns, meaning, remedy in KINDS for column in columns.split()}
REDIS = ("Keys or members in Redis that name the person.", AGAIN)
SESSIONS_GO = (
    "Look whether it means the person; if so, have it deleted. From Redis it goes by itself within {}."
)
IN_REDIS = {
    "redis.sessions": ("Conversations of somebody else or of nobody are called by this id.", SESSIONS_GO),
    "redis.values": ("What is held of conversations of somebody else or of nobody has this id.", SESSIONS_GO),
}
ANSWERS_GO = "Nothing has to be done: it goes by itself within {}."
OTHER = ("A value that is this id, in a row of somebody else.", "Look at it; delete it or erase again.")

# By table: the page that shows the thing, and the column that says which.
PAGES = {
    "agent_episodes": ("episode", "id"),
    "chat_events": ("session", "session_id"),
    "episode_revisions": ("episode", "episode_id"),
    "knowledge_chunk": ("document", "document_id"),
    "knowledge_document": ("document", "id"),
    "ledger_writedecision": ("decision", "id"),
    "observations_observation": ("observation", "id"),
    "observations_observationrevision": ("observation-history", "observation_id"),
    "tenants_job": ("job", "id"),
    "user_entities": ("entity", "id"),
    "webhooks_delivery": ("delivery", "id"),
    "webhooks_webhook": ("webhook", "id"),
    "working_checkpoint": ("session", "session_id"),
    "working_session": ("session", "id"),
    "working_state": ("session", "session_id"),
}
THINGS = {table: column for table, (_page, column) in PAGES.items()}
# By place or table: the list that has them, and the filter that takes the id.
LISTS = {
    "agent_episodes.session": ("episodes", "session"),
    "agent_episodes.topics": ("episodes", "topic"),
    "evaluation_queries": ("recall-queries", ""),
    "knowledge_deployment": ("procedures", ""),
    "knowledge_procedure": ("procedures", ""),
    "ledger_injection": ("ledger", ""),
    "observations_observation.session": ("observations", "session"),
    "observations_observation.tags": ("observations", "tag"),
    "tenants_agent": ("agents", ""),
    "tenants_apikey": ("keys", ""),
    "tenants_auditentry.actor": ("audit", "actor"),
    "tenants_auditentry": ("audit", ""),
    "tenants_policyversion": ("policy-history", ""),
    "working_session.namespace": ("sessions", "namespace"),
}
FOR_ADMINS = {"deliveries", "delivery", "job", "keys", "webhook"}  # pages


@dataclass(frozen=True, slots=True)
class Store:
    """How much of a store is meant, under a name that people know; its digest, if it has one."""

    words: str
    name: str
    count: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A way to a thing, under its id or the end of it; without an address, that alone."""

    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Leftover:
    """A place, how many rows or keys, what it means, what can be done, and where the things are: None as long
    as the person is not named."""

    place: str
    words: str
    count: int
    meaning: str
    remedy: str
    things: list[Link] | None = None
    listed: str = ""


def stores_of(counts: Mapping[str, int], digests: Mapping[str, str] | None = None) -> list[Store]:
    """Those of which anything is counted."""
    digests = digests or {}
    return [
        Store(name_of_store(name), name, count, digests.get(name, ""))
        for name, count in counts.items()
        if count
    ]


def words_alike(receipt: Mapping[str, Any]) -> list[Store]:
    """Where the id is a word that means something else."""
    found = receipt.get("coincidences") or {}
    return [Store(name_of_place(place), place, count) for place, count in found.items()]


def leftovers_of(
    receipt: Mapping[str, Any],
    *,
    page: Page,
    user_id: str = "",
    where: Whereabouts | None = None,
) -> list[Leftover]:
    """Those of the receipt, in its order; none of one that is not signed yet. `page` shows them, and `where`
    is known of `user_id`."""
    return [
        Leftover(
            place,
            name_of_place(place),
            count,
            *_told(place),
            things=None if where is None else _things(place, where, page),
            listed=_listed(place, page, user_id if where else ""),
        )
        for place, count in (receipt.get("residue") or {}).items()
    ]


def _told(place: str) -> tuple[str, str]:
    table, _, column = place.partition(".")
    if place in IN_REDIS:
        meaning, remedy = IN_REDIS[place]
        return meaning, remedy.format(_span(settings.SESSION_MAX_AGE_SECONDS // 3_600))
    if table == "tenants_storedanswer" and column in {"body", "headers", "key"}:
        meaning = "An answer that is kept for a repeated request says this id."
        return meaning, ANSWERS_GO.format(_span(settings.IDEMPOTENCY_KEEP_HOURS))
    return REDIS if table == "redis" else TOLD.get(column, OTHER)


def _span(hours: int) -> str:
    return f"{hours} hours" if hours < 48 else f"{hours // 24} days"


def _things(place: str, where: Whereabouts, page: Page) -> list[Link]:
    table = place.partition(".")[0]
    if place in where.sessions:
        return _sessions([SessionRef(page.caller.tenant_id, *one) for one in where.sessions[place]], page)
    name, _column = PAGES.get(table, ("", ""))
    as_key = int if table.startswith("observations_") else UUID
    found = where.rows.get(place, [])
    return [Link(one.rpartition("-")[2], _address(page, name, as_key(one))) for one in found]


def _sessions(refs: list[SessionRef], page: Page) -> list[Link]:
    """In Redis there may be some that PostgreSQL does not know."""
    if not refs:
        return []
    known = {ref_of(one): one.id for one in find_sessions(tenant_id=page.caller.tenant_id, refs=refs)}
    return [
        Link(ref.session_id, _address(page, "session", known[ref]) if ref in known else "") for ref in refs
    ]


def _address(page: Page, name: str, *args: Any) -> str:
    """Empty where the page is not for whoever asks."""
    return page.address(name, *args) if page.caller.may("admin") or name not in FOR_ADMINS else ""


def _listed(place: str, page: Page, user_id: str) -> str:
    """The list in which they are; narrowed down to the id where it is known and the list can."""
    name, filtered = LISTS.get(place) or LISTS.get(place.partition(".")[0], ("", ""))
    address = _address(page, name) if name else ""
    return f"{address}?{urlencode({filtered: user_id})}" if address and filtered and user_id else address
