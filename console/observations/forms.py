"""What people fill in about observations. The domain validates; the forms only shape."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.http import QueryDict

from console.cursors import NO_PLACE
from observations.bulk import MOST
from observations.models import Observation
from observations.reassigning import Owner
from observations.types import Changes, NewObservation, Selection, Sort
from observations.validation import LONGEST, MOST_TAGS
from tenants.errors import Invalid

TYPES = (
    "decision", "discovery", "bugfix", "pattern", "architecture", "config", "learning", "preference",
)  # fmt: skip
SORTS = [("", "best, or newest"), ("newest", "newest"), ("updated", "changed last")]
DEEDS = [
    ("tag", "Add a tag"),
    ("untag", "Remove a tag"),
    ("retype", "Change the type"),
    ("trash", "Move to the trash"),
    ("restore", "Restore from the trash"),
]
MOST_IDS = 900  # with the filter beside them, fewer fields than Django takes


def listed(name: str) -> forms.TextInput:
    """A text with suggestions, which stand in the page's `<datalist>` of that id."""
    return forms.TextInput(attrs={"list": name, "autocomplete": "off"})


class FilterForm(forms.Form):
    """Which observations are shown."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=2_000,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    type = forms.CharField(label="Type", required=False, widget=listed("types"))
    project = forms.CharField(label="Project", required=False, widget=listed("projects"))
    scope = forms.CharField(label="Scope", required=False, widget=listed("scopes"))
    tag = forms.CharField(label="Tag", required=False)
    agent = forms.CharField(label="Agent", required=False)
    user = forms.CharField(label="Person", required=False)
    session = forms.CharField(required=False, widget=forms.HiddenInput)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    sort = forms.ChoiceField(label="Order", required=False, choices=SORTS)
    trash = forms.BooleanField(label="In the trash", required=False)

    def selection(self) -> Selection:
        """What is filled in. Raises Invalid where something cannot be meant: left out, it would mean more."""
        self.refuse_errors()
        said = self.cleaned_data
        since, until = said.get("since"), said.get("until")
        return Selection(
            text=said.get("q") or "",
            type=said.get("type") or "",
            project=said.get("project") or "",
            scope=said.get("scope") or "",
            tag=said.get("tag") or "",
            agent_id=said.get("agent") or "",
            user_id=said.get("user") or "",
            session_id=said.get("session") or "",
            since=datetime.combine(since, time.min, UTC) if since else None,
            until=datetime.combine(until, time.max, UTC) if until else None,
            trashed=bool(said.get("trash")),
        )

    def chosen(self, ids: tuple[int, ...]) -> Selection:
        """These, as far as the filter has them still; how they were found does not matter."""
        return replace(self.selection(), text="", ids=ids)

    def refuse_errors(self) -> None:
        """Raises Invalid for the first field with something wrong in it."""
        for name, problems in self.errors.items():
            label = self.fields[name].label or name.capitalize()
            raise Invalid(f"{label}: {problems[0]}", name)

    @property
    def order(self) -> Sort:
        return "updated" if self.cleaned_data["sort"] == "updated" else "newest"

    @property
    def is_ranked(self) -> bool:
        """Whether the list is that of a search, best first."""
        said = self.cleaned_data
        return bool(said["q"]) and not said["trash"] and not said["sort"]

    @property
    def narrowing(self) -> int:
        """How many of its fields say something, but for the search."""
        return sum(bool(self.data.get(name)) for name in self.fields if name not in ("q", "sort"))

    def address(self, **more: Any) -> str:
        """The filter as the query of an address, with what else stands in it."""
        query = QueryDict(mutable=True)
        for name in self.fields:
            if value := self.data.get(name):
                query[name] = value
        for name, value in more.items():
            query.setlist(name, [str(one) for one in value] if isinstance(value, tuple) else [str(value)])
        return query.urlencode()


class TextForm(forms.Form):
    """What an observation says, and under what it stands."""

    title = forms.CharField(label="Title", strip=False)
    type = forms.CharField(label="Type", widget=listed("types"), help_text="Any word; decision, discovery …")
    content = forms.CharField(
        label="Content", strip=False, widget=forms.Textarea(attrs={"rows": 10}),
        help_text=f"At most {LONGEST['content']:,} bytes.",
    )  # fmt: skip
    tags = forms.CharField(
        label="Tags", required=False, help_text=f"Separated by commas, at most {MOST_TAGS}."
    )
    project = forms.CharField(label="Project", widget=listed("projects"))
    scope = forms.CharField(
        label="Scope", required=False, widget=listed("scopes"),
        help_text="project: seen from its project. global: seen from every project.",
    )  # fmt: skip
    topic_key = forms.CharField(
        label="Topic key", required=False,
        help_text="What is saved under the same key replaces it. Empty: nothing does.",
    )  # fmt: skip

    def clean_content(self) -> str:
        """Browsers end lines in two characters."""
        return str(self.cleaned_data["content"]).replace("\r\n", "\n")

    def tag_list(self) -> tuple[str, ...]:
        tags = (tag.strip() for tag in self.cleaned_data["tags"].split(","))
        return tuple(dict.fromkeys(tag for tag in tags if tag))


class NewForm(TextForm):
    """A new one."""

    session_id = forms.CharField(label="Session", help_text="The conversation that it belongs to.")
    user_id = forms.CharField(label="Person", required=False, help_text="Whose memory it is.")

    def new(self) -> NewObservation:
        said = self.cleaned_data
        return NewObservation(
            session_id=said["session_id"],
            type=said["type"],
            title=said["title"],
            content=said["content"],
            project=said["project"],
            scope=said["scope"],
            topic_key=said["topic_key"],
            tags=self.tag_list(),
            user_id=said["user_id"] or None,
        )


class EditForm(TextForm):
    """A change. `seen` is when it had been changed last when the form was opened."""

    session_id = forms.CharField(
        label="Session", required=False, strip=False,
        help_text="The conversation that it belongs to, of the same person. Empty: none.",
    )  # fmt: skip
    seen = forms.DateTimeField(
        required=False, widget=forms.HiddenInput, input_formats=["%Y-%m-%dT%H:%M:%S.%f%z"]
    )

    def changes(self, one: Observation) -> Changes:
        """Of `one`. Tags that stand as they stood are not taken apart: one may hold a comma."""
        said = self.cleaned_data
        is_tagged_anew = said["tags"] != joined(one.tags)
        return Changes(
            type=said["type"],
            title=said["title"],
            content=said["content"],
            tags=self.tag_list() if is_tagged_anew else None,
            project=said["project"],
            scope=said["scope"],
            topic_key=said["topic_key"],
            session_id=said["session_id"] if "session_id" in self.data else None,
        )


class OwnerForm(forms.Form):
    """Whose it is. `seen` as above."""

    user = forms.CharField(
        label="Person", required=False, max_length=255, strip=False, help_text="Empty: nobody in particular."
    )
    agent = forms.CharField(label="Agent", required=False, max_length=255, strip=False)
    seen = forms.DateTimeField(widget=forms.HiddenInput, input_formats=["%Y-%m-%dT%H:%M:%S.%f%z"])

    def owner(self) -> Owner:
        return Owner(self.cleaned_data["user"], self.cleaned_data["agent"])


class DeedForm(forms.Form):
    """What is to be done to many. `stated`: to how many it was said that it would be."""

    deed = forms.ChoiceField(choices=DEEDS)
    value = forms.CharField(required=False)
    stated = forms.IntegerField(required=False, min_value=0, max_value=MOST)


def joined(tags: Sequence[str]) -> str:
    """As they stand in the form."""
    return ", ".join(tags)


def ids_of(data: QueryDict) -> tuple[int, ...]:
    """The chosen ones, each once. Raises Invalid for what is no number of one, and for too many."""
    given = data.getlist("id")
    if not all(_is_number(one, 18) for one in given):
        raise Invalid("This is no observation's number.", "id")
    if len(given) > MOST_IDS:
        raise Invalid(f"Choose at most {MOST_IDS:,} at a time, or all that match.", "id")
    return tuple(dict.fromkeys(map(int, given)))


def moment_in(text: str, name: str) -> datetime | None:
    """A moment with its zone as it stands in an address, under `name`. Raises Invalid for anything else."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Invalid("This is no moment.", name) from error
    if moment.tzinfo is None:
        raise Invalid("This is no moment.", name)
    return moment


def place_in(text: str) -> tuple[datetime, int] | None:
    """After which row a list goes on. Raises Invalid for what no link of ours says."""
    if not text:
        return None
    moment, _, number = text.partition(",")
    try:
        at = moment_in(moment, "before")
    except Invalid as error:
        raise Invalid(NO_PLACE, "before") from error
    if at is None or not _is_number(number, 18):
        raise Invalid(NO_PLACE, "before")
    return at, int(number)


def start_in(text: str) -> int:
    """With which hit a search goes on, likewise."""
    if not text:
        return 0
    if not _is_number(text, 4):
        raise Invalid(NO_PLACE, "before")
    return int(text)


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= digits
