"""A person's rights, seen to by a privacy officer: what is kept, a copy, its restriction, its erasure."""

import json
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cursors import SIZE, position_of, rows_of
from console.governance.leftovers import THINGS, leftovers_of, stores_of, words_alike
from console.pages import Page
from recall.subjects import summary_of
from tenants.caller import Scope
from tenants.errors import Invalid
from tenants.models import Tombstone
from tenants.person_links import links_out, make_link, revoke_links
from tenants.privacy.erasure import list_receipts, request_erasure
from tenants.privacy.export import request_export
from tenants.privacy.receipts import is_genuine
from tenants.privacy.requests import (
    access_erasure,
    access_receipt,
    blast_radius,
    exports_of,
    find_left,
    list_all_receipts,
    open_requests,
)
from tenants.restrictions import lift_restriction, list_restrictions, restrict_subject

OFFICER: dict[str, Scope] = {"GET": "privacy"}
ACTS: dict[str, Scope] = {"POST": "privacy"}
OPEN, RESTRICTED, OWN = 50, 200, 20  # rows that are shown


class EraseForm(forms.Form):
    """The person's id, typed again."""

    confirm = forms.CharField(
        label="Type the person's id", max_length=255, strip=False, help_text="So that it is nobody else's."
    )


class VerifyForm(forms.Form):
    """A receipt as it was downloaded."""

    receipt = forms.CharField(
        label="Receipt",
        max_length=1_000_000,
        widget=forms.Textarea(attrs={"class": "code", "rows": 14, "spellcheck": "false"}),
    )


class SubjectPage(Page):
    """A page about the person that the request names: an id may hold any character, so it is no part of the
    path."""

    section = "privacy"
    scopes = OFFICER

    def user(self) -> str:
        """Raises Invalid for what can be no id."""
        user_id = self.request.POST.get("user") or self.request.GET.get("user", "")
        if not 0 < len(user_id) <= 255 or "\0" in user_id:
            raise Invalid("Name a person by their id.", "user")
        return user_id

    def back(self, user_id: str) -> HttpResponse:
        """To what is kept of the person."""
        return self.to("privacy", query=urlencode({"user": user_id}))


