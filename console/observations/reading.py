"""One observation: what it says, what it said, what stands around it. And all of them in figures."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.pages import Page
from lexical.differences import Part, compare
from observations.editing import list_revisions, restore_revision
from observations.figures import read_breakdown
from observations.models import Observation, ObservationRevision
from observations.observations import access_observation
from observations.sessions import session_of
from observations.timeline import read_timeline
from tenants.errors import Invalid

REVISIONS = 100
AROUND = 10


@dataclass(frozen=True, slots=True)
class Version:
    """What it said at a time. The present one has no number of its own."""

    number: int
    said: Observation | ObservationRevision
    is_now: bool = False


class ObservationPage(Page):
    """`observations/<id>`"""

    section = "observations"

    def get(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        one = access_observation(caller=self.caller, observation_id=observation_id, trashed=True)
        session = session_of(caller=self.caller, observation=one)
        return self.show("observations/one", one=one, tab="one", session=session)


class HistoryPage(Page):
    """`observations/<id>/history`: two versions side by side, and the way back to one."""

    section = "observations"
    scopes = {"GET": "read", "POST": "write"}

    def get(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        one = access_observation(caller=self.caller, observation_id=observation_id, trashed=True)
        kept = list_revisions(caller=self.caller, observation_id=observation_id, limit=REVISIONS)
        now = Version((kept[0].number if kept else 0) + 1, one, is_now=True)
        versions = [now, *(Version(said.number, said) for said in kept)]
        later = _chosen(versions, request.GET.get("to", ""), now)
        earlier = _chosen(versions, request.GET.get("from", ""), versions[min(1, len(versions) - 1)])
        return self.show(
            "observations/history",
            one=one, tab="history", versions=versions, earlier=earlier, later=later,
            differences=_differences(earlier, later),
        )  # fmt: skip

    def post(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        number = request.POST.get("number", "")
        if not number.isdecimal() or len(number) > 9:
            raise Invalid("Say which version.", "number")
        restore_revision(
            caller=self.caller, observation_id=observation_id, number=int(number), now=timezone.now()
        )
        self.say(f"It says again what it said in version {number}. What it said until now is kept.")
        return self.to("observation-history", observation_id=observation_id)


class TimelinePage(Page):
    """`observations/<id>/timeline`"""

    section = "observations"

    def get(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        found = read_timeline(caller=self.caller, observation_id=observation_id, before=AROUND, after=AROUND)
        one = next(row for row in found if row.id == observation_id)
        return self.show("observations/timeline", one=one, tab="timeline", around=found)


class FiguresPage(Page):
    """`observations/figures`"""

    section = "observations"

    def get(self, request: HttpRequest) -> HttpResponse:
        figures = read_breakdown(caller=self.caller)
        return self.show("observations/figures", figures=figures)


def _chosen(versions: list[Version], number: str, usual: Version) -> Version:
    return next((one for one in versions if str(one.number) == number), usual)


def _differences(earlier: Version, later: Version) -> list[tuple[str, list[Part]]]:
    old, new = earlier.said, later.said
    return [
        ("Title", compare(old.title, new.title)),
        ("Type", compare(old.type, new.type)),
        ("Tags", compare(", ".join(old.tags), ", ".join(new.tags))),
        ("Content", compare(old.content, new.content)),
    ]
