"""What must hold of the providers before anything runs."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

from providers.embeddings import get_embedder
from providers.llm import get_llm
from tenants.usage import prices


@register()
def check_providers(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:
    """The settings name providers and models that exist, and a readable price file. Asks no server."""
    try:
        get_embedder()
        get_llm()
        prices()
    except ImproperlyConfigured as error:
        return [Error(str(error), id="providers.E001")]
    return []
