"""The WSGI application that Granian serves."""

import contextlib
import os
import threading

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
application = get_wsgi_application()


def _warm_up() -> None:
    """Loads the model, so that no caller waits for it. If it is away, `/ready` and the callers are told."""
    from providers.embeddings import EmbeddingUnavailable, get_embedder

    with contextlib.suppress(EmbeddingUnavailable):
        get_embedder().embed(["warm up"])


threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
