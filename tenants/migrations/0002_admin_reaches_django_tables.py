from django.db import migrations

from tenants.isolation import roles

TABLES = (
    "auth_user, auth_group, auth_permission, auth_user_groups, auth_user_user_permissions,"
    " auth_group_permissions, django_content_type, django_admin_log, django_session"
)


def statements() -> list[str]:
    """Login, permissions and the admin's own log: for the admin role alone. The app role may learn which
    migrations have run, which `/ready` asks."""
    names = roles()
    return [
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON {TABLES} TO "{names.admin}"',
        f'GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "{names.admin}"',
        f'GRANT SELECT ON django_migrations TO "{names.app}", "{names.admin}"',
    ]


def grant(apps, schema_editor) -> None:
    for statement in statements():
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0001_tenants_and_keys"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("sessions", "0001_initial"),
    ]

    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
