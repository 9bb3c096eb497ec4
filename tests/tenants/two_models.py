"""Two embedding models in this process: the local one, and an outside one at a fake server."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.utils import timezone

from episodic.types import EpisodeFilter
from providers.embeddings import reset_embedder
from providers.fake import FakeProvider
from recall.recall import recall
from recall.types import RecallQuery
from tenants import usage
from tenants.caller import Caller
from tenants.jobs import runner
from tenants.models import Job
from tenants.scope import scope
from tenants.vectors import kinds

LOCAL, OTHER = "all-MiniLM-L6-v2", "text-embedding-3-small"


@contextmanager
def both(settings: Any) -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        settings.EMBEDDING_NEXT_PROVIDER, settings.EMBEDDING_NEXT_MODEL = "openai", OTHER
        settings.EMBEDDING_NEXT_BASE_URL, settings.EMBEDDING_NEXT_API_KEY = provider.base_url, "sk-x"
        settings.PROVIDER_RETRIES = 0
        reset_embedder()
        yield provider
        usage.flush()  # not at the end of the process, when the database is closed to tests
    settings.EMBEDDING_NEXT_PROVIDER = ""
    reset_embedder()


def reembed(member: Any, *options: str) -> str:
    out = StringIO()
    call_command("reembed", "--tenant", member.tenant.slug, *options, stdout=out, stderr=StringIO())
    return out.getvalue()


def work() -> None:
    """As a worker does, until nothing is due."""
    while runner.run_jobs(slow=True):
        pass


def fill_jobs(member: Any) -> int:
    with scope(member.tenant.id):
        return Job.objects.filter(tenant_id=member.tenant.id, kind="embeddings.fill").count()


def vectors(member: Any, kind: str = "episode") -> dict[str, int]:
    """How many vectors each model has made of the tenant's items of a kind."""
    with scope(member.tenant.id):
        found = list(
            kinds()[kind].vectors._default_manager.filter(tenant_id=member.tenant.id)
            .values_list("model", flat=True)
        )  # fmt: skip
        return {model: found.count(model) for model in found}


def found(caller: Caller, text: str, user_id: str = "ann") -> list[str]:
    """By likeness alone: what words would bring does not count."""
    query = RecallQuery(text, EpisodeFilter(user_id=user_id), 5, "similarity")
    hits = recall(caller=caller, query=query, now=timezone.now()).hits
    return [hit.episode.text for hit in hits]
