"""Accounts of people, and groups of what operators may do. What is done to one is in the audit log of every
tenant that it reaches."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse

from tenants.accounts import tell_account, tell_group, telling_password
from tenants.admin.base import actor_of

admin.site.unregister([User, Group])


@admin.register(User)
class AccountAdmin(UserAdmin):
    """An account, its password, and whether it may enter these pages."""

    readonly_fields = ("last_login", "date_joined")

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: bool) -> None:
        """Of an account that is new there is nobody to tell: it reaches no tenant yet."""
        former = User.objects.filter(id=obj.id).first()
        super().save_model(request, obj, form, change)
        if former:
            tell_account(
                user=obj,
                actor=actor_of(request),
                action="account.change",
                fields=form.changed_data,
                former=former,
            )

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        user = self.get_object(request, id)
        with telling_password(user_id=user.id if user else 0, actor=actor_of(request)):
            return super().user_change_password(request, id, form_url)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        tell_account(user=obj, actor=actor_of(request), action="account.delete")
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        with transaction.atomic(using=queryset.db):
            for user in queryset:
                self.delete_model(request, user)


@admin.register(Group)
class AccountGroupAdmin(GroupAdmin):
    """What its accounts may do here, if they may enter."""

    def save_model(self, request: HttpRequest, obj: Group, form: ModelForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        action = "group.change" if change else "group.create"
        tell_group(
            group=obj, actor=actor_of(request), action=action, fields=form.changed_data if change else ()
        )

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        tell_group(group=obj, actor=actor_of(request), action="group.delete")
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Group]) -> None:
        with transaction.atomic(using=queryset.db):
            for group in queryset:
                self.delete_model(request, group)


def change_own_password(request: HttpRequest) -> Any:
    """`/admin/password_change/`: Django's page, told like any other password that is set."""
    with telling_password(user_id=request.user.pk or 0, actor=actor_of(request)):
        return admin.site.password_change(request)
