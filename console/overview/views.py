"""The first page of a tenant."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.overview.drawing import charts_of, most_writes, usage_of_month
from console.pages import Page
from recall.overview import read_overview


class OverviewPage(Page):
    """`/console/<tenant>/`; with `?live=off` it stays as it is."""

    section = "overview"

    def get(self, request: HttpRequest) -> HttpResponse:
        is_live = request.GET.get("live") != "off"
        return self.show("overview/overview", is_live=is_live, **self.figures())

    def figures(self) -> dict[str, Any]:
        overview = read_overview(caller=self.caller, now=timezone.now())
        return {
            "overview": overview,
            "charts": charts_of(overview),
            "most_writes": most_writes(overview),
            "usage": usage_of_month(overview),
        }


class OverviewLivePart(OverviewPage):
    """`/console/<tenant>/overview/live`: what changes on that page, each piece for its place."""

    is_part = True

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("overview/_live", **self.figures())