class PrivacyPage(SubjectPage):
    """`/console/<tenant>/privacy`: of everybody, or of one person."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if not request.GET.get("user"):
            return self.show(
                "governance/privacy",
                requests=open_requests(caller=self.caller, limit=OPEN),
                restrictions=list_restrictions(caller=self.caller, limit=RESTRICTED),
                receipts=list_all_receipts(caller=self.caller, limit=OWN),
            )
        user_id, now = self.user(), timezone.now()
        exports = exports_of(caller=self.caller, user_id=user_id, now=now)
        return self.show(
            "governance/person",
            user_id=user_id,
            summary=summary_of(caller=self.caller, user_id=user_id),
            exports=exports,
            is_waiting=any(one.is_waiting for one in exports),
            receipts=list_receipts(caller=self.caller, user_id=user_id, limit=OWN),
        )


class ExportPage(SubjectPage):
    """`/console/<tenant>/privacy/export`"""

    scopes = ACTS

    def post(self, request: HttpRequest) -> HttpResponse:
        user_id = self.user()
        request_export(caller=self.caller, user_id=user_id, now=timezone.now())
        self.say("The copy is being made.")
        return self.back(user_id)


class RestrictPage(SubjectPage):
    """`/console/<tenant>/privacy/restrict`"""

    scopes = ACTS

    def post(self, request: HttpRequest) -> HttpResponse:
        user_id, now = self.user(), timezone.now()
        if "lift" in request.POST:
            lift_restriction(caller=self.caller, user_id=user_id, now=now)
            self.say("The memory is in use again.")
        else:
            reason = request.POST.get("reason", "").replace("\0", "")
            restrict_subject(caller=self.caller, user_id=user_id, reason=reason, now=now)
            self.say("The memory is kept, and neither read nor changed until this is lifted.")
        return self.back(user_id)


class PersonLinkPage(SubjectPage):
    """`/console/<tenant>/privacy/link`"""

    scopes = ACTS

    def post(self, request: HttpRequest) -> HttpResponse:
        user_id = self.user()
        link = make_link(caller=self.caller, user_id=user_id, now=timezone.now())
        address = request.build_absolute_uri(link.path)
        return self.show("governance/person_link", user_id=user_id, link=link, address=address)


class RevokeLinksPage(SubjectPage):
    """`/console/<tenant>/privacy/links/revoke`"""

    scopes = OFFICER | ACTS

    def get(self, request: HttpRequest) -> HttpResponse:
        if not request.GET.get("user"):
            return self.to("privacy")
        user_id = self.user()
        out = links_out(caller=self.caller, user_id=user_id, now=timezone.now())
        return self.show("governance/revoke_links", user_id=user_id, out=out)

    def post(self, request: HttpRequest) -> HttpResponse:
        user_id = self.user()
        revoke_links(caller=self.caller, user_id=user_id)
        self.say("Every link that was made so far is void, and every visit by one has ended.")
        return self.back(user_id)


class ErasePage(SubjectPage):
    """`/console/<tenant>/privacy/erase`"""

    scopes = OFFICER | ACTS

    def get(self, request: HttpRequest) -> HttpResponse:
        if not request.GET.get("user"):
            return self.to("privacy")
        return self._shown(EraseForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        user_id, form = self.user(), EraseForm(request.POST)
        if form.is_valid() and form.cleaned_data["confirm"] != user_id:
            form.add_error("confirm", "This is another id.")
        if not form.is_valid():
            return self._shown(form, status=422)
        job = request_erasure(caller=self.caller, user_id=user_id, now=timezone.now())
        return self.to("privacy-erasure", job.id, query=urlencode({"user": user_id}))

    def _shown(self, form: EraseForm, *, status: int = 200) -> HttpResponse:
        user_id = self.user()
        counts = blast_radius(caller=self.caller, user_id=user_id, now=timezone.now())
        context: dict[str, Any] = {
            "user_id": user_id,
            "form": form,
            "stores": stores_of(counts),
            "total": sum(counts.values()),
        }
        return self.show("governance/erase", status=status, **context)


class ErasureProgressPage(Page):
    """`/console/<tenant>/privacy/erasures/<id>`: until it is done."""

    section = "privacy"
    scopes = OFFICER

    def get(self, request: HttpRequest, erasure_id: UUID) -> HttpResponse:
        job = access_erasure(caller=self.caller, job_id=erasure_id)
        return self.show(
            "governance/erasure",
            job=job,
            user_id=request.GET.get("user", ""),
            receipt_id=(job.result or {}).get("id"),
            leftovers=leftovers_of(job.result or {}, page=self),
        )


class ReceiptsPage(Page):
    """`/console/<tenant>/privacy/receipts`"""

    section = "privacy"
    scopes = OFFICER

    def get(self, request: HttpRequest) -> HttpResponse:
        found = list_all_receipts(caller=self.caller, limit=SIZE + 1, before=position_of(request))
        return self.show(
            "governance/receipts", rows=rows_of(request, found, moment=lambda one: one.erased_at)
        )


class ReceiptPage(Page):
    """`/console/<tenant>/privacy/receipts/<id>`; with `user`, where that is which was left. The receipt does
    not tell whose it is, so whoever asks names the person."""

    section = "privacy"
    scopes = OFFICER

    def get(self, request: HttpRequest, receipt_id: UUID) -> HttpResponse:
        one = access_receipt(caller=self.caller, receipt_id=receipt_id)
        if "download" in request.GET:
            return _file(one)
        user_id, where = request.GET.get("user", "").replace("\0", ""), None
        if user_id and one.receipt.get("residue"):
            where = find_left(caller=self.caller, receipt=one, user_id=user_id, things=THINGS)
        return self.show(
            "governance/receipt",
            one=one,
            user_id=user_id,
            is_told=where is not None,
            is_wrong=bool(user_id and one.receipt.get("residue") and where is None),
            is_genuine=is_genuine(one.receipt),
            stores=stores_of(one.receipt.get("erased", {}), one.receipt.get("digests")),
            alike=words_alike(one.receipt),
            leftovers=leftovers_of(one.receipt, page=self, user_id=user_id, where=where),
        )


class VerifyPage(Page):
    """`/console/<tenant>/privacy/verify`: is this receipt one of ours, and unchanged?"""

    section = "privacy"
    scopes = OFFICER | ACTS

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("governance/verify", form=VerifyForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = VerifyForm(request.POST)
        if not form.is_valid():
            return self.show("governance/verify", form=form, status=422)
        try:
            receipt = json.loads(form.cleaned_data["receipt"])
        except (ValueError, RecursionError):
            receipt = None
        return self.show("governance/verify", form=form, verdict=is_genuine(receipt), is_told=True)


def _file(one: Tombstone) -> HttpResponse:
    """The receipt as it was signed."""
    text = json.dumps(one.receipt, ensure_ascii=False, indent=2, sort_keys=True)
    name = f'attachment; filename="receipt-{one.id}.json"'
    return HttpResponse(text, content_type="application/json", headers={"Content-Disposition": name})
