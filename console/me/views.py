"""Memories: seeing, correcting and forgetting them one by one; where they were used."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from console.me.forms import CorrectionForm
from console.me.pages import PersonPage
from console.me.places import memory_place, place_of, use_place
from console.pages import add_error
from recall.subjects.changing import correctable, forget_memory, rectify_memory
from recall.subjects.memories import access_memory, list_memories, show
from recall.subjects.people import summary_of
from recall.subjects.uses import list_uses, texts_told
from tenants.errors import Invalid

PAGE = 50
KINDS = {"entity": "What is known", "episode": "What happened", "observation": "What was noted"}


class MemoriesPage(PersonPage):
    """`/me/`"""

    section = "memories"

    def get(self, request: HttpRequest) -> HttpResponse:
        kind = request.GET.get("kind", "")
        kinds = [kind] if kind in KINDS else None
        before = memory_place(request.GET.get("before", ""))
        found = list_memories(
            caller=self.caller, user_id=self.user_id, kinds=kinds, limit=PAGE + 1, before=before
        )
        memories = found[:PAGE]
        last = place_of(memories[-1]) if len(found) > PAGE else ""
        summary = summary_of(caller=self.caller, user_id=self.user_id)
        return self.show(
            "memories",
            summary=summary,
            is_first=before is None,
            memories=memories,
            last=last,
            kind=kind,
            kinds=KINDS,
        )


class MemoryPage(PersonPage):
    """`/me/memories/<kind>/<id>`"""

    section = "memories"
    scopes = {"GET": "read", "POST": "write"}

    def get(self, request: HttpRequest, kind: str, memory_id: str) -> HttpResponse:
        return self._shown(kind, memory_id, None)

    def post(self, request: HttpRequest, kind: str, memory_id: str) -> HttpResponse:
        form = CorrectionForm(request.POST)
        if form.is_valid():
            try:
                done = rectify_memory(
                    caller=self.caller,
                    user_id=self.user_id,
                    kind=known(kind),
                    id=memory_id,
                    text=form.cleaned_data["text"],
                    now=timezone.now(),
                )
            except Invalid as error:
                add_error(form, error)
            else:
                self.say("Corrected. What it said before is kept as its history.")
                return self.to("me-memory", done.kind, done.id)  # a slot's value has an id of its own
        return self._shown(kind, memory_id, form, status=422)

    def _shown(
        self, kind: str, memory_id: str, form: CorrectionForm | None, status: int = 200
    ) -> HttpResponse:
        row = access_memory(caller=self.caller, user_id=self.user_id, kind=known(kind), memory_id=memory_id)
        uses = list_uses(caller=self.caller, user_id=self.user_id, kind=known(kind), id=memory_id, limit=PAGE)
        form = form or CorrectionForm(initial={"text": correctable(row)})
        label = KINDS[kind]
        return self.show("memory", memory=show(row), label=label, uses=uses, form=form, status=status)


class ForgetPage(PersonPage):
    """`/me/memories/<kind>/<id>/forget`"""

    section = "memories"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, kind: str, memory_id: str) -> HttpResponse:
        row = access_memory(caller=self.caller, user_id=self.user_id, kind=known(kind), memory_id=memory_id)
        return self.show("forget", memory=show(row))

    def post(self, request: HttpRequest, kind: str, memory_id: str) -> HttpResponse:
        forget_memory(
            caller=self.caller, user_id=self.user_id, kind=known(kind), id=memory_id, now=timezone.now()
        )
        self.say("Deleted for good.")
        return self.to("me")


class UsesPage(PersonPage):
    """`/me/uses`"""

    section = "uses"

    def get(self, request: HttpRequest) -> HttpResponse:
        before = use_place(request.GET.get("before", ""))
        found = list_uses(caller=self.caller, user_id=self.user_id, limit=PAGE + 1, before=before)
        uses = found[:PAGE]
        last = f"{uses[-1].used_at.isoformat()},{uses[-1].id}" if len(found) > PAGE else ""
        texts = texts_told(caller=self.caller, user_id=self.user_id, uses=uses)
        return self.show("uses", uses=uses, last=last, kinds=KINDS, texts=texts)


def known(kind: str) -> str:
    """The kind that an address names. Raises Http404."""
    if kind not in KINDS:
        raise Http404
    return kind
