"""Models and migrations tell the same, and a person has named each migration."""

import re

import pytest
from django.apps import apps
from django.contrib.postgres.operations import AddIndexConcurrently
from django.core.management import call_command
from django.db import connections
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.operations import AddIndex, CreateModel

from tenants.isolation import IsolateTable
from tests.architecture.sources import ROOT
from tests.isolation.tables import is_tenant_model

OURS = [
    app.label
    for app in apps.get_app_configs()
    if str(app.path).startswith(str(ROOT)) and ".venv" not in app.path
]


def test_no_model_differs_from_its_migrations(capsys):
    try:
        call_command("makemigrations", "--check", "--dry-run")
    except SystemExit:
        pytest.fail(f"makemigrations would write:\n{capsys.readouterr().out}")


def test_every_migration_has_run():
    executor = MigrationExecutor(connections["owner"])
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []


def test_no_migration_has_the_name_that_django_makes_up():
    made_up = re.compile(r"\d{4}_(auto_|initial$|alter_|remove_|rename_|delete_|add_field)")
    names = [path.stem for app in OURS for path in (ROOT / app / "migrations").glob("0*.py")]
    assert names
    assert [stem for stem in names if made_up.match(stem)] == []


def test_every_table_of_a_tenant_is_isolated_by_the_migration_that_creates_it():
    """In one transaction: there is no moment at which the table stands without its walls."""
    disk = MigrationExecutor(connections["owner"]).loader.disk_migrations
    ours = {label: migration for label, migration in disk.items() if label[0] in OURS}
    bare = [
        f"{app}.{number}: {table}"
        for (app, number), migration in ours.items()
        for table in created_tenant_tables(app, migration)
        if not migration.atomic
        or table not in {step.table for step in migration.operations if isinstance(step, IsolateTable)}
    ]
    assert bare == []


def test_the_log_and_its_sessions_are_written_to_while_an_index_is_built():
    """What is built alone can be built again. The migrations before 0008 made the tables."""
    steps = [
        (number, migration.atomic, len(migration.operations), type(step))
        for (app, number), migration in MigrationExecutor(connections["owner"]).loader.disk_migrations.items()
        if app == "working" and number >= "0008"
        for step in migration.operations
        if isinstance(step, AddIndex)
    ]
    assert {found[1:] for found in steps} == {(False, 1, AddIndexConcurrently)}, steps


def created_tenant_tables(app: str, migration: Migration) -> list[str]:
    created = [step.name for step in migration.operations if isinstance(step, CreateModel)]
    models = [apps.get_model(app, name) for name in created]
    return [model._meta.db_table for model in models if is_tenant_model(model)]
