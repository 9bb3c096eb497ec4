"""Every path of the server, each dialect at the root its clients expect."""

from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from api.mcp.http import mcp_view
from memoryproject.health import HealthView, ReadyView
from memoryproject.metrics import metrics_view
from tenants.admin.accounts import change_own_password

handler400 = "memoryproject.errors.bad_request"
handler404 = "memoryproject.errors.not_found"
handler500 = "memoryproject.errors.server_error"

urlpatterns = [
    # What browsers ask for where a page names no picture of its own, as the admin's do not.
    path("favicon.ico", RedirectView.as_view(url=static("console/strata.svg"))),
    path("api/v1/", include("api.native.urls")),
    path("v1/", include("api.ams.urls")),
    path("memory/", include("api.kaos.urls")),
    path("", include("console.urls")),
    path("", include("api.aegis.urls")),
    path("", include("api.agentops.urls")),
    re_path(r"^mcp/?\Z", mcp_view),
    re_path(r"^api/schema/?\Z", SpectacularAPIView.as_view(), name="schema"),
    re_path(r"^api/docs/?\Z", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    re_path(r"^health/?\Z", HealthView.as_view()),
    re_path(r"^ready/?\Z", ReadyView.as_view()),
    re_path(r"^metrics/?\Z", metrics_view),
    # One door for signing in: who guesses passwords is held up there.
    path("admin/login/", RedirectView.as_view(pattern_name="sign-in", query_string=True)),
    path("admin/password_change/", admin.site.admin_view(change_own_password, cacheable=True)),
    path("admin/", admin.site.urls),
]
