"""Episodes: looked through, read, and changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cursors import SIZE, Rows, position_of, rows_of
from console.episodes.forms import EditForm, EpisodeFilterForm, NewForm
from console.pages import Page, add_error
from episodic.access import read_episode, read_episodes
from episodic.models import Episode, EpisodeRevision
from episodic.pins import pin_episode, unpin_episode
from episodic.reassigning import is_turn_of_session
from episodic.retraction import delete_episode, retract_episode
from episodic.whole import WholeEpisode, read_whole_episode
from ledger.models import WriteDecision
from lexical.differences import Part, compare
from recall.browsing import find_episodes
from recall.saving import save_episode
from recall.saving_edits import save_edit
from tenants.errors import Invalid, TooLarge

BESIDE = ("topics", "entities", "outcome", "event_date", "metadata")
NO_SUBJECT = "Say whose memory is searched: name a user, an agent, a project or a session."


@dataclass(frozen=True, slots=True)
class Change:
    """An edit: what it did to the text, and what else was different before, by name."""

    revision: EpisodeRevision
    parts: Sequence[Part]
    former: dict[str, Any]


class EpisodesPage(Page):
    """`episodes`"""

    section = "episodes"

    def get(self, request: HttpRequest) -> HttpResponse:
        form, position = EpisodeFilterForm(request.GET), position_of(request)
        if not form.is_valid():
            return self._listed(form, Rows(()), status=422)
        if form.cleaned_data["q"]:
            return self._found(form)
        found = read_episodes(
            caller=self.caller,
            where=form.where(),
            traits=form.traits(),
            limit=SIZE + 1,
            before=position,
        )
        return self._listed(form, rows_of(request, found, moment=lambda one: one.episode.created_at))

    def _found(self, form: EpisodeFilterForm) -> HttpResponse:
        try:
            hits = find_episodes(
                caller=self.caller,
                text=form.cleaned_data["q"],
                where=form.where(),
                traits=form.traits(),
                now=timezone.now(),
            )
        except Invalid as error:
            form.add_error("user" if error.field == "user_id" else None, NO_SUBJECT)
            return self._listed(form, Rows(()), status=422)
        return self._listed(form, Rows(hits), most=max((hit.score for hit in hits), default=0.0))

    def _listed(self, form: EpisodeFilterForm, rows: Rows, **context: Any) -> HttpResponse:
        narrowed = any(form.data.get(name) for name in form.fields)
        return self.show("episodes/episodes", form=form, rows=rows, narrowed=narrowed, **context)


class EpisodePage(Page):
    """`episodes/<id>`"""

    section = "episodes"

    def get(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        found = read_whole_episode(caller=self.caller, episode_id=episode_id)
        holds = found.episode.valid_to is None or found.episode.valid_to > timezone.now()
        return self.show(
            "episodes/episode", found=found, one=found.episode, holds=holds, changes=changes_of(found),
            is_turn=is_turn_of_session(found.episode),
        )  # fmt: skip


class EpisodePlacePage(Page):
    """`episodes/<id>/place`: to where it was said."""

    section = "episodes"
    scopes = {"GET": "write"}

    def get(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        found = read_whole_episode(caller=self.caller, episode_id=episode_id)
        if found.session is None:
            self.say("The session that it came from is gone, or it came from none.")
            return self.to("episode", episode_id=episode_id)
        if not found.episode.covers_turns:
            return self.to("session", session_row=found.session)
        place = found.episode.covers_turns[0]
        return self.to("session-transcript", session_row=found.session, query=f"at={place}#turn-{place}")


class EpisodeEditPage(Page):
    """`episodes/<id>/edit`"""

    section = "episodes"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        one = read_episode(caller=self.caller, episode_id=episode_id).episode
        said = {name: getattr(one, name) for name in EditForm.base_fields}
        return self.show("episodes/edit", form=EditForm(initial=said), one=one)

    def post(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        one = read_episode(caller=self.caller, episode_id=episode_id).episode
        form = EditForm(request.POST)
        if form.is_valid() and self._saved(form, episode_id):
            self.say("The episode was edited. What it said before is below, under History.")
            return self.to("episode", episode_id=episode_id)
        return self.show("episodes/edit", form=form, one=one, status=422)

    def _saved(self, form: EditForm, episode_id: UUID) -> bool:
        try:
            done = save_edit(
                caller=self.caller,
                episode_id=episode_id,
                changes=form.changes(),
                match={form.cleaned_data["version"]},
                now=timezone.now(),
            )
        except (Invalid, TooLarge) as error:
            add_error(form, as_invalid(error))
            return False
        if not isinstance(done, Episode):
            form.add_error(None, f"The policy does not let this be written: {reason_of(done)}.")
        return isinstance(done, Episode)


class EpisodeNewPage(Page):
    """`episodes/new`"""

    section = "episodes"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("episodes/new", form=NewForm(initial={"user": request.GET.get("user", "")}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewForm(request.POST)
        done = self._saved(form) if form.is_valid() else None
        if isinstance(done, Episode):
            self.say("The episode is stored, and can be recalled from now on.")
            return self.to("episode", episode_id=done.id)
        if done is not None and done.outcome == done.Outcome.HELD:
            self.say(f"It waits under Write decisions to be confirmed: {reason_of(done)}.")
            return self.to("episodes")
        return self.show("episodes/new", form=form, status=422)

    def _saved(self, form: NewForm) -> Episode | WriteDecision | None:
        try:
            done = save_episode(caller=self.caller, new=form.new(), now=timezone.now())
        except (Invalid, TooLarge) as error:
            add_error(form, as_invalid(error))
            return None
        if not isinstance(done, Episode):
            form.add_error(None, f"The policy does not let this be written: {reason_of(done)}.")
        return done


class EpisodePinPage(Page):
    """`episodes/<id>/pin`: with `on`, pins it; else leaves it to retention again."""

    section = "episodes"
    scopes = {"POST": "write"}

    def post(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        set_pin = pin_episode if "on" in request.POST else unpin_episode
        set_pin(caller=self.caller, episode_id=episode_id, now=timezone.now())
        self.say("Pinned: retention passes it by." if "on" in request.POST else "Left to retention again.")
        return self.to("episode", episode_id=episode_id)


class EpisodeDeletePage(Page):
    """`episodes/<id>/delete`: takes it back, or deletes it for good, once it is said what that means."""

    section = "episodes"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        found = read_whole_episode(caller=self.caller, episode_id=episode_id)
        return self.show("episodes/delete", found=found, one=found.episode)

    def post(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        how, now = request.POST.get("how"), timezone.now()
        if how == "retract":
            retract_episode(caller=self.caller, episode_id=episode_id, now=now)
            self.say("Retracted: it is recalled no more, and stays in the history.")
            return self.to("episode", episode_id=episode_id)
        if how != "for_good":
            raise Invalid("Choose between retracting it and deleting it for good.", "how")
        delete_episode(caller=self.caller, episode_id=episode_id, hard=True, now=now)
        self.say("Deleted for good.")
        return self.to("episodes")


def reason_of(decision: WriteDecision) -> str:
    """Why it was not written."""
    return decision.reason.replace("_", " ")


def as_invalid(error: Invalid | TooLarge) -> Invalid:
    """A text that is too long, beside its field."""
    return error if isinstance(error, Invalid) else Invalid(str(error), "text")


def changes_of(found: WholeEpisode) -> list[Change]:
    """What each edit did, the newest first."""
    texts: list[Episode | EpisodeRevision] = [found.episode, *found.revisions]
    return [
        Change(one, compare(one.text, after.text), _former(one, after))
        for one, after in zip(found.revisions, texts, strict=False)
    ]


def _former(before: EpisodeRevision, after: Episode | EpisodeRevision) -> dict[str, Any]:
    values = {name: getattr(before, name) for name in BESIDE}
    return {name.replace("_", " "): value for name, value in values.items() if value != getattr(after, name)}
