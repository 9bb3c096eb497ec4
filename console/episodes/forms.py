"""What may be asked of episodes, and said of one."""

from datetime import timedelta
from typing import Any

from django import forms

from console.fields import Day, JsonObject, Moment, Names, Words
from episodic.models import MemoryType, Origin
from episodic.types import EpisodeChanges, EpisodeFilter, EpisodeTraits, NewEpisode

ANY = [("", "Any")]


class EpisodeFilterForm(forms.Form):
    """Everything may be left empty."""

    q = forms.CharField(
        label="Search", required=False, max_length=2_000, widget=forms.TextInput({"type": "search"})
    )
    user = forms.CharField(required=False, max_length=255, strip=False)
    agent = forms.CharField(required=False, max_length=255, strip=False)
    project = forms.CharField(required=False, max_length=200, strip=False)
    session = forms.CharField(required=False, max_length=255, strip=False)
    topic = forms.CharField(required=False, max_length=255)
    memory_type = forms.ChoiceField(label="Type", required=False, choices=[*ANY, *MemoryType.choices])
    origin = forms.ChoiceField(
        label="Came from",
        required=False,
        choices=[*ANY, (Origin.SESSION, "A session"), (Origin.SAVED, "Saved on purpose")],
    )
    outcome = forms.CharField(required=False, max_length=255)
    pinned = forms.ChoiceField(required=False, choices=[*ANY, ("yes", "Pinned"), ("no", "Not pinned")])
    since = Day(label="Written since")
    until = Day(label="Written until")
    as_of = Moment(label="As of (UTC)")
    history = forms.BooleanField(label="Also what holds no more", required=False)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("as_of") and given.get("history"):
            self.add_error("as_of", "Either what held then, or all that ever held.")
        return given

    def where(self) -> EpisodeFilter:
        given = self.cleaned_data
        until = given["until"]
        return EpisodeFilter(
            user_id=given["user"] or None,
            agent_id=given["agent"] or None,
            project=given["project"] or None,
            session_id=given["session"] or None,
            memory_types=(given["memory_type"],) if given["memory_type"] else (),
            topics=(given["topic"],) if given["topic"] else (),
            since=given["since"],
            until=until + timedelta(days=1) if until else None,
            as_of=given["as_of"],
            history=given["history"],
        )

    def traits(self) -> EpisodeTraits:
        given = self.cleaned_data
        return EpisodeTraits(
            origin=given["origin"] or None,
            outcome=given["outcome"] or None,
            pinned={"yes": True, "no": False}.get(given["pinned"]),
        )


class EpisodeForm(forms.Form):
    """What an episode says."""

    text = Words()
    topics = Names()
    entities = Names()
    outcome = forms.CharField(required=False, max_length=1_000)
    event_date = Moment(label="When it happened (UTC)")
    metadata = JsonObject(required=False)

    def changes(self) -> EpisodeChanges:
        given = self.cleaned_data
        return EpisodeChanges(
            text=given["text"],
            topics=given["topics"],
            entities=given["entities"],
            outcome=given["outcome"],
            event_date=given["event_date"],
            metadata=given["metadata"],
        )


class EditForm(EpisodeForm):
    """What it is to say, under what it is to stand, and which version of it was read. What is not sent of the
    second stays."""

    field_order = ["text", "agent_id", "project", "memory_type"]
    agent_id = forms.CharField(label="Agent", required=False, max_length=255, strip=False)
    project = forms.CharField(required=False, max_length=200, strip=False)
    memory_type = forms.ChoiceField(
        label="Type", choices=MemoryType.choices,
        help_text="A semantic one is a statement: it closes what it contradicts. A message remains one.",
    )  # fmt: skip
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["memory_type"].required = not self.is_bound or "memory_type" in self.data

    def changes(self) -> EpisodeChanges:
        given, said = self.cleaned_data, super().changes()
        if "agent_id" in self.data:
            said["agent_id"] = given["agent_id"]
        if "project" in self.data:
            said["project"] = given["project"]
        if given["memory_type"]:
            said["memory_type"] = given["memory_type"]
        return said


class PersonForm(forms.Form):
    """Whose it is to be, and which version of it was read."""

    user = forms.CharField(
        label="Person", required=False, max_length=255, strip=False, help_text="Empty: nobody in particular."
    )
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)


class NewForm(EpisodeForm):
    """An episode, and whose it is."""

    field_order = ["text", "user", "agent", "project", "memory_type"]
    user = forms.CharField(required=False, max_length=255, strip=False, help_text="Whose memory it is.")
    agent = forms.CharField(required=False, max_length=255, strip=False)
    project = forms.CharField(required=False, max_length=200, strip=False)
    memory_type = forms.ChoiceField(label="Type", choices=MemoryType.choices)

    def new(self) -> NewEpisode:
        given = self.cleaned_data
        return NewEpisode(
            text=given["text"],
            user_id=given["user"] or None,
            agent_id=given["agent"] or None,
            project=given["project"] or None,
            memory_type=given["memory_type"],
            topics=tuple(given["topics"]),
            entities=tuple(given["entities"]),
            outcome=given["outcome"],
            event_date=given["event_date"],
            metadata=given["metadata"],
        )
