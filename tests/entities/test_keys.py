"""What a slot may be called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic.slots import LONGEST_KEY, slot_key, slot_keys
from tenants.errors import Invalid


@pytest.mark.parametrize(("key", "stored"), [
    ("city", "city"), (" Home  City ", "home_city"), ("STRASSE", "strasse"), ("Straße", "strasse"),
    ("a\u00a0b\u2003c", "a_b_c"), ("日本", "日本"), ("e-mail.work:1", "e-mail.work:1"), ("pins", "pins"),
    ("💡", "💡"),
])  # fmt: skip
def test_a_key_is_stored_in_one_spelling(key, stored):
    assert slot_key(key) == stored


@given(st.text(min_size=1, max_size=300))
def test_any_text_is_a_key_that_stays_as_it_is_or_is_refused(text):
    try:
        stored = slot_key(text)
    except Invalid:
        return
    assert slot_key(stored) == stored
    assert 0 < len(stored) <= LONGEST_KEY
    assert stored.encode()
    assert not any(one.isspace() or one == "/" for one in stored)


def test_a_policy_s_names_are_keys_too():
    assert slot_keys(("E Mail", "e_mail", "a/b", "Zip")) == {"e_mail", "zip"}
