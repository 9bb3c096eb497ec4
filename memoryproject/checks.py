"""What must hold of the providers before anything runs, and what is worth a warning."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from providers.embeddings import embedders
from providers.llm import get_llm
from tenants.usage import prices

MEMORY_TYPES = ("local", "redis", "strata")


@register()
def check_providers(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:
    """The settings name providers and models that exist, and a readable price file. Asks no server."""
    try:
        embedders()
        get_llm()
        prices()
    except ImproperlyConfigured as error:
        return [Error(str(error), id="providers.E001")]
    return []


@register()
def check_memory_type(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:
    """KAOS's runtimes may name any; all of them are this server."""
    if settings.MEMORY_TYPE in MEMORY_TYPES:
        return []
    told = f"MEMORY_TYPE is {settings.MEMORY_TYPE!r}: there is one memory here, whatever it is called."
    return [Warning(told, hint=f"Known are {', '.join(MEMORY_TYPES)}.", id="memoryproject.W001")]
