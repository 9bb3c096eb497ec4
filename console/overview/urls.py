"""How the memory of a tenant is doing."""

from console.overview.views import OverviewLivePart, OverviewPage
from console.routes import at

pages = [
    *at("", OverviewPage, "overview"),
    *at("overview/live", OverviewLivePart, "overview-live"),
]
