"""The isolation self-test."""

from django.http import HttpRequest, HttpResponse

from console.pages import Page
from tenants.self_test import last_self_test, run_self_test


class IsolationPage(Page):
    """`/console/<tenant>/isolation`: what was found last, and the test itself."""

    section = "isolation"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("governance/isolation", last=last_self_test(caller=self.caller))

    def post(self, request: HttpRequest) -> HttpResponse:
        return self.show("governance/isolation", done=run_self_test(caller=self.caller))
