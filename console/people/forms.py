"""Whom to look for."""

from django import forms


class PeopleForm(forms.Form):
    """How their ids begin, and after whom the page begins."""

    q = forms.CharField(
        label="User id begins with",
        required=False,
        max_length=255,
        strip=False,
        widget=forms.TextInput({"type": "search"}),
    )
    after = forms.CharField(required=False, max_length=255, strip=False, widget=forms.HiddenInput)


class NamesForm(forms.Form):
    """What was typed of an id so far."""

    user = forms.CharField(max_length=255, strip=False)
