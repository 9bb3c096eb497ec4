"""The pages of the console; each area adds its own."""

from django.urls import include, path, re_path

from console import views
from console.accounts import SignInView, SignOutView, TenantsView
from console.agents.urls import pages as agents
from console.episodes.urls import pages as episodes
from console.governance.urls import pages as governance
from console.invited import InvitationView
from console.knowledge.urls import pages as knowledge
from console.ledger.urls import pages as ledger
from console.me.urls import pages as me
from console.observations.urls import pages as observations
from console.operations.urls import pages as operations
from console.overview.urls import pages as overview
from console.people.urls import pages as people
from console.recall_lab.urls import pages as recall_lab
from console.sessions.urls import pages as sessions

pages = [
    path("console/", TenantsView.as_view(), name="tenants"),
    path("console", TenantsView.as_view()),
]
pages += [*overview, *observations, *episodes, *people, *sessions, *knowledge]
pages += [*recall_lab, *agents, *operations, *ledger, *governance]

urlpatterns = [
    path("", views.home, name="home"),
    re_path(r"^sign-in/?\Z", SignInView.as_view(), name="sign-in"),
    re_path(r"^sign-out/?\Z", SignOutView.as_view(), name="sign-out"),
    re_path(
        r"^invitation/(?P<token>[A-Za-z0-9_:.=-]{1,1024})\Z", InvitationView.as_view(), name="invitation"
    ),
    path("", include((pages, "console"))),
    *me,
]
