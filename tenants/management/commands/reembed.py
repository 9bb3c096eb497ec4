from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from providers.embeddings import get_embedder
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.tenancy import get_tenant
from tenants.vectors import Vectors, count_models, count_unread, create_index, drop_model, embed_anew, kinds


class Command(BaseCommand):
    """Has memories read by another embedding model; docs/runbooks/change-models.md has the whole way."""

    help = "Have everything embedded by the present model, make its index, and drop another model's vectors."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", help="this tenant's alone (its slug)")
        step = parser.add_mutually_exclusive_group()
        step.add_argument("--status", action="store_true", help="only tell which model has read how much")
        step.add_argument("--index", action="store_true", help="make the present model's indexes and stop")
        step.add_argument("--drop", metavar="MODEL", help="delete the vectors of this model")

    def handle(self, *args: Any, **options: Any) -> None:
        model, tenants = get_embedder().model, self._tenants(options["tenant"])
        if options["drop"]:
            self._drop(options["drop"], model, tenants)
        elif options["index"]:
            for kind in (one for one in kinds().values() if one.searched):
                self.stdout.write(create_index(kind, model=model, dimensions=get_embedder().dimensions))
        elif not options["status"]:
            self._embed_anew(model, tenants)
        self._tell(model, tenants)

    def _tenants(self, slug: str | None) -> list[Tenant]:
        if slug is None:
            with admin_role():
                return list(Tenant.objects.order_by("slug"))
        tenant = get_tenant(slug)
        if tenant is None:
            raise CommandError(f"There is no tenant {slug!r}.")
        return [tenant]

    def _embed_anew(self, model: str, tenants: list[Tenant]) -> None:
        with tqdm(unit=" items", desc="to be embedded") as bar:
            for tenant in tenants:
                for kind in kinds().values():
                    for count in embed_anew(kind, tenant_id=tenant.id, model=model, now=timezone.now()):
                        bar.update(count)

    def _drop(self, other: str, model: str, tenants: list[Tenant]) -> None:
        if other == model:
            raise CommandError(f"{model} is the present model: without its vectors nothing is found.")
        unread = sum(_unread(kind, model, tenants) for kind in kinds().values())
        if unread:
            raise CommandError(f"{unread} items have no vector by {model} yet: they would be lost to search.")
        with tqdm(unit=" vectors", desc="deleted") as bar:
            for tenant in tenants:
                for kind in kinds().values():
                    for count in drop_model(kind, tenant_id=tenant.id, model=other):
                        bar.update(count)

    def _tell(self, model: str, tenants: list[Tenant]) -> None:
        for name, kind in sorted(kinds().items()):
            counts = ", ".join(f"{one} {count}" for one, count in count_models(kind).items()) or "none"
            self.stdout.write(f"{name}: {counts}; to be read by {model}: {_unread(kind, model, tenants)}")


def _unread(kind: Vectors, model: str, tenants: list[Tenant]) -> int:
    return sum(count_unread(kind, tenant_id=tenant.id, model=model) for tenant in tenants)
