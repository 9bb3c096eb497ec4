"""What the recall lab asks: a query, whose memory is meant, and one or two settings."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import QueryDict

from console.fields import Moment
from episodic.types import EpisodeFilter
from recall.kinds import KINDS, Kind
from recall.lab import KNOWS_ALPHA, KNOWS_DECAY
from recall.types import PROFILES, Profile, RecallQuery
from tenants.policy.document import Policy

MOST = 200  # results
ALPHA = "\N{GREEK SMALL LETTER ALPHA}, likeness against recency"
KIND_LABELS = {"episode": "Episodes", "entity": "Entity slots", "observation": "Observations"}
KIND_NAMES = {"episode": "Episode", "entity": "Entity slot", "observation": "Observation"}


def _slider(low: float, high: float, step: float, profiles: tuple[str, ...] = ()) -> forms.NumberInput:
    """`profiles`: those in which it does something, to episodes; none: it always does."""
    attrs = {"type": "range", "min": low, "max": high, "step": step}
    return forms.NumberInput(attrs=attrs | ({"data-profiles": " ".join(profiles)} if profiles else {}))


class LabForm(forms.Form):
    """The question; what its settings leave open is filled in from the policy."""

    q = forms.CharField(
        label="Query",
        max_length=2_000,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "What does Ann drink?"}),
    )
    user = forms.CharField(label="As user", max_length=255, required=False)
    agent = forms.CharField(label="As agent", max_length=255, required=False)
    project = forms.CharField(label="Project", max_length=200, required=False)
    session = forms.CharField(label="Session", max_length=255, required=False)
    as_of = Moment(label="As of", help_text="UTC; what held then.")
    kinds = forms.MultipleChoiceField(
        label="Kinds",
        choices=[(kind, KIND_LABELS[kind]) for kind in KINDS],
        widget=forms.CheckboxSelectMultiple,
    )

    def where(self) -> EpisodeFilter:
        """Whose memory is meant, and when."""
        given = self.cleaned_data
        return EpisodeFilter(
            user_id=given["user"] or None,
            agent_id=given["agent"] or None,
            project=given["project"] or None,
            session_id=given["session"] or None,
            as_of=given["as_of"],
        )

    def asked_kinds(self) -> list[Kind]:
        """The chosen kinds of memory."""
        return cast(list[Kind], self.cleaned_data["kinds"])


class SettingForm(forms.Form):
    """How memories are ranked. What does nothing as the profile and the kinds are is disabled."""

    profile = forms.ChoiceField(
        label="Profile", choices=[(one, one) for one in PROFILES], help_text="How episodes are ranked.",
        widget=forms.Select(attrs={"data-profiles": " ".join(PROFILES)}),
    )  # fmt: skip
    alpha = forms.FloatField(
        label=ALPHA, min_value=0, max_value=1, help_text="Counts in the profile fused alone.",
        widget=_slider(0, 1, 0.05, KNOWS_ALPHA),
    )  # fmt: skip
    decay = forms.FloatField(
        label="λ, fading per hour", min_value=0, max_value=10,
        help_text="Counts in the profiles fused, hybrid and keyword.",
        widget=_slider(0, 0.5, 0.01, KNOWS_DECAY),
    )  # fmt: skip
    k = forms.IntegerField(label="K, results", min_value=1, max_value=MOST, widget=_slider(1, 50, 1))
    mmr = forms.FloatField(
        label="MMR, relevance against unlikeness", min_value=0, max_value=1,
        help_text="Of episodes; 1: relevance alone.", widget=_slider(0, 1, 0.05, PROFILES),
    )  # fmt: skip

    def __init__(self, data: QueryDict, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        for name in ("decay", "k"):  # what the policy says beyond the slider's end stretches it
            attrs = self.fields[name].widget.attrs
            attrs["max"] = max(attrs["max"], _number(data.get(self.add_prefix(name), "")))
        profile = data.get(self.add_prefix("profile")) if "episode" in data.getlist("kinds") else None
        for field in self.fields.values():
            knows = field.widget.attrs.get("data-profiles")
            if knows and profile not in knows.split():
                field.widget.attrs["disabled"] = True

    def query(self, text: str, where: EpisodeFilter) -> RecallQuery:
        """The question by this setting."""
        given = self.cleaned_data
        return RecallQuery(
            text=text,
            where=where,
            top_k=given["k"],
            profile=cast(Profile, given["profile"]),
            alpha=given["alpha"],
            decay=given["decay"],
            mmr=given["mmr"],
        )


class SaveForm(forms.Form):
    """What is kept as a regression query."""

    q = forms.CharField(max_length=2_000)
    user = forms.CharField(max_length=255, required=False)
    agent = forms.CharField(max_length=255, required=False)
    session = forms.CharField(max_length=255, required=False)
    relevant = forms.TypedMultipleChoiceField(coerce=UUID, required=False)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        ticked = [one for one in data.getlist("relevant") if _is_uuid(one)]
        cast(forms.TypedMultipleChoiceField, self.fields["relevant"]).choices = [(one, one) for one in ticked]


def filled(data: QueryDict, policy: Policy) -> QueryDict:
    """The address's query with what it leaves open as the policy says; the second setting as the first."""
    full = data.copy()
    usual: Mapping[str, Any] = {
        **dict.fromkeys(("q", "user", "agent", "project", "session", "as_of"), ""),
        "profile": policy.recall.profile,
        "alpha": policy.recall.alpha,
        "decay": policy.recall.decay,
        "k": policy.recall.top_k,
        "mmr": 1,
    }
    for name, value in usual.items():
        full.setdefault(name, str(value))
    if "kinds" not in full:
        full.setlist("kinds", list(KINDS))
    for name in SettingForm.base_fields if "compare" in full else ():
        full.setdefault(f"b-{name}", str(full[name]))
    return full


def passed_on(data: QueryDict) -> list[tuple[str, str]]:
    """What a form repeats of the question in fields that nobody sees."""
    own = ("csrfmiddlewaretoken", "relevant", "memory", "kind")
    return [(name, one) for name, values in data.lists() if name not in own for one in values if one]


class WhyForm(forms.Form):
    """The memory that was not found."""

    kind = forms.ChoiceField(choices=[(kind, KIND_NAMES[kind]) for kind in KINDS])
    memory = forms.CharField(max_length=36)


def _number(text: str) -> float:
    """0 for what is none; the field says so."""
    try:
        number = float(text)
    except ValueError:
        return 0
    return number if isfinite(number) else 0


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
