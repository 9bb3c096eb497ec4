"""The menu: which pages there are, in which order, and who sees them."""

from dataclasses import dataclass

from tenants.caller import Caller, Scope


@dataclass(frozen=True, slots=True)
class Section:
    """An entry: the name of its URL, what it is called, and the scope without which it is left out."""

    name: str
    label: str
    scope: Scope = "read"


GROUPS: tuple[tuple[str, tuple[Section, ...]], ...] = (
    ("", (Section("overview", "Overview"),)),
    (
        "Memory",
        (
            Section("observations", "Observations"),
            Section("episodes", "Episodes"),
            Section("entities", "Entities"),
            Section("people", "People"),
            Section("sessions", "Sessions"),
            Section("documents", "Documents"),
            Section("procedures", "Procedures"),
        ),
    ),
    (
        "Understand",
        (
            Section("recall", "Recall lab"),
            Section("ledger", "Ledger"),
            Section("decisions", "Write decisions"),
            Section("agents", "Agents"),
        ),
    ),
    (
        "Operate",
        (
            Section("jobs", "Jobs", "admin"),
            Section("webhooks", "Webhooks", "admin"),
            Section("policy", "Policy"),
            Section("keys", "API keys", "admin"),
            Section("members", "Members", "admin"),
        ),
    ),
    (
        "Protect",
        (
            Section("privacy", "Privacy", "privacy"),
            Section("audit", "Audit log", "privacy"),
            Section("isolation", "Isolation", "admin"),
        ),
    ),
)


def sections_for(caller: Caller) -> list[tuple[str, list[Section]]]:
    """The groups with those of their entries that the caller may open."""
    found = [(title, [one for one in group if caller.may(one.scope)]) for title, group in GROUPS]
    return [(title, group) for title, group in found if group]
