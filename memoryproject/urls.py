"""Every path of the server, each dialect at the root its clients expect."""

from django.contrib import admin
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from api.mcp.http import mcp_view
from memoryproject.health import HealthView, ReadyView
from memoryproject.metrics import metrics_view

handler400 = "memoryproject.errors.bad_request"
handler404 = "memoryproject.errors.not_found"
handler500 = "memoryproject.errors.server_error"

urlpatterns = [
    path("", include("console.urls")),
    path("", include("api.aegis.urls")),
    path("", include("api.agentops.urls")),
    path("api/v1/", include("api.native.urls")),
    re_path(r"^mcp/?\Z", mcp_view),
    re_path(r"^api/schema/?\Z", SpectacularAPIView.as_view(), name="schema"),
    re_path(r"^api/docs/?\Z", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
    re_path(r"^health/?\Z", HealthView.as_view()),
    re_path(r"^ready/?\Z", ReadyView.as_view()),
    re_path(r"^metrics/?\Z", metrics_view),
    path("admin/", admin.site.urls),
]
