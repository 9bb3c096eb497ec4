"""`/console/<tenant>/observations`: everything that was noted, to look through."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from console.observations.forms import DEEDS, TYPES, FilterForm, place_in, start_in
from console.pages import Page
from observations.selecting import (
    FOUND,
    RANKED,
    count_selected,
    find_selected,
    list_names,
    list_selected,
    moment_of,
)
from observations.types import SearchHit, Selection

SIZE = 50
COUNTED = 1_001


class ObservationsPage(Page):
    """The list with its filters. htmx asks for the rows alone, or for those behind a row."""

    section = "observations"

    def get(self, request: HttpRequest) -> HttpResponse:
        form = FilterForm(request.GET)
        if not form.is_valid():
            return self._shown(form, status=422)
        found = self._found(form) if form.is_ranked else self._listed(form)
        if getattr(request, "htmx", False) and request.GET.get("before"):
            return self.show("observations/_rows", **found)
        return self._shown(form, **found)

    def _listed(self, form: FilterForm) -> dict[str, Any]:
        """The rows by time, from where the address says on."""
        where, before = form.selection(), place_in(self.request.GET.get("before", ""))
        hits = list_selected(caller=self.caller, where=where, limit=SIZE + 1, sort=form.order, before=before)
        is_whole = before is None and len(hits) <= SIZE
        more = _after(form, where, hits[SIZE - 1]) if len(hits) > SIZE else ""
        count = len(hits) if is_whole else self._count(where)
        return {"where": where, "hits": hits[:SIZE], "more": more, "count": count}

    def _found(self, form: FilterForm) -> dict[str, Any]:
        """The hits of a search, likewise."""
        where, start = form.selection(), start_in(self.request.GET.get("before", ""))
        found = find_selected(caller=self.caller, where=where, start=start, limit=SIZE)
        end = start + SIZE
        return {
            "where": where, "hits": found.hits, "is_search": True, "count": found.holding,
            "more": form.address(before=end) if end < found.total else "",
            "others": max(found.total - found.holding, 0), "is_cut": found.total >= FOUND > found.holding,
            "onward": form.address(sort="newest") if end >= found.total == RANKED < found.holding else "",
        }  # fmt: skip

    def _shown(self, form: FilterForm, *, status: int = 200, **context: Any) -> HttpResponse:
        context |= {"form": form, "query": form.address(), "counted": COUNTED - 1, "deeds": DEEDS}
        if getattr(self.request, "htmx", False) and self.request.htmx.target == "found":  # type: ignore[attr-defined]
            return self.show("observations/_found", status=status, **context)
        names = list_names(caller=self.caller)
        return self.show("observations/list", status=status, names=names, types=TYPES, **context)

    def _count(self, where: Selection) -> int:
        return count_selected(caller=self.caller, where=where, most=COUNTED)


def _after(form: FilterForm, where: Selection, last: SearchHit) -> str:
    """The address of the rows behind the last one shown."""
    at = getattr(last.observation, moment_of(where, form.order))
    return form.address(before=f"{at.isoformat()},{last.observation.id}")
