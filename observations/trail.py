"""What people do to observations by hand is entered in the audit log; what agents write is not: it would be
the log's greater part."""

from observations.models import Observation
from tenants import audit
from tenants.caller import Caller


def by_hand(caller: Caller, deed: str, observation: Observation, **details: object) -> None:
    """Enters what a member did, in the transaction that does it. `details` hold no memory."""
    if caller.kind == "member":
        record(caller, deed, str(observation.id), **details)


def record(caller: Caller, deed: str, target: str, **details: object) -> None:
    """Enters it whoever did it."""
    audit.record(
        tenant_id=caller.tenant_id,
        actor=caller.principal,
        action=f"observation.{deed}",
        target=target,
        **details,
    )
