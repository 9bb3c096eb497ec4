"""`manage.py reembed`: from one embedding model to another, with nothing lost to search in between."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from episodic.embedding import embed_pending
from episodic.models import EpisodeEmbedding
from observations.models import ObservationEmbedding
from providers.embeddings import reset_embedder
from providers.fake import FakeProvider
from tenants.scope import scope
from tenants.vectors import kinds
from tests.isolation.tables import TENANT_MODELS
from tests.observations.notes import embed, note, search, titles

NAME = "observation_nearest_text_embedding_3_small"
LOCAL, OTHER = "all-MiniLM-L6-v2", "text-embedding-3-small"


@pytest.fixture
def other_model(settings):
    """Begins to embed by an outside model when it is called."""
    with FakeProvider() as provider:

        def begin():
            settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", OTHER
            settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-x", provider.base_url
            reset_embedder()

        yield begin
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "local", LOCAL
    reset_embedder()


def reembed(member, *options: str) -> str:
    out = StringIO()
    call_command("reembed", "--tenant", member.tenant.slug, *options, stdout=out, stderr=StringIO())
    return out.getvalue()


def models(member) -> dict[str, int]:
    with scope(member.tenant.id):
        found = ObservationEmbedding.objects.values_list("model", flat=True)
        return {model: list(found).count(model) for model in found}


def test_a_new_model_reads_what_the_old_one_has_read(acme, other_model):
    note(acme.caller, "The lighthouse keeper feeds the gulls.", title="Gulls")
    embed(acme.caller)
    other_model()
    embed(acme.caller)
    assert models(acme) == {LOCAL: 1}  # nobody has said so yet
    assert f"observation: {LOCAL}" in reembed(acme, "--status")
    assert "to be read by text-embedding-3-small: 1" in reembed(acme)
    embed(acme.caller)
    assert models(acme) == {LOCAL: 1, OTHER: 1}
    assert titles(search(acme.caller, "gulls", mode="hybrid")) == ["Gulls"]


def test_every_kind_of_vectors_is_known():
    """A table of vectors that is not registered would keep those of the old model alone."""
    with_model = {
        model
        for model in TENANT_MODELS
        if {"embedding", "model"} <= {field.attname for field in model._meta.concrete_fields}
    }
    assert {kind.vectors for kind in kinds().values()} == with_model
    assert all(kind.items._meta.get_field("embed_pending") for kind in kinds().values())


def test_episodes_are_read_anew_by_the_sweep(acme, other_model):
    episode = acme.http.post("/api/v1/episodes", json={"user_id": "ann", "text": "Gulls nest here."}).json()
    other_model()
    assert "episode: " in reembed(acme)
    embed_pending()
    with scope(acme.tenant.id):
        found = EpisodeEmbedding.objects.filter(episode_id=episode["id"])
        assert set(found.values_list("model", flat=True)) == {LOCAL, OTHER}


def test_the_former_vectors_go_when_the_new_ones_are_there_and_not_before(acme, other_model):
    note(acme.caller)
    embed(acme.caller)
    other_model()
    with pytest.raises(CommandError, match="1 items have no vector by text-embedding-3-small yet"):
        reembed(acme, "--drop", LOCAL)
    reembed(acme)
    embed(acme.caller)
    reembed(acme, "--drop", LOCAL)
    assert models(acme) == {OTHER: 1}


def test_the_present_models_vectors_cannot_be_dropped(acme):
    with pytest.raises(CommandError, match="the present model"):
        reembed(acme, "--drop", LOCAL)


def test_another_tenants_vectors_stay(acme, globex, other_model):
    for member in (acme, globex):
        note(member.caller)
        embed(member.caller)
    other_model()
    reembed(acme)
    embed(acme.caller)
    embed(globex.caller)
    reembed(acme, "--drop", LOCAL)
    assert (models(acme), models(globex)) == ({OTHER: 1}, {LOCAL: 1})


def test_done_twice_there_is_nothing_more_to_do(acme, other_model):
    note(acme.caller)
    other_model()
    reembed(acme)
    embed(acme.caller)
    assert "to be read by text-embedding-3-small: 0" in reembed(acme)


def test_the_index_of_a_new_model_is_made_while_others_write(acme, other_model):
    other_model()
    assert NAME in reembed(acme, "--index")
    reembed(acme, "--index")  # is there already
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass", [NAME])
        assert cursor.fetchone() == (True,)


def test_an_unknown_tenant_is_refused():
    with pytest.raises(CommandError, match="no tenant 'nobody'"):
        call_command("reembed", "--tenant", "nobody", stdout=StringIO())
