from django.db import migrations

from tenants.isolation import DefinerFunction


class Migration(migrations.Migration):
    """What must be found before a tenant is known: a token's tenant, and where a person is a member."""

    dependencies = [("tenants", "0003_foundations")]

    operations = [
        DefinerFunction(
            "tenants_find_named_tenant(wanted_id uuid, wanted_slug text)",
            returns="TABLE (tenant_id uuid, slug text)",
            body="SELECT t.id, t.slug::text FROM public.tenants_tenant t"
            " WHERE (t.id = wanted_id OR t.slug = wanted_slug) AND t.disabled_at IS NULL LIMIT 1",
            reads=["tenants_tenant"],
        ),
        DefinerFunction(
            "tenants_find_member(wanted_user integer, wanted_slug text)",
            returns="TABLE (tenant_id uuid, slug text, role text)",
            body="SELECT t.id, t.slug::text, m.role::text"
            " FROM public.tenants_member m JOIN public.tenants_tenant t ON t.id = m.tenant_id"
            " WHERE m.user_id = wanted_user AND t.slug = wanted_slug AND t.disabled_at IS NULL LIMIT 1",
            reads=["tenants_member", "tenants_tenant"],
        ),
        DefinerFunction(
            "tenants_list_memberships(wanted_user integer)",
            returns="TABLE (tenant_id uuid, slug text, role text)",
            body="SELECT t.id, t.slug::text, m.role::text"
            " FROM public.tenants_member m JOIN public.tenants_tenant t ON t.id = m.tenant_id"
            " WHERE m.user_id = wanted_user AND t.disabled_at IS NULL ORDER BY t.slug LIMIT 1000",
            reads=["tenants_member", "tenants_tenant"],
        ),
    ]
