"""What jobs and deliveries can be filtered by, which dead letters are meant, what is said of a webhook."""

from uuid import UUID

from django import forms
from django.http import QueryDict

from console.cursors import NO_PLACE, SIZE, place_in
from tenants.errors import Invalid
from tenants.models import JobState
from webhooks.models import DeliveryState, Kind
from webhooks.types import Changes
from webhooks.webhooks import EVENTS

ANY = [("", "Any")]
MOST_PICKED = 4 * SIZE


class JobsForm(forms.Form):
    """Everything may be left empty."""

    state = forms.ChoiceField(required=False, choices=[*ANY, *JobState.choices])
    kind = forms.CharField(required=False, max_length=64)


class DeliveriesForm(forms.Form):
    """Likewise."""

    state = forms.ChoiceField(required=False, choices=[*ANY, *DeliveryState.choices])
    webhook = forms.UUIDField(required=False, label="Webhook's id")


class WebhookForm(forms.Form):
    """Where to, of what, and whether with the memories' words."""

    url = forms.CharField(label="URL", max_length=2_000, help_text="HTTPS, to a public address.")
    description = forms.CharField(required=False, max_length=500)
    events = forms.MultipleChoiceField(
        choices=[(one, one) for one in EVENTS], widget=forms.CheckboxSelectMultiple, initial=EVENTS
    )
    kinds = forms.MultipleChoiceField(
        label="Of which kinds of memory",
        required=False,
        choices=Kind.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: of all.",
    )
    agent_id = forms.CharField(
        label="Agent", required=False, max_length=255, strip=False, help_text="Empty: of all."
    )
    project = forms.CharField(required=False, max_length=200, help_text="Empty: of all.")
    include_text = forms.BooleanField(label="Tell what the memories say, too", required=False)

    def changes(self) -> Changes:
        """What the domain is told."""
        given = self.cleaned_data
        return Changes(
            url=given["url"],
            description=given["description"],
            events=given["events"],
            kinds=given["kinds"],
            agent_id=given["agent_id"],
            project=given["project"],
            include_text=given["include_text"],
        )


def picked(given: QueryDict, name: str = "job") -> list[UUID] | None:
    """The ids that were ticked; None where all are meant. Raises Invalid for none, too many, or what is no
    id."""
    if given.get("which") == "all":
        return None
    try:
        ids = [UUID(one) for one in given.getlist(name)]
    except ValueError as error:
        raise Invalid("This is no id.", name) from error
    if not 0 < len(ids) <= MOST_PICKED:
        raise Invalid(f"Tick between one and {MOST_PICKED}, or choose all.", name)
    return ids


def page_after(given: QueryDict) -> UUID | None:
    """After which row the page begins, of a list that is ordered by id. Raises Invalid."""
    place = place_in(given)
    try:
        return UUID(place) if place else None
    except ValueError as error:
        raise Invalid(NO_PLACE, "after") from error
