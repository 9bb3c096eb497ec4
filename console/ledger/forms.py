"""What the ledger and the write decisions can be filtered by."""

from typing import Any

from django import forms

from ledger.decisions import DecisionFilter
from ledger.listing import InjectionFilter
from ledger.models import Feedback, WriteDecision

ANY = [("", "Any")]
KINDS = [("episode", "Episode"), ("entity", "Slot"), ("observation", "Observation")]
TOLD = [*KINDS, ("procedure", "Procedure"), ("session", "Session's summary"), ("skill", "Skill")]


class Id(forms.CharField):
    """An id or a name as somebody chose it: blanks are a part of it."""

    def __init__(self, label: str, length: int = 255) -> None:
        super().__init__(label=label, required=False, max_length=length, strip=False)


class LedgerForm(forms.Form):
    """Everything may be left empty."""

    q = forms.CharField(
        label="Find a memory by its words",
        required=False,
        max_length=2_000,
        widget=forms.TextInput({"type": "search"}),
    )
    kind = forms.ChoiceField(required=False, choices=[*ANY, *TOLD])
    id = Id("Memory's id", 500)
    session = Id("Session")
    user = Id("User")
    agent = Id("Agent")
    verdict = forms.ChoiceField(required=False, choices=[*ANY, *Feedback.Verdict.choices])

    @property
    def memory(self) -> tuple[str, str] | None:
        """The kind and id of the memory that is asked about."""
        kind, memory_id = self.cleaned_data["kind"], self.cleaned_data["id"]
        return (kind, memory_id) if kind and memory_id else None

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("id") and not given.get("kind"):
            self.add_error("kind", "Say of which kind the memory is.")
        return given

    def where(self) -> InjectionFilter:
        """What is asked for."""
        given = {name: value or None for name, value in self.cleaned_data.items()}
        return InjectionFilter(
            user_id=given["user"],
            session_id=given["session"],
            agent_id=given["agent"],
            verdict=given["verdict"],
            kind=None if self.memory else given["kind"],
            item_key=":".join(self.memory) if self.memory else None,
        )


class DecisionsForm(forms.Form):
    """Everything may be left empty."""

    outcome = forms.ChoiceField(required=False, choices=[*ANY, *WriteDecision.Outcome.choices])
    reason = Id("Reason", 32)
    kind = forms.ChoiceField(required=False, choices=[*ANY, *KINDS])
    user = Id("User")
    agent = Id("Agent")
    session = Id("Session")

    def where(self) -> DecisionFilter:
        """What is asked for."""
        given = {name: value or None for name, value in self.cleaned_data.items()}
        return DecisionFilter(
            user_id=given["user"],
            agent_id=given["agent"],
            session_id=given["session"],
            kind=given["kind"],
            outcome=given["outcome"],
            reason=given["reason"],
        )
