"""What this app holds of a person: what webhooks were told, or are to be told, of their memories."""

from django.db.models import Q

from tenants.privacy.registry import Rows, Subject, register
from webhooks.models import Delivery


def _theirs(subject: Subject) -> Q:
    """Also of what is nobody's and kept under the person's name. For that there is no index: the scan for
    what is left reads all deliveries as well."""
    return Q(user_id=subject.user_id) | Q(names__contains=[subject.user_id])


def register_handlers() -> None:
    """Called once the models are loaded."""
    register(Rows("webhook_delivery", Delivery, _theirs, "created_at"))
