"""Whether a text may become memory: orders to the model never, what is sensitive as the policy says. Pure but
for the policy's document."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from screening.findings import Finding
from screening.injection import find_injection
from screening.sensitive import find_sensitive, mask
from tenants.policy.document import Handling, Policy

Action = Literal["write", "redact", "hold", "refuse"]
STRICTNESS: tuple[Handling, ...] = ("redact", "hold", "refuse")
# What whoever sent a text is told, by the reason.
REFUSED = {
    "blocklist": "It holds what the policy does not let be remembered.",
    "injection": "It gives orders to a model or forges a part of its prompt.",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """`text` is what may be written: masked for `redact`, otherwise as it came. `findings` names what was
    found, as `card:number` or `injection:role_marker`; `reason` is empty for `write`."""

    action: Action
    text: str
    findings: tuple[str, ...] = ()
    reason: str = ""


def judge(text: str, *, policy: Policy) -> Verdict:
    """What is to be done with a text that is about to be remembered. Of several sensitive things in it the
    strictest decision holds: refuse, then hold, then redact."""
    if patterns := find_injection(text):
        return Verdict("refuse", text, tuple(f"injection:{name}" for name in patterns), "injection")
    found = find_sensitive(text)
    if not found:
        return Verdict("write", text)
    action = max((_handling(one, policy) for one in found), key=STRICTNESS.index)
    kinds = tuple(dict.fromkeys(f"{one.category}:{one.kind}" for one in found))
    return Verdict(action, mask(text, found) if action == "redact" else text, kinds, "blocklist")


def part_to_hold(
    message: str, sentences: Sequence[str], *, policy: Policy, held: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """The sentences of a message that wait for somebody, with what was found in them; two empty ones if there
    are none or all that was found in them is among `held` already. The whole message, if what is sensitive in
    it goes over several sentences."""
    verdicts = [judge(one, policy=policy) for one in sentences]
    waiting = [
        (one, verdict.findings)
        for one, verdict in zip(sentences, verdicts, strict=True)
        if verdict.action == "hold" and not set(verdict.findings) <= set(held)
    ]
    if waiting:
        found = (name for _, findings in waiting for name in findings)
        return " ".join(one for one, _ in waiting), tuple(dict.fromkeys(found))
    whole = judge(message, policy=policy)
    if whole.action == "hold" and not set(whole.findings) <= set(held):
        return message, whole.findings
    return "", ()


def _handling(finding: Finding, policy: Policy) -> Handling:
    sensitive = policy.sensitive
    return {"secret": sensitive.secrets, "card": sensitive.cards, "health": sensitive.health}[
        finding.category
    ]
