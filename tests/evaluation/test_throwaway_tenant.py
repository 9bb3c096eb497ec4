from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.apps import apps
from django.utils import timezone

from episodic.models import Episode
from memoryproject.evaluation.stage import stage
from memoryproject.evaluation.tenant import ABANDONED_AFTER, ACTOR, throwaway_tenant
from memoryproject.replay import files
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.scope import scope
from tenants.tenancy import create_tenant


def rows(tenant_id: UUID) -> dict[str, int]:
    """How much each table has of a tenant, as the owner sees it."""
    counts = {
        model._meta.db_table: model._default_manager.using("owner").filter(tenant_id=tenant_id).count()
        for model in apps.get_models()
        if any(field.name == "tenant" for field in model._meta.fields)
    }
    return {name: count for name, count in counts.items() if count}


def exists(tenant: Tenant | UUID) -> bool:
    with admin_role():
        return Tenant.objects.filter(id=getattr(tenant, "id", tenant)).exists()


def made(slug: str, actor: str, at: datetime) -> Tenant:
    tenant = create_tenant(slug=f"{slug}-{timezone.now():%H%M%S%f}", name="", actor=actor)
    with admin_role():
        Tenant.objects.filter(id=tenant.id).update(created_at=at)
    return tenant


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_however_it_ends(folder, error):
    seen = {}

    def evaluate() -> None:
        with throwaway_tenant() as caller:
            seen["tenant"] = caller.tenant_id
            stage(caller, [files.load(folder / "trip.json")], lambda count: None)
            seen["rows"] = rows(caller.tenant_id)
            if error:
                raise error

    if error:
        with pytest.raises(error):
            evaluate()
    else:
        evaluate()
    assert seen["rows"]["agent_episodes"] == seen["rows"]["episode_embeddings"] == 4
    assert seen["rows"]["tenants_auditentry"] == 1
    assert not exists(seen["tenant"])
    assert rows(seen["tenant"]) == {}


def test_others_keep_what_they_have(folder, acme):
    with scope(acme.tenant.id):
        Episode.objects.create(tenant_id=acme.tenant.id, text="theirs", created_at=timezone.now())
    with throwaway_tenant() as caller:
        stage(caller, [files.load(folder / "trip.json")], lambda count: None)
    assert rows(acme.tenant.id)["agent_episodes"] == 1


def test_what_a_killed_evaluation_left_is_removed_by_the_next():
    long_ago = timezone.now() - ABANDONED_AFTER - timedelta(hours=1)
    abandoned = made("evaluation", ACTOR, long_ago)
    running = made("evaluation", ACTOR, timezone.now())
    somebodys = made("evaluation", "test", long_ago)
    with throwaway_tenant():
        pass
    assert [exists(one) for one in (abandoned, running, somebodys)] == [False, True, True]
