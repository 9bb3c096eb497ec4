"""What nobody decides ends by itself: first what was held, then the decision."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ledger import expiry
from ledger.expiry import expire_decisions
from ledger.models import WriteDecision
from ledger.tasks import expire
from tenants.scope import scope

NOW = timezone.now()


def decision(member, *, outcome="held", age, decided=None):
    """Made `age` days ago, decided `decided` days ago."""
    with scope(member.tenant.id):
        return WriteDecision.objects.create(
            tenant_id=member.tenant.id,
            kind="entity",
            reason="blocklist",
            outcome=outcome,
            held={"value": "x"} if outcome == "held" else None,
            created_at=NOW - timedelta(days=age),
            decided_at=None if decided is None else NOW - timedelta(days=decided),
        )


def left(member):
    with scope(member.tenant.id):
        return {one.id: one for one in WriteDecision.objects.filter(tenant_id=member.tenant.id)}


def test_what_is_held_too_long_is_rejected_and_its_text_dropped(acme, globex):
    old, fresh, other = decision(acme, age=31), decision(acme, age=29), decision(globex, age=31)
    expire_decisions(now=NOW)
    after = left(acme)
    ended = after[old.id]
    assert (ended.outcome, ended.decided_by, ended.decided_at) == ("rejected", "expiry", NOW)
    assert ended.held is None
    assert (after[fresh.id].outcome, after[fresh.id].held) == ("held", {"value": "x"})
    assert left(globex)[other.id].outcome == "rejected"


@pytest.mark.parametrize(("outcome", "age", "decided", "stays"), [
    ("skipped", 31, None, False), ("skipped", 29, None, True),
    ("confirmed", 90, 29, True), ("confirmed", 90, 31, False),
    ("rejected", 90, 29, True), ("rejected", 90, 31, False),
])  # fmt: skip
def test_decisions_go_once_nobody_asks_for_them(acme, outcome, age, decided, stays):
    made = decision(acme, outcome=outcome, age=age, decided=decided)
    expire_decisions(now=NOW)
    assert (made.id in left(acme)) == stays


def test_more_than_a_batch_is_ended(acme, monkeypatch):
    monkeypatch.setattr(expiry, "BATCH", 2)
    for _ in range(5):
        decision(acme, age=31)
    assert expire_decisions(now=NOW) >= 5
    assert {one.outcome for one in left(acme).values()} == {"rejected"}


def test_how_long_is_a_setting(acme, settings):
    settings.WRITE_DECISION_DAYS = 3
    made = decision(acme, age=4)
    expire_decisions(now=NOW)
    assert left(acme)[made.id].outcome == "rejected"


def test_the_clock_does_it(acme):
    made = decision(acme, age=31)
    expire()
    assert left(acme)[made.id].outcome == "rejected"
