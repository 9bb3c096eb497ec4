"""What may be asked of sessions."""

from typing import Any

from django import forms


class SessionFilterForm(forms.Form):
    """Everything may be left empty."""

    user = forms.CharField(required=False, max_length=255, strip=False)
    agent = forms.CharField(required=False, max_length=255, strip=False)
    project = forms.CharField(required=False, max_length=200, strip=False)
    namespace = forms.CharField(required=False, max_length=255, strip=False)
    state = forms.ChoiceField(required=False, choices=[("", "Any"), ("active", "Active"), ("ended", "Ended")])

    def named(self) -> dict[str, Any]:
        """As `list_sessions` is asked."""
        given = self.cleaned_data
        return {
            "user_id": given["user"] or None,
            "agent_id": given["agent"] or None,
            "project": given["project"] or None,
            "namespace": given["namespace"] or None,
            "active": {"active": True, "ended": False}.get(given["state"]),
        }


class PlaceForm(forms.Form):
    """Which page of a transcript."""

    at = forms.IntegerField(required=False, min_value=0, max_value=2**53)
    after = forms.IntegerField(required=False, min_value=0, max_value=2**53)
    before = forms.IntegerField(required=False, min_value=0, max_value=2**53)
