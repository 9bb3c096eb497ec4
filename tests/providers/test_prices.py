import pytest

from providers.openai.prices import Price, PricesUnreadable, load_prices, price_of


def test_the_list_that_comes_along_can_be_read():
    prices = load_prices()
    assert price_of("text-embedding-3-small", prices) == Price(0.02, 0)
    assert price_of("gpt-4.1-mini-2025-04-14", prices) == price_of("gpt-4.1-mini", prices)
    assert price_of("unheard-of", prices) is None


@pytest.mark.parametrize("text", [
    "not toml", "[models.x]\ninput = 'much'", "[models.x]\ninput = -1", "[models]\nx = 3",
    "[models.x]\ninput = inf", "models = 3",
])  # fmt: skip
def test_a_malformed_list_is_refused(tmp_path, text):
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(PricesUnreadable):
        load_prices(tmp_path / "prices.toml")


def test_a_missing_list_is_refused(tmp_path):
    with pytest.raises(PricesUnreadable):
        load_prices(tmp_path / "nowhere.toml")
