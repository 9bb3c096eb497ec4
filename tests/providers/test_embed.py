from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.local.embedder import LocalEmbedder
from tests.providers.conftest import Reference


def test_vectors_agree_with_sentence_transformers(embedder: LocalEmbedder, reference: Reference) -> None:
    vectors = embedder.embed(reference.texts)
    cosines = (vectors * reference.vectors).sum(axis=1)
    assert cosines.min() >= 0.999999, dict(zip(reference.texts, cosines.tolist(), strict=True))


def test_a_batch_gives_the_same_vectors_as_single_texts(
    embedder: LocalEmbedder, reference: Reference
) -> None:
    singles = np.concatenate([embedder.embed([text]) for text in reference.texts])
    np.testing.assert_allclose(embedder.embed(reference.texts), singles, atol=1e-5)


def test_vectors_come_in_the_order_of_the_texts(embedder: LocalEmbedder) -> None:
    texts = [f"{'long ' * (count * 37 % 50)}text {count}" for count in range(40)]
    forward = embedder.embed(texts)
    np.testing.assert_allclose(embedder.embed(texts[::-1])[::-1], forward, atol=1e-5)
    assert len({vector.tobytes() for vector in forward}) == 40


def test_threads_do_not_mix_up_each_others_texts(embedder: LocalEmbedder, reference: Reference) -> None:
    rows = list(range(len(reference.texts))) * 3
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda row: embedder.embed([reference.texts[row]])[0], rows))
    np.testing.assert_allclose(np.stack(vectors), reference.vectors[rows], atol=1e-5)


def test_no_texts_give_no_rows_of_384(embedder: LocalEmbedder) -> None:
    vectors = embedder.embed([])
    assert vectors.shape == (0, embedder.dimensions) == (0, 384)
    assert vectors.dtype == np.float32


def test_no_texts_need_no_model(tmp_path: Path, copied_model: Path) -> None:
    (copied_model / "model.safetensors").unlink()
    assert LocalEmbedder(tmp_path, 1, copied_model).embed([]).shape == (0, 384)


def test_the_model_has_the_name_that_settings_use(embedder: LocalEmbedder) -> None:
    assert embedder.model == "all-MiniLM-L6-v2"


def test_an_empty_text_and_one_of_spaces_get_the_same_vector(embedder: LocalEmbedder) -> None:
    empty, spaces = embedder.embed(["", " \n\t "])
    np.testing.assert_allclose(empty, spaces, atol=1e-5)


def test_only_the_first_256_tokens_count(embedder: LocalEmbedder) -> None:
    start = "harbour " * 254
    first, second, shorter = embedder.embed([start + "and then " * 50_000, start, "harbour " * 253])
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert not np.allclose(second, shorter, atol=1e-5)


@pytest.mark.parametrize("broken", ["\x00", "\ud800", "\udc00\ud800", chr(0xFFFD), "\x07"])
def test_characters_that_say_nothing_are_left_out(embedder: LocalEmbedder, broken: str) -> None:
    clean, dirty = embedder.embed(["dark mode", f"dark{broken} mode{broken}"])
    np.testing.assert_allclose(clean, dirty, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(st.characters(codec=None), max_size=60), min_size=1, max_size=6))
def test_every_vector_has_length_one(embedder: LocalEmbedder, texts: list[str]) -> None:
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
