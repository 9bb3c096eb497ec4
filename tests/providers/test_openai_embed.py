"""The official client against the fake server."""

import numpy as np
import pytest

from providers.errors import EmbeddingUnavailable
from providers.metering import metering
from tests.providers.outside import embedder_of, seconds_of

PATH = "/v1/embeddings"
TEXTS = [f"Fact number {n} about {word}." for n in range(5) for word in ("trains", "dogs", "customs")]


def sent(fake) -> list[list[str]]:
    return [one["body"]["input"] for one in fake.requests]


def test_vectors_have_length_one_and_the_order_of_their_texts(fake):
    vectors = embedder_of(fake).embed(TEXTS)
    assert vectors.shape == (15, 1536)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    singles = np.concatenate([embedder_of(fake).embed([text]) for text in TEXTS])
    np.testing.assert_allclose(vectors, singles, atol=1e-6)


def test_similar_texts_are_nearer_than_others(fake):
    query, near, far = embedder_of(fake).embed(["Kim likes trains", "Kim likes buses", "a red bucket"])
    assert query @ near > query @ far + 0.2


@pytest.mark.parametrize("how", [{"shuffled": -1}, {"floats": -1}, {"shuffled": -1, "floats": -1}])
def test_the_servers_order_and_number_format_do_not_matter(fake, how):
    expected = embedder_of(fake).embed(TEXTS)
    fake.control(**how)
    np.testing.assert_allclose(embedder_of(fake).embed(TEXTS), expected, atol=1e-6)


def test_many_texts_go_in_batches_in_their_order(fake):
    expected = embedder_of(fake).embed(TEXTS)
    fake.reset()
    fake.control(shuffled=-1)
    np.testing.assert_allclose(embedder_of(fake, batch_size=4).embed(TEXTS), expected, atol=1e-6)
    assert sent(fake) == [TEXTS[at : at + 4] for at in range(0, 15, 4)]


def test_no_request_exceeds_its_bytes(fake):
    embedder_of(fake).embed(["é" * 10_000] * 40)
    sizes = [sum(len(text.encode()) for text in texts) for texts in sent(fake)]
    assert max(sizes) <= 300_000
    assert sum(map(len, sent(fake))) == 40


def test_nothing_asked_for_costs_no_request(fake):
    assert embedder_of(fake).embed([]).shape == (0, 1536)
    assert fake.count(PATH) == 0


def test_blank_texts_cost_no_request_and_are_like_nothing_else(fake):
    vectors = embedder_of(fake).embed(["", "Kim likes trains.", " \n"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors[0] @ vectors[1] == pytest.approx(0, abs=0.3)
    assert sent(fake) == [["Kim likes trains."]]


def test_a_text_beyond_the_models_limit_is_cut(fake):
    embedder_of(fake, max_tokens=100).embed(["word " * 1_000])
    assert sent(fake) == [[("word " * 60)]]


def test_a_text_that_is_still_too_long_is_cut_once_more_and_its_neighbours_are_not(fake):
    fake.control(max_tokens=100)
    short, dense = "a short text", "! " * 500
    texts = [short, dense, short + " too"]
    vectors = embedder_of(fake, max_tokens=100).embed(texts)
    assert sent(fake)[-2:] == [["! " * 50], [short + " too"]]
    np.testing.assert_allclose(vectors[[0, 2]], embedder_of(fake).embed([short, short + " too"]), atol=1e-6)


def test_any_text_can_be_sent(fake):
    assert embedder_of(fake).embed(["lone \ud83d surrogate", "nul \x00", "🦊" * 9_000]).shape == (3, 1536)


@pytest.mark.parametrize("kind", ["count", "dimensions", "nan", "zero", "index"])
def test_a_wrong_answer_is_refused_and_not_paid_for_again(fake, kind):
    fake.control(wrong=1, wrong_kind=kind)
    with metering() as meter, pytest.raises(EmbeddingUnavailable):
        embedder_of(fake).embed(TEXTS)
    assert fake.count(PATH) == 1
    (usage,) = meter.totals()
    assert (usage.calls, usage.failures) == (1, 1)
    assert usage.input_tokens == 15 * 6


def test_garbage_is_refused(fake):
    fake.control(wrong=-1, wrong_kind="garbage")
    with pytest.raises(EmbeddingUnavailable, match="no JSON object"):
        embedder_of(fake).embed(TEXTS)


def test_a_dead_server_means_no_vectors_for_now(fake):
    fake.stop()
    with pytest.raises(EmbeddingUnavailable):
        embedder_of(fake).embed(TEXTS)


def test_the_pause_that_the_server_asks_for_is_told(fake):
    fake.control(rate_limited=-1, retry_after="20")
    with pytest.raises(EmbeddingUnavailable) as caught:
        embedder_of(fake).embed(TEXTS)
    assert caught.value.retry_after == 20


def test_somebody_who_waits_is_given_up_on_sooner(fake):
    fake.control(hung=-1)
    embedder = embedder_of(fake, seconds=3)

    def embed(interactive: bool) -> None:
        with pytest.raises(EmbeddingUnavailable):
            embedder.embed(["x"], interactive=interactive)

    assert 0.4 < seconds_of(lambda: embed(True)) < 2.9 < seconds_of(lambda: embed(False)) < 15


def test_all_batches_together_keep_the_deadline(fake):
    fake.control(slow=0.3)

    def embed() -> None:
        with pytest.raises(EmbeddingUnavailable):
            embedder_of(fake, seconds=1, batch_size=1).embed(TEXTS)

    assert 0.9 < seconds_of(embed) < 10
    assert 1 <= fake.count(PATH) <= 4


def test_the_name_kept_with_vectors_tells_models_and_lengths_apart(fake):
    assert embedder_of(fake).model == "text-embedding-3-small"
    assert embedder_of(fake, dimensions=512).model == "text-embedding-3-small@512"
    assert embedder_of(fake, model="bge-m3", dimensions=1024).model == "bge-m3@1024"


def test_shortened_vectors_are_asked_for(fake):
    assert embedder_of(fake, dimensions=512).embed(["x"]).shape == (1, 512)
    assert fake.requests[-1]["body"]["dimensions"] == 512


def test_a_models_own_length_is_not_asked_for(fake):
    embedder_of(fake).embed(["x"])
    assert "dimensions" not in fake.requests[-1]["body"]


def test_a_server_that_knows_no_dimensions_is_asked_without_from_then_on(fake):
    fake.control(no_dimensions=True, dimensions=1024)
    embedder = embedder_of(fake, model="bge-m3", dimensions=1024)
    embedder.embed(["x"])
    embedder.embed(["y"])
    assert ["dimensions" in one["body"] for one in fake.requests] == [True, False, False]
