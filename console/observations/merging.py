"""Observations that may be one: the likely pairs, and making one of two."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.observations.forms import listed
from console.pages import Page
from lexical.differences import compare
from observations.duplicates import SCANNED, find_likely
from observations.merging import access_pair, merge_observations
from observations.validation import MOST_TAGS
from tenants.errors import Invalid


class ProjectForm(forms.Form):
    """Where to look for them."""

    project = forms.CharField(label="Project", required=False, widget=listed("projects"))


class DuplicatesPage(Page):
    """`observations/duplicates`"""

    section = "observations"

    def get(self, request: HttpRequest) -> HttpResponse:
        project = request.GET.get("project", "")
        pairs = find_likely(caller=self.caller, project=project)
        return self.show(
            "observations/duplicates", pairs=pairs, form=ProjectForm(request.GET), scanned=SCANNED
        )


class MergePage(Page):
    """`observations/<id>/merge/<id>`: both, what differs, and which one stays."""

    section = "observations"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, observation_id: int, other_id: int) -> HttpResponse:
        pair = access_pair(caller=self.caller, observation_id=observation_id, other_id=other_id)
        one, other = pair
        tags = list(dict.fromkeys([*one.tags, *other.tags]))
        return self.show(
            "observations/merge",
            pair=pair, one=one, other=other, tags=tags[:MOST_TAGS], left_out=tags[MOST_TAGS:],
            titles=compare(one.title, other.title), contents=compare(one.content, other.content),
        )  # fmt: skip

    def post(self, request: HttpRequest, observation_id: int, other_id: int) -> HttpResponse:
        keep = request.POST.get("keep", "")
        if keep not in (str(observation_id), str(other_id)):
            raise Invalid("Say which of the two is to be kept.", "keep")
        gone = other_id if keep == str(observation_id) else observation_id
        merge_observations(caller=self.caller, keep_id=int(keep), other_id=gone, now=timezone.now())
        self.say(f"Merged. #{gone} is in the trash, and what it said is in the history of this one.")
        return self.to("observation", observation_id=int(keep))
