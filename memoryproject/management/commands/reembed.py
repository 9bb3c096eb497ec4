import json
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from memoryproject.evaluation import generations as comparing
from providers.embeddings import EmbeddingUnavailable, get_embedder, next_embedder
from tenants.changing import begin_change, drop_generation, rollback_model, switch_model
from tenants.errors import DomainError
from tenants.filling import progress
from tenants.generations import Generations, read_generations
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.tenancy import get_tenant
from tenants.vector_indexes import create_index
from tenants.vectors import count_models, kinds

ACTOR = "command:reembed"
Step = Callable[[Tenant, dict[str, Any]], str]  # what it says of the tenant


class Command(BaseCommand):
    """Has memories read by another embedding model; docs/runbooks/change-models.md has the whole way."""

    help = (
        "Go over to another embedding model while everything runs: begin, follow the progress, compare both "
        "models, switch, roll back, drop the former one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", help="this tenant alone (its slug)")
        parser.add_argument(
            "--to", metavar="MODEL", help="with --begin and --index (default: EMBEDDING_NEXT_MODEL, if set)"
        )
        parser.add_argument(
            "--kind",
            action="append",
            choices=sorted(kinds()),
            help="with --index: of this kind of memory, may be repeated (default: "
            f"{', '.join(sorted(name for name, kind in kinds().items() if kind.searched))})",
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="with --report: write the figures too")
        step = parser.add_mutually_exclusive_group()
        step.add_argument("--begin", action="store_true", help="have everything read by the model")
        step.add_argument(
            "--status", action="store_true", help="tell which model has read how much (default)"
        )
        step.add_argument("--index", action="store_true", help="make the model's approximate indexes")
        step.add_argument("--report", action="store_true", help="compare both models on the saved queries")
        step.add_argument("--switch", action="store_true", help="search by the other model from now on")
        step.add_argument("--rollback", action="store_true", help="search by the former model again")
        step.add_argument("--drop", metavar="MODEL", help="delete the vectors of this model; ends the change")

    def handle(self, *args: Any, **options: Any) -> None:
        _check(options)
        tenants = self._tenants(options["tenant"])
        if options["index"]:
            self._index(options["to"] or _to_begin(), options["kind"])
        elif options["report"]:
            self._report(tenants, options["json"])
        else:
            if step := self._step(options):
                self._each(tenants, options, step)
            self._tell(tenants)

    def _tenants(self, slug: str | None) -> list[Tenant]:
        if slug is None:
            with admin_role():
                return list(Tenant.objects.order_by("slug"))
        tenant = get_tenant(slug)
        if tenant is None:
            raise CommandError(f"There is no tenant {slug!r}.")
        return [tenant]

    def _step(self, options: dict[str, Any]) -> Step | None:
        """None: nothing is to be done, but to tell."""
        if options["begin"]:
            return _begin
        if options["switch"]:
            return _switch
        if options["rollback"]:
            return _roll_back
        return self._drop if options["drop"] else None

    def _each(self, tenants: list[Tenant], options: dict[str, Any], step: Step) -> None:
        """One tenant's refusal does not keep the others from theirs."""
        refused = []
        for tenant in tenants:
            try:
                if said := step(tenant, options):
                    self.stdout.write(f"{tenant.slug}: {said}")
            except DomainError as error:
                refused.append(f"{tenant.slug}: {error}")
        if refused:
            raise CommandError("\n".join(refused))

    def _drop(self, tenant: Tenant, options: dict[str, Any]) -> str:
        with tqdm(unit=" vectors", desc="deleted", leave=False) as bar:
            deleted = drop_generation(
                tenant_id=tenant.id,
                model=options["drop"],
                actor=ACTOR,
                now=timezone.now(),
                advance=bar.update,
            )
        return f"{deleted} vectors deleted" if deleted else ""

    def _index(self, model: str, names: list[str] | None) -> None:
        try:
            dimensions = get_embedder(model).dimensions
        except EmbeddingUnavailable as error:
            raise CommandError(str(error)) from error
        for name, kind in sorted(kinds().items()):
            if name in names if names else kind.searched:
                try:
                    self.stdout.write(create_index(kind, model=model, dimensions=dimensions))
                except DomainError as error:
                    raise CommandError(str(error)) from error
                except KeyboardInterrupt as error:
                    raise CommandError(f"Cancelled: the index of {name} is made anew next time.") from error

    def _report(self, tenants: list[Tenant], path: Path | None) -> None:
        found: dict[str, Any] = {}
        for tenant in tenants:
            generations = read_generations(tenant.id)
            if not generations.other:
                continue
            compared = comparing.compare(
                tenant_id=tenant.id, models=(generations.model, generations.other), now=timezone.now()
            )
            found[tenant.slug] = comparing.document(compared)
            self.stdout.write(f"{tenant.slug}\n{comparing.table(compared)}")
        if not found:
            raise CommandError("There is no change under way: nothing to compare.")
        if path is not None:
            try:
                path.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            except OSError as error:
                raise CommandError(f"{path} cannot be written: {error.strerror}.") from error

    def _tell(self, tenants: list[Tenant]) -> None:
        for name, kind in sorted(kinds().items()):
            counts = ", ".join(f"{one} {count}" for one, count in count_models(kind).items()) or "none"
            self.stdout.write(f"{name}: {counts}")
        for tenant in tenants:
            generations = read_generations(tenant.id)
            self.stdout.write(f"{tenant.slug}: {_described(generations)}")
            for model in generations.models:
                self.stdout.write(f"  {model}: {_progress(tenant, model)}")


