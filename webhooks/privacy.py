"""What this app holds of a person: what webhooks were told, or are to be told, of their memories."""

from django.db.models import Q

from tenants.privacy.registry import Rows, Subject, register
from webhooks.models import Delivery


def _theirs(subject: Subject) -> Q:
    return Q(user_id=subject.user_id)


def register_handlers() -> None:
    """Called once the models are loaded."""
    register(Rows("webhook_delivery", Delivery, _theirs, "created_at"))
