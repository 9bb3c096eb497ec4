"""Fields of forms for what memories are made of."""

import json
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms

LONGEST_ID = 255
MOST_NAMES = 100
DEEPEST = 100  # levels of JSON, as over REST


def is_seen(text: str) -> bool:
    """Whether it holds more than spaces, controls and what is not seen at all."""
    return any(unicodedata.category(one)[0] not in "ZC" for one in text)


class Words(forms.CharField):
    """A text kept to the letter; browsers send each line's end as two characters."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value) or "").replace("\r\n", "\n")

    def validate(self, value: Any) -> None:
        super().validate(value if is_seen(value or "") else "")


class Names(forms.CharField):
    """Names, one a line."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, help_text="One a line.", **kwargs)
        self.widget.attrs |= {"rows": 3, "class": "short"}

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [line.strip() for line in str(super().to_python(value) or "").splitlines() if line.strip()]

    def run_validators(self, value: Any) -> None:
        names: Sequence[str] = value
        if len(names) > MOST_NAMES:
            raise forms.ValidationError(f"At most {MOST_NAMES} are kept.")
        if any(len(one) > LONGEST_ID for one in names):
            raise forms.ValidationError(f"None may be longer than {LONGEST_ID} characters.")
        for one in names:
            super().run_validators(one)


class Json(forms.CharField):
    """A JSON value, as text that can be edited."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.widget.attrs |= {"class": "code", "rows": 6, "spellcheck": "false"}

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            found = json.loads(text, parse_constant=_refuse)
            _check(found)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError("This is not JSON, or none that can be stored.") from error
        return found

    def validate(self, value: Any) -> None:
        """Null is a value."""

    def run_validators(self, value: Any) -> None:
        """It is no text any more."""


class JsonObject(Json):
    """A JSON object; nothing stands for an empty one."""

    def to_python(self, value: Any) -> Any:
        found = super().to_python(value)
        if not isinstance(found, dict | None):
            raise forms.ValidationError("This must be a JSON object, such as {}.")
        return found or {}


def within_reach(moment: datetime) -> None:
    """Refuses years that there are no days around."""
    if not 1 < moment.year < 9999:
        raise forms.ValidationError("Choose a year from 2 to 9998.")


class Moment(forms.DateTimeField):
    """A moment, in UTC; the browser's own picker."""

    default_validators = [within_reach]

    def __init__(self, **kwargs: Any) -> None:
        shown = forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1}, format="%Y-%m-%dT%H:%M:%S")
        super().__init__(required=False, widget=shown, **kwargs)


class Day(forms.DateTimeField):
    """The begin of a day, in UTC."""

    default_validators = [within_reach]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), **kwargs
        )


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _check(value: Any, depth: int = 0) -> None:
    """Raises ValueError for what is nested too deeply, and for text that cannot be stored."""
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        value.encode()
        if "\x00" in value:
            raise ValueError("NUL")
    elif isinstance(value, dict):
        for name, item in value.items():
            _check(name, depth)
            _check(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth + 1)
