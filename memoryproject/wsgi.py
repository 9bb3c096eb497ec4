"""The WSGI application that Granian serves."""

import contextlib
import gc
import os
import threading
from collections.abc import Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application

from memoryproject.observing import observe
from memoryproject.startup import refuse_unsafe_deployment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
observe("web")
django_application: WSGIHandler = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django, told the path as it was sent: it repairs one that is not UTF-8, and `api.views` refuses it."""
    environ["strata.path"] = environ.get("PATH_INFO", "")
    return django_application(environ, start_response)


refuse_unsafe_deployment()


def _warm_up() -> None:
    """Loads the models and the keys of tokens, so that no caller waits for them. If the model is away,
    `/ready` and the callers are told."""
    from django.conf import settings

    from providers.embeddings import EmbeddingUnavailable, embedders
    from tenants.jwks import key_set

    if settings.JWT_JWKS_URL:
        key_set().begin()
    for embedder in embedders():
        with contextlib.suppress(EmbeddingUnavailable):
            embedder.embed(["warm up"])
    # What is loaded now stays. Left out of garbage collection, it no longer stops every thread for 30 ms.
    gc.collect()
    gc.freeze()


threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
