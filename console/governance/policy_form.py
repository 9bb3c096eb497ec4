"""The form of a level's policy: a field for each that can be decided there, and what is left empty is left to
the level above."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms import BoundField

from console.fields import Json
from tenants.errors import Invalid
from tenants.policy.overrides import flatten
from tenants.policy.telling import FieldTold, SectionTold


class Decided(Json):
    """A value as JSON, or the text itself: whether it may be that, the policy says, of all fields at once."""

    def __init__(self, told: FieldTold) -> None:
        super().__init__(label=told.name, required=False, help_text=_help(told), widget=_widget(told))
        self.widget.attrs = _attributes(told)

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False)

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except forms.ValidationError:
            return str(value).strip()


class PolicyForm(forms.Form):
    """All fields of a level. `version` is the one that they were read from."""

    note = forms.CharField(label="Note", max_length=500, required=False, help_text="Why it is changed.")
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, told: Sequence[SectionTold], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.told = told
        for section in told:
            self.fields |= {one.name: Decided(one) for one in section.fields}

    @property
    def sections(self) -> list[tuple[SectionTold, list[BoundField]]]:
        """For the template."""
        return [(section, [self[one.name] for one in section.fields]) for section in self.told]

    @property
    def wrong(self) -> list[BoundField]:
        """The fields that are, in the page's order."""
        return [field for _section, fields in self.sections for field in fields if field.errors]

    def document(self) -> dict[str, dict[str, Any]]:
        """What was typed; what was left empty is null."""
        return {
            section.name: {one.name.partition(".")[2]: self.cleaned_data[one.name] for one in section.fields}
            for section in self.told
        }

    def add_errors(self, error: Invalid) -> None:
        """Puts all that is wrong beside its fields."""
        for one in (error, *error.others):
            _document, *place = one.field.split(".")
            name, rest = ".".join(place[:2]), ".".join(place[2:])
            is_ours = name in self.fields
            before = rest if is_ours else ".".join(place)
            self.add_error(name if is_ours else None, f"{before}: {one}" if before else str(one))


def initial_of(document: Mapping[str, Any], version: int) -> dict[str, Any]:
    """What the level decides, as the form shows it."""
    return flatten(document) | {"version": version}


def _widget(told: FieldTold) -> forms.Widget:
    if told.choices:
        left_open = f"left open ({_shown(told.default)})"
        return forms.Select(choices=[("", left_open), *((one, one) for one in told.choices)])
    return forms.TextInput() if told.example is None else forms.Textarea()


def _attributes(told: FieldTold) -> dict[str, Any]:
    if told.choices:
        return {}
    left_open = {"placeholder": _shown(told.default), "autocomplete": "off"}
    if told.example is None:
        return left_open | {"inputmode": "decimal"}
    return left_open | {"class": "code short", "rows": 2, "spellcheck": "false"}


def _help(told: FieldTold) -> str:
    example = "" if told.example is None else f"Such as {_shown(told.example)}."
    allowed = "" if told.choices or not told.allowed else f"{told.allowed[:1].upper()}{told.allowed[1:]}"
    bounds = " ".join(part for part in (allowed, told.unit) if part)
    return " ".join(part for part in (told.about, bounds and f"{bounds}.", example) if part)


def _shown(value: Any) -> str:
    """A value as it would be typed."""
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
