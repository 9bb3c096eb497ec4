"""What is kept of a write that is not carried out, and told of it."""

import logging
from contextlib import suppress

import pytest
from django.utils import timezone
from prometheus_client import REGISTRY

from episodic.slots import NewEntity
from ledger.decisions import LONGEST_TEXT, Refused, note_decision
from recall.holding import hold_entity
from tenants.scope import scope

HELD = hold_entity(NewEntity(user_id="kim", key="city", value="Rome"))


def note(member, **refused):
    with scope(member.tenant.id):
        return note_decision(
            caller=member.caller,
            session_id="s",
            user_id="kim",
            agent_id="coder",
            project="apollo",
            refused=Refused(**{"kind": "entity", "reason": "low_confidence", "text": "city: Rome"} | refused),
            now=timezone.now(),
        )


def counted(reason):
    labels = {"kind": "entity", "reason": reason}
    return REGISTRY.get_sample_value("memory_writes_skipped_total", labels) or 0


def test_its_text_is_masked_and_cut(acme):
    assert note(acme, text="my password is hunter2").text == "my password is [secret]"
    assert note(acme, text="x" * 10_000).text == "x" * LONGEST_TEXT
    late = note(acme, text="x" * (LONGEST_TEXT - 16) + " my password is hunter2")
    assert "hunter" not in late.text
    assert note(acme, key="card 4111 1111 1111 1111").key == "card [card]"


@pytest.mark.parametrize("reason", ["low_confidence", "allowlist", "policy", "unconfirmed"])
def test_what_was_skipped_for_want_of_certainty_is_kept(acme, reason):
    assert note(acme, reason=reason, held=HELD).held == HELD


@pytest.mark.parametrize("more", [
    {"reason": "blocklist"}, {"reason": "injection"}, {"reason": "duplicate"}, {"reason": "limit"},
    {"findings": ("secret:password",)}, {"held": {**HELD, "value": "my password is hunter2"}},
])  # fmt: skip
def test_what_is_sensitive_or_pointless_is_not_kept(acme, more):
    assert note(acme, **{"held": HELD} | more).held is None


def test_what_is_held_is_kept_whatever_it_holds(acme):
    held = {**HELD, "value": "my password is hunter2"}
    assert (
        note(acme, reason="blocklist", outcome="held", findings=("secret:password",), held=held).held == held
    )


def test_it_is_counted_and_told_at_debug_level_without_its_text(acme, caplog):
    before = counted("duplicate")
    with caplog.at_level(logging.DEBUG, logger="ledger.decisions"):
        note(acme, reason="duplicate", text="sesame", key="sesame")
    assert counted("duplicate") == before + 1
    assert [record.getMessage() for record in caplog.records if record.name == "ledger.decisions"] == [
        "memory_write_skipped_reason=duplicate kind=entity"
    ]


def test_what_is_rolled_back_is_not_counted(acme):
    before = counted("limit")
    with suppress(ZeroDivisionError), scope(acme.tenant.id):
        note(acme, reason="limit")
        raise ZeroDivisionError
    assert counted("limit") == before
