"""The operator's pages for procedures: the versions, and which of them environments run."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from knowledge.deploying import LONGEST_ENVIRONMENT, deploy_version
from knowledge.models import Deployment, Procedure
from tenants.admin import ReadOnlyAdmin, TenantFilter, actor_of


@admin.register(Procedure)
class ProcedureAdmin(ReadOnlyAdmin):
    """`manage.py deploy_procedures` writes them."""

    list_display = ("name", "version", "tenant", "created_by", "created_at")
    list_filter = (TenantFilter,)
    list_select_related = ("tenant",)
    search_fields = ("name", "version")
    ordering = ("tenant", "name", "-created_at")


class VersionField(forms.ModelChoiceField):
    """Names a version with its tenant."""

    def label_from_instance(self, obj: Procedure) -> str:
        return f"{obj.tenant}: {obj}"


class DeployForm(forms.ModelForm):
    """Which version which environment is to run."""

    procedure = VersionField(
        Procedure.objects.select_related("tenant").order_by("tenant__slug", "name", "-created_at")
    )
    environment = forms.CharField(max_length=LONGEST_ENVIRONMENT)

    class Meta:
        model = Deployment
        fields = ("environment",)


@admin.register(Deployment)
class DeploymentAdmin(ReadOnlyAdmin):
    """What environments run, and ran. Adding one deploys a version; none is ever changed or removed."""

    form = DeployForm
    list_display = ("deployed_at", "tenant", "environment", "name", "procedure_id", "deployed_by")
    list_filter = (TenantFilter, "environment")
    list_select_related = ("tenant",)
    search_fields = ("name",)
    ordering = ("-deployed_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("knowledge.add_deployment")

    def get_fields(self, request: HttpRequest, obj: Deployment | None = None) -> Any:
        return ("procedure", "environment") if obj is None else self.list_display

    def save_model(self, request: HttpRequest, obj: Deployment, form: forms.ModelForm, change: bool) -> None:
        """Deploys and records. Where the environment runs that version already, there is nothing to add."""
        procedure = form.cleaned_data["procedure"]
        deploy_version(
            procedure=procedure,
            environment=form.cleaned_data["environment"],
            actor=actor_of(request),
            now=timezone.now(),
        )
        newest = Deployment.objects.filter(
            tenant_id=procedure.tenant_id, environment=obj.environment, name=procedure.name
        )
        made = newest.order_by("-deployed_at", "-id")[0]
        obj.id, obj.tenant_id, obj.name = made.id, made.tenant_id, made.name
        obj.procedure_id, obj.deployed_by, obj.deployed_at = (
            made.procedure_id,
            made.deployed_by,
            made.deployed_at,
        )
