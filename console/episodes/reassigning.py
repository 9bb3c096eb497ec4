"""Correcting whose an episode is."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.episodes.forms import PersonForm
from console.pages import Page
from episodic.reassigning import Consequences, foresee_reassigning, reassign_episode


class EpisodeReassignPage(Page):
    """`episodes/<id>/reassign`: what that means, then doing it."""

    section = "episodes"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        found = foresee_reassigning(caller=self.caller, episode_id=episode_id)
        one = found.whole.episode
        return self._ask(PersonForm(initial={"user": one.user_id, "version": one.version}), found)

    def post(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        form = PersonForm(request.POST)
        if not form.is_valid():
            found = foresee_reassigning(caller=self.caller, episode_id=episode_id)
            return self._ask(form, found, status=422)
        reassign_episode(
            caller=self.caller,
            episode_id=episode_id,
            user_id=form.cleaned_data["user"],
            match={form.cleaned_data["version"]},
            now=timezone.now(),
        )
        self.say("Whose it is was corrected, and is in the audit log.")
        return self.to("episode", episode_id=episode_id)

    def _ask(self, form: PersonForm, found: Consequences, *, status: int = 200) -> HttpResponse:
        return self.show(
            "episodes/reassign", form=form, found=found, whole=found.whole, one=found.whole.episode,
            status=status,
        )  # fmt: skip
