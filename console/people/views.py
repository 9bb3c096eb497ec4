"""People: who is remembered, and what of whom."""

from django.http import HttpRequest, HttpResponse

from console.cursors import SIZE, place_in
from console.pages import Page
from console.people.forms import NamesForm, PeopleForm
from recall.life import see_person
from recall.subjects import list_subjects
from recall.subjects.people import COUNTED

SUGGESTED = 10


class PeoplePage(Page):
    """`people`"""

    section = "people"

    def get(self, request: HttpRequest) -> HttpResponse:
        form, place = PeopleForm(request.GET), place_in(request.GET)
        if not form.is_valid():
            return self.show("people/people", form=form, people=[], status=422)
        query, after = form.cleaned_data["q"], place or None
        found = list_subjects(caller=self.caller, query=query, limit=SIZE + 1, after=after)
        more = found[SIZE - 1].user_id if len(found) > SIZE else None
        return self.show(
            "people/people", form=form, people=found[:SIZE], query=query, more=more, counted=COUNTED
        )


class NamesPage(Page):
    """`people/names`: the ids that begin with what is typed, for the suggestions of a field `user`."""

    section = "people"
    is_part = True

    def get(self, request: HttpRequest) -> HttpResponse:
        form = NamesForm(request.GET)
        begin = form.cleaned_data["user"] if form.is_valid() else ""
        people = list_subjects(caller=self.caller, query=begin, limit=SUGGESTED) if begin else []
        return self.show("people/_names", people=people)


class PersonPage(Page):
    """`person?user=…`: the id stands in the query, since it may hold any character."""

    section = "people"

    def get(self, request: HttpRequest) -> HttpResponse:
        user_id = request.GET.get("user", "")
        if not 0 < len(user_id) <= 255 or "\x00" in user_id:
            return self.to("people")
        found = see_person(caller=self.caller, user_id=user_id, limit=SIZE + 1, after=place_in(request.GET))
        more = found.stream[SIZE - 1].place if len(found.stream) > SIZE else None
        return self.show("people/person", user_id=user_id, found=found, stream=found.stream[:SIZE], more=more)
