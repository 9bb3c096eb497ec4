"""The operator's pages for keys, members, accounts, policies, jobs, receipts and the audit log. Those of a
tenant as a whole, which ask every app, are in `memoryproject/admin.py`."""

from django.contrib import admin

from tenants.admin import accounts, keys, members, policy, records, requests
from tenants.admin.base import ReadOnlyAdmin, actor_of, asking, caller_at, is_confirmed, page
from tenants.admin.filters import TenantFilter

__all__ = [
    "ReadOnlyAdmin",
    "TenantFilter",
    "accounts",
    "actor_of",
    "asking",
    "caller_at",
    "is_confirmed",
    "keys",
    "members",
    "page",
    "policy",
    "records",
    "requests",
]

admin.site.site_header = admin.site.site_title = "Strata"
admin.site.index_title = "Tenants and who may reach them"
