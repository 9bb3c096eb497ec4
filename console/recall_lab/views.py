"""Trying a query, and what came of it."""

from typing import Any

from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from console.pages import Page
from console.recall_lab.forms import KIND_LABELS, KIND_NAMES, LabForm, SettingForm, filled, passed_on
from console.recall_lab.moves import moves_of
from recall.lab import Tried, try_recall
from recall.types import RecallQuery
from tenants.errors import Invalid
from tenants.policy.reading import read_policy


class LabPage(Page):
    """`/console/<tenant>/recall`"""

    section = "recall"

    def get(self, request: HttpRequest) -> HttpResponse:
        asked = Asked(self, request.GET)
        return self.show("recall_lab/lab", **asked.shown())


class ResultsPart(Page):
    """`/console/<tenant>/recall/results`: what changes when a slider moves."""

    section = "recall"
    is_part = True

    def get(self, request: HttpRequest) -> HttpResponse:
        asked = Asked(self, request.GET)
        answer = self.show("recall_lab/_results", **asked.shown())
        answer.headers["HX-Replace-Url"] = f"{self.address('recall')}?{request.GET.urlencode()}"
        return answer


class Asked:
    """The address's query as forms, and what they come to."""

    def __init__(self, page: Page, data: QueryDict) -> None:
        policy = read_policy(tenant_id=page.caller.tenant_id, agent_id=data.get("agent", ""))
        self.page, self.data = page, filled(data, policy)
        self.is_compared = "compare" in data
        self.form, self.first = LabForm(self.data), SettingForm(self.data)
        self.second = SettingForm(self.data, prefix="b") if self.is_compared else None

    def shown(self) -> dict[str, Any]:
        """What the templates use. Before there is a query, the forms alone."""
        about: dict[str, Any] = {
            "form": self.form,
            "first": self.first,
            "second": self.second,
            "asked": self.data,
            "passed": passed_on(self.data),
            "kind_names": KIND_NAMES,
            "kind_labels": KIND_LABELS,
            "all_kinds": len(self.data.getlist("kinds")) == len(KIND_NAMES),
            "address_query": self.data.urlencode(),
            "single_query": _single(self.data).urlencode(),
        }
        if not self.data.get("q", "").strip():
            self.form = about["form"] = LabForm(
                initial=self.data.dict() | {"kinds": self.data.getlist("kinds")}
            )
            return about
        if self.is_valid():
            try:
                about |= self._answered()
            except Invalid as error:
                about["hint"] = str(error)
        else:
            about["hint"] = self.wrong()
        return about

    def is_valid(self) -> bool:
        """Whether the forms are filled in well."""
        return all(form.is_valid() for form in self._forms())

    def wrong(self) -> str:
        """What is not."""
        return " ".join(
            f"{form.fields[name].label}: {problems[0]}"
            for form in self._forms()
            for name, problems in form.errors.items()
        )

    def query(self) -> RecallQuery:
        """The question by the first setting."""
        return self.first.query(self.form.cleaned_data["q"], self.form.where())

    def _forms(self) -> list[Form]:
        return [self.form, self.first, *([self.second] if self.second else [])]

    def _answered(self) -> dict[str, Any]:
        tried = self._try()
        found = {hit.kind for one in tried for hit in one.results}
        named = [label.lower() for kind, label in KIND_LABELS.items() if kind in found]
        return {
            "tried": tried,
            "moves": moves_of(tried),
            "is_mixed": len(named) > 1,
            "kinds_answered": named,
        }

    def _try(self) -> tuple[Tried, ...]:
        first = self.query()
        return try_recall(
            caller=self.page.caller,
            query=first,
            second=self.second.query(first.text, first.where) if self.second else None,
            kinds=self.form.asked_kinds(),
            now=timezone.now(),
        )


def _single(data: QueryDict) -> QueryDict:
    """Without the second setting."""
    kept = data.copy()
    for name in [name for name in kept if name == "compare" or name.startswith("b-")]:
        del kept[name]
    return kept
