"""What a trial has told so far, by its settings: injections, and verdicts about what they recalled."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from ledger import querysets
from tenants.scope import scope


@dataclass(frozen=True, slots=True)
class Counted:
    """Of one setting: injections and the sessions they went to; verdicts, the helpful ones among them, the
    sessions they came from, and over these the sums of squares of both numbers and of their products."""

    sessions: int = 0
    injections: int = 0
    verdicts: int = 0
    helpful: int = 0
    judged_sessions: int = 0
    verdicts_squared: int = 0
    helpful_squared: int = 0
    both: int = 0


def count_variants(*, tenant_id: UUID, since: datetime) -> Mapping[str, Counted]:
    """What was told and judged since then, by setting; of those with any."""
    with scope(tenant_id):
        told = querysets.injections_by_variant(tenant_id=tenant_id, since=since)
        judged = querysets.verdicts_by_variant(tenant_id=tenant_id, since=since)
    nothing_told, nothing_judged = (0, 0), (0,) * 6
    return {
        variant: Counted(*told.get(variant, nothing_told), *judged.get(variant, nothing_judged))
        for variant in told.keys() | judged.keys()
    }


def variant_told(*, tenant_id: UUID, user_id: str, session: str, item_key: str) -> str | None:
    """The setting that recalled the item when the session was told it last, "" if none did; None if the
    session was not told it."""
    with scope(tenant_id):
        return querysets.variant_told(
            tenant_id=tenant_id, user_id=user_id, session=session, item_key=item_key
        )
