"""Whom a tenant remembers, and how much of each."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count, Max, Min
from django.db.models.functions import Greatest

from ledger.models import Injection
from recall.subjects.memories import KINDS, confine_person, current
from tenants.caller import Caller
from tenants.models import Restriction, Tombstone
from tenants.scope import restricted_shown, scope
from tenants.subjects import confine
from tenants.tombstones import subject_of
from working.models import Session

LOOKED_AT = 5_000  # people that one search goes through at most
COUNTED = 100  # rows of a person and store that a list counts at most: each is looked up until a VACUUM

# From person to person by the index of each table: the cost is that of the people looked at, 4 short looks
# into an index each, however many rows they have. DISTINCT would read every row.
PEOPLE = """
WITH RECURSIVE person (user_id, n) AS (
    (SELECT least({first}), 1)
    UNION ALL
    SELECT (SELECT least({following})), n + 1 FROM person WHERE user_id IS NOT NULL AND n < %(looked_at)s
), found AS MATERIALIZED (
    SELECT user_id FROM person WHERE user_id IS NOT NULL AND starts_with(user_id, %(query)s) LIMIT %(limit)s
)
SELECT user_id, {counts},
       greatest((SELECT max(last_activity_at) FROM working_session
                 WHERE tenant_id = %(tenant)s AND user_id = found.user_id),
                (SELECT max(created_at) FROM agent_episodes
                 WHERE tenant_id = %(tenant)s AND user_id = found.user_id),
                (SELECT max(created_at) FROM observations_observation
                 WHERE tenant_id = %(tenant)s AND user_id = found.user_id),
                (SELECT max(updated_at) FROM user_entities
                 WHERE tenant_id = %(tenant)s AND user_id = found.user_id)),
       EXISTS (SELECT FROM tenants_restriction
               WHERE tenant_id = %(tenant)s AND user_id = found.user_id)
FROM found ORDER BY user_id
"""
TABLES = ("agent_episodes", "user_entities", "observations_observation", "working_session")
NEXT = (
    "(SELECT user_id FROM {table} WHERE tenant_id = %(tenant)s AND user_id {than} ORDER BY user_id LIMIT 1)"
)
COUNT = (
    "(SELECT count(*) FROM (SELECT FROM {table} WHERE tenant_id = %(tenant)s AND user_id = found.user_id"
    " LIMIT %(counted)s) AS few)"
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody that the tenant remembers. Counts are of all rows, history too, and end at `COUNTED`."""

    user_id: str
    episodes: int
    entities: int
    observations: int
    sessions: int
    last_activity_at: datetime | None
    is_restricted: bool


@dataclass(frozen=True, slots=True)
class SubjectSummary:
    """What there is of a person: memories that hold or wait by kind, and whom they have dealt with."""

    user_id: str
    memories: dict[str, int]
    sessions: int
    uses: int
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    agents: tuple[str, ...]
    restriction: Restriction | None
    erasures: int


def summary_of(*, caller: Caller, user_id: str) -> SubjectSummary:
    """Counted in one scope, by the person's own indexes, and among all store items of nobody's. Raises
    Forbidden when the key does not reach all of the person's memory."""
    confine_person(caller, user_id)
    mine = {"tenant_id": caller.tenant_id, "user_id": user_id}
    with restricted_shown(), scope(caller.tenant_id):
        spans, agents = [], set[str]()
        memories: dict[str, int] = {}
        for kind in KINDS:
            memories[kind] = 0
            for rows in current(caller, user_id, kind):
                told = rows.aggregate(
                    count=Count("id"),
                    first=Min("created_at"),
                    last=Greatest(Max("created_at"), Max("updated_at")),
                )
                memories[kind] += told["count"]
                spans.append(told)
                agents |= set(rows.values_list("agent_id", flat=True).distinct().order_by())
        sessions = Session.objects.filter(**mine)
        spans.append(sessions.aggregate(first=Min("started_at"), last=Max("last_activity_at")))
        agents |= set(sessions.values_list("agent_id", flat=True).distinct().order_by())
        subject = subject_of(tenant_id=caller.tenant_id, user_id=user_id)
        return SubjectSummary(
            user_id=user_id,
            memories=memories,
            sessions=sessions.count(),
            uses=Injection.objects.filter(**mine).count(),
            first_seen_at=min((one["first"] for one in spans if one["first"]), default=None),
            last_seen_at=max((one["last"] for one in spans if one["last"]), default=None),
            agents=tuple(sorted(agents - {""})),
            restriction=Restriction.objects.filter(**mine).first(),
            erasures=Tombstone.objects.filter(tenant_id=caller.tenant_id, subject=subject).count(),
        )


def list_subjects(*, caller: Caller, query: str = "", limit: int, after: str | None = None) -> list[Person]:
    """The people of the tenant whose id begins with `query`, in the database's order of ids; `after`:
    continue after that one. A search goes through `LOOKED_AT` ids at most, from `query` on. Raises Forbidden
    for a key that is bound to an agent or project; one that is bound to a user finds that one."""
    bound = confine(caller, None)
    if bound:
        after, query, limit = None, bound, 1
    first = "> %(after)s" if after else ">= %(query)s" if query else "> ''"
    statement = PEOPLE.format(
        first=", ".join(NEXT.format(table=table, than=first) for table in TABLES),
        following=", ".join(NEXT.format(table=table, than="> person.user_id") for table in TABLES),
        counts=", ".join(COUNT.format(table=table) for table in TABLES),
    )
    params: dict[str, Any] = {
        "tenant": caller.tenant_id,
        "query": query,
        "after": after,
        "limit": limit,
        "looked_at": LOOKED_AT,
        "counted": COUNTED,
    }
    with restricted_shown(), scope(caller.tenant_id), connection.cursor() as cursor:
        cursor.execute(statement, params)
        people = [Person(*row) for row in cursor.fetchall()]
    return [one for one in people if not bound or one.user_id == bound]
