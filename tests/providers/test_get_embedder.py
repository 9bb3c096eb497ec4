import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from memoryproject.checks import check_providers
from providers.embeddings import EmbeddingUnavailable, embedders, get_embedder, reset_embedder
from providers.fake import FakeProvider

EMBED_ON_BOTH_SIDES_OF_A_FORK = """
import os, sys
from pathlib import Path
import numpy
from django.conf import settings
settings.configure(
    EMBEDDING_PROVIDER="local", EMBEDDING_MODEL="all-MiniLM-L6-v2", EMBEDDING_THREADS=2,
    MODEL_CACHE=Path(sys.argv[1]),
)
from providers.embeddings import get_embedder
expected = get_embedder().embed(["before the fork"])
child = os.fork()
if child == 0:
    sys.exit(not numpy.allclose(get_embedder().embed(["before the fork"]), expected))
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.fixture(autouse=True)
def local_provider(settings: Settings, tmp_path: Path) -> Iterator[None]:
    settings.EMBEDDING_PROVIDER = "local"
    settings.EMBEDDING_MODEL = "all-MiniLM-L6-v2"
    settings.EMBEDDING_THREADS = 2
    settings.MODEL_CACHE = tmp_path
    reset_embedder()
    yield
    reset_embedder()


def test_all_threads_of_a_process_share_one_embedder() -> None:
    with ThreadPoolExecutor(8) as pool:
        embedders = list(pool.map(lambda _: get_embedder(), range(32)))
    assert len(set(map(id, embedders))) == 1


def test_asking_for_the_embedder_loads_no_model(tmp_path: Path) -> None:
    assert (get_embedder().model, get_embedder().dimensions) == ("all-MiniLM-L6-v2", 384)
    assert list(tmp_path.iterdir()) == []


def test_an_outside_provider_is_built_from_the_settings_and_asked_nothing(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "text-embedding-3-small"
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    assert (get_embedder().model, get_embedder().dimensions) == ("text-embedding-3-small", 1536)


def test_an_outside_model_that_is_not_known_needs_its_dimensions(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "bge-m3"
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_DIMENSIONS must be set"):
        get_embedder()
    settings.EMBEDDING_DIMENSIONS = 1024
    assert (get_embedder().model, get_embedder().dimensions) == ("bge-m3@1024", 1024)


def test_a_second_model_is_set_up_beside_the_present_one(settings: Settings) -> None:
    settings.EMBEDDING_NEXT_PROVIDER, settings.EMBEDDING_NEXT_MODEL = "openai", "text-embedding-3-small"
    assert [one.model for one in embedders()] == ["all-MiniLM-L6-v2", "text-embedding-3-small"]
    assert get_embedder().model == "all-MiniLM-L6-v2"
    assert get_embedder("text-embedding-3-small") is embedders()[1]
    with pytest.raises(EmbeddingUnavailable, match="No provider is set up for the embedding model 'bge-m3'"):
        get_embedder("bge-m3")


def test_either_model_may_be_the_local_one_and_be_at_another_address(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "text-embedding-3-small"
    settings.EMBEDDING_NEXT_PROVIDER, settings.EMBEDDING_NEXT_MODEL = "local", "all-MiniLM-L6-v2"
    assert [one.dimensions for one in embedders()] == [1536, 384]
    reset_embedder()
    settings.EMBEDDING_NEXT_PROVIDER, settings.EMBEDDING_NEXT_MODEL = "openai", "text-embedding-3-small"
    settings.EMBEDDING_NEXT_DIMENSIONS = 256
    with FakeProvider() as elsewhere:
        settings.EMBEDDING_NEXT_BASE_URL = elsewhere.base_url
        assert get_embedder("text-embedding-3-small@256").embed(["a"]).shape == (1, 256)
        assert elsewhere.count("/v1/embeddings") == 1


@pytest.mark.parametrize(
    ("provider", "model", "said"),
    [
        ("local", "all-MiniLM-L6-v2", "are both 'all-MiniLM-L6-v2'"),
        ("openai", "", "EMBEDDING_NEXT_MODEL must be set"),
        ("openai", "bge-m3", "EMBEDDING_NEXT_DIMENSIONS must be set"),
        ("oracle", "bge-m3", "EMBEDDING_NEXT_PROVIDER is 'oracle'"),
    ],
)
def test_a_second_model_that_is_set_up_wrongly_is_refused_at_the_start(
    settings: Settings, provider: str, model: str, said: str
) -> None:
    settings.EMBEDDING_NEXT_PROVIDER, settings.EMBEDDING_NEXT_MODEL = provider, model
    [error] = check_providers(None)
    assert said in error.msg


def test_a_model_whose_name_no_table_could_keep_is_refused(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "m" * 99
    settings.EMBEDDING_DIMENSIONS = 8
    with pytest.raises(ImproperlyConfigured, match="longer than 100"):
        get_embedder()


def test_the_checks_say_what_is_wrong_before_anything_runs(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER = "oracle"
    assert [one.id for one in check_providers(None)] == ["providers.E001"]
    settings.EMBEDDING_PROVIDER = "local"
    assert check_providers(None) == []


def test_an_unknown_provider_is_refused(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER = "oracle"
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_PROVIDER is 'oracle'"):
        get_embedder()


def test_a_model_that_the_provider_does_not_have_is_refused(settings: Settings) -> None:
    settings.EMBEDDING_MODEL = "bigger"
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_MODEL is 'bigger'"):
        get_embedder()


def test_a_forked_child_loads_a_model_of_its_own_and_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", EMBED_ON_BOTH_SIDES_OF_A_FORK, str(tmp_path)]
    subprocess.run(command, cwd=Path(__file__).parents[2], check=True, timeout=60)
