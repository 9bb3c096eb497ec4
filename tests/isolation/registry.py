"""Which tables are a tenant's, found through the models, and the register of what fills a row of each."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connections
from django.db.models import Model
from django.db.models.expressions import DatabaseDefault

from tenants.models import Tenant


def is_tenant_model(model: type[Model]) -> bool:
    return model is Tenant or any(field.attname == "tenant_id" for field in model._meta.local_concrete_fields)


TENANT_MODELS = [
    model
    for model in apps.get_models(include_auto_created=True)
    if is_tenant_model(model) and model._meta.managed
]
TABLES = {model._meta.db_table: model for model in TENANT_MODELS}

FACTORIES: dict[type[Model], Callable[[UUID], Model]] = {}


def factory(model: type[Model]) -> Callable[[Callable[[UUID], Model]], Callable[[UUID], Model]]:
    """Registers what makes an unsaved row of `model` for a tenant, and stores the rows it points to."""

    def register(make: Callable[[UUID], Model]) -> Callable[[UUID], Model]:
        FACTORIES[model] = make
        return make

    return register


def store(row: Model) -> Any:
    """Saves a row as the admin role, whose policy knows no tenant."""
    row.save(using="admin", force_insert=True)
    return row


def column_values(row: Model) -> dict[str, Any]:
    """Column names and the values PostgreSQL takes for them, less those that it makes itself."""
    connection = connections["admin"]
    given = {
        field: field.pre_save(row, add=True)
        for field in row._meta.local_concrete_fields
        if not field.generated
    }
    return {
        field.column: field.get_db_prep_save(value, connection)
        for field, value in given.items()
        if not isinstance(value, DatabaseDefault)
    }


def tenant_column(table: str) -> str:
    return "id" if table == "tenants_tenant" else "tenant_id"