def _check(options: dict[str, Any]) -> None:
    """An option that its step does not read would pass for one that was followed."""
    if options["to"] and not (options["begin"] or options["index"]):
        raise CommandError("--to is for --begin and --index.")
    if options["kind"] and not options["index"]:
        raise CommandError("--kind is for --index.")
    if options["json"] and not options["report"]:
        raise CommandError("--json is for --report.")


def _to_begin() -> str:
    other = next_embedder()
    return get_embedder().model if other is None else other.model


def _begin(tenant: Tenant, options: dict[str, Any]) -> str:
    to = options["to"] or _to_begin()
    begin_change(tenant_id=tenant.id, to=to, actor=ACTOR, now=timezone.now())
    return ""


def _switch(tenant: Tenant, options: dict[str, Any]) -> str:
    """With all tenants, those that have nothing to switch are passed by."""
    generations = read_generations(tenant.id)
    if not options["tenant"] and (not generations.other or generations.is_switched):
        return ""
    return f"goes by {switch_model(tenant_id=tenant.id, actor=ACTOR, now=timezone.now()).model} now"


def _roll_back(tenant: Tenant, options: dict[str, Any]) -> str:
    if not options["tenant"] and not read_generations(tenant.id).is_switched:
        return ""
    return f"goes by {rollback_model(tenant_id=tenant.id, actor=ACTOR, now=timezone.now()).model} again"


def _described(generations: Generations) -> str:
    if not generations.other:
        return f"goes by {generations.model}"
    kept = "the former one" if generations.is_switched else "the next one"
    return f"goes by {generations.model}; {generations.other}, {kept}, is kept complete"


def _progress(tenant: Tenant, model: str) -> str:
    """Such as `80 of 100; missing: episode 20`, and what does not add up."""
    found = progress(tenant.id, model=model)
    lacked = ", ".join(f"{one.kind} {one.missing}" for one in found if one.missing) or "none"
    said = f"{sum(one.vectors for one in found)} of {sum(one.items for one in found)}; missing: {lacked}"
    if refused := sum(one.refused for one in found):
        said += f"; refused by the model: {refused}"
    wrong = ", ".join(one.kind for one in found if not one.agrees)
    return f"{said}; COUNTS DISAGREE: {wrong}" if wrong else f"{said}; counts agree"
