"""What may be asked of slots, and said of one."""

from typing import Any

from django import forms

from console.fields import Json, Moment, Words, is_seen
from episodic.entities import EntityFilter
from episodic.models import SlotStatus


class EntityFilterForm(forms.Form):
    """Everything may be left empty."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=2_000,
        widget=forms.TextInput({"type": "search"}),
        help_text="Among the slots of one user.",
    )
    user = forms.CharField(required=False, max_length=255, strip=False)
    key = forms.CharField(required=False, max_length=255)
    status = forms.ChoiceField(required=False, choices=[("", "Current"), *SlotStatus.choices[1:]])
    as_of = Moment(label="As of (UTC)")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("q") and not given.get("user"):
            self.add_error("user", "Name the user whose slots are searched.")
        return given

    def where(self) -> EntityFilter:
        given = self.cleaned_data
        return EntityFilter(
            user_id=given["user"] or None,
            key=given["key"] or None,
            status=given["status"] or None,
            as_of=given["as_of"],
        )


class EntityForm(forms.Form):
    """What a slot is to hold."""

    KINDS = (("text", "Text"), ("json", "JSON: a number, a list, an object …"))

    kind = forms.ChoiceField(label="Kind of value", choices=KINDS)
    text = Words(label="Value", required=False)

    def value(self) -> Any:
        """Raises ValidationError for JSON that is none."""
        given = self.cleaned_data
        return given["text"] if given["kind"] == "text" else Json(required=False).clean(given["text"])

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if not is_seen(given.get("text", "")):
            self.add_error("text", "Say what the slot is to hold.")
        elif given.get("kind") == "json":
            try:
                self.value()
            except forms.ValidationError as error:
                self.add_error("text", error)
        return given


class NewEntityForm(EntityForm):
    """A slot that may not be there yet."""

    field_order = ["user", "key"]
    user = forms.CharField(max_length=255, strip=False, help_text="Whom it is about.")
    key = forms.CharField(max_length=255, help_text="Such as city or preferred_language.")
