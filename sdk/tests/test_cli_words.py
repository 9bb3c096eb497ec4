"""What says a fact, and what is only like it."""

import pytest
from strata_memory.cli.doctor.words import of_masked, of_slot, of_text, share, words

EMAIL = "Ana wants an email rather than a phone call"


@pytest.mark.parametrize(
    ("fact", "key", "value"),
    [
        ("She lives in Oslo", "home_city", "Oslo"),
        ("I live in Oslo.", "home_city", "Oslo"),
        ("Ada lives in Oslo", "home_city", "Oslo"),
        ("Her home city is Oslo", "home_city", "Oslo"),
        ("home_city: Oslo", "home_city", "Oslo"),
        ("She prefers trains", "preference:transport", "trains"),
        ("Her preferred contact is email", "preference:contact", "email"),
        ("She works for Siemens", "employer", "Siemens"),
        ("She comes from Spain", "origin", "Spain"),
        ("She speaks Spanish", "language", "English, Spanish"),
        ("email ada@example.org", "email", "ada@example.org"),
    ],
)
def test_a_slot_is_the_fact_where_key_and_value_are_said(fact: str, key: str, value: str) -> None:
    assert of_slot(fact, key=key, value=value, person="ada").says


@pytest.mark.parametrize(
    ("fact", "key", "value"),
    [
        ("Dora hates Paris", "home_city", "Paris"),
        ("The weather in Berlin is awful", "home_city", "Berlin"),
        ("Ana never wants an email", "preference:contact", "email"),
        ("Ana prefers a phone call to an email", "preference:contact", "email"),
        ("She does not live in Oslo", "home_city", "Oslo"),
        ("She doesn\u2019t live in Oslo", "home_city", "Oslo"),
        ("She no longer lives in Oslo", "home_city", "Oslo"),
        ("She lived in Oslo", "home_city", "Oslo"),
        ("She lives in Oslo or Bergen", "home_city", "Oslo"),
        ("Her sister lives in Oslo", "home_city", "Oslo"),
        ("Bob lives in Oslo", "home_city", "Oslo"),
        ("Does she live in Oslo?", "home_city", "Oslo"),
        ("Oslo", "home_city", "Oslo"),
    ],
)
def test_a_slot_of_which_more_or_less_is_said_is_only_like_the_fact(fact: str, key: str, value: str) -> None:
    like = of_slot(fact, key=key, value=value, person="ada")
    assert (like.says, like.is_near) == (False, like.share > 0)


def test_of_a_list_that_denies_a_member_no_member_counts_alone() -> None:
    assert not of_slot("She prefers phone", key="preference:contact", value="email, not phone").says


def test_a_slot_with_another_value_is_not_even_like_it() -> None:
    like = of_slot("She lives in Oslo", key="home_city", value="Bergen")
    assert (like.says, like.is_near, like.share) == (False, False, 0.0)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (EMAIL, f"{EMAIL}."),
        ("Ana wants an email", EMAIL),
        ("She wants emails", "We met on Monday. I want an email!"),
        ("Ana doesn't eat meat", "Ana does not eat meat."),
        ("The loss is -5 %", "By then the loss is \u22125%."),
        ("Ana writes C++ and C#", "I met Ana; Ana writes C++ and C#."),
        ("She starts at 10:30, for 3.5 hours", "She starts at 10:30 for 3.5 hours - in Oslo."),
        ("Ana lives in Oslo. She has a cat.", "I have a cat. Ana lives in Oslo."),
    ],
)
def test_a_text_is_the_fact_where_its_words_stand_as_they_are(fact: str, text: str) -> None:
    like = of_text(fact, text)
    assert (like.says, like.is_near, like.share) == (True, True, 1.0)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("Ana wants a phone call", EMAIL),
        ("Ana wants an email", "Ana never wants an email."),
        ("Ana never wants an email", "Ana wants an email."),
        ("Ana wants an email", "It is not true that Ana wants an email."),
        ("Ana wants an email", "Ana wants an email no longer."),
        ("Ana wants an email", "Perhaps Ana wants an email."),
        ("Ana wants an email", "Ana wants an email? Ask her."),
        ("Ana prefers a phone call to an email", "Ana prefers an email to a phone call."),
        ("Dora hates Paris", "Dora loves Paris."),
        ("She lives in Oslo", "My sister lives in Oslo."),
        ("Ana moved from Oslo to Bergen", "Ana moved to Oslo from Bergen."),
        ("She works at IBM", "She stopped believing she works at IBM."),
        ("Ana lives in Oslo", "Bob said Ana lives in Oslo, which is a lie."),
        ("Ana lives in Oslo", "Bob pretends that Ana lives in Oslo."),
        ("The price of gas is 5", "The price of gas is -5."),
        ("The price of gas is -5", "The price of gas is \u22125%."),
        ("The price of gas is 5", "The price of gas is 5 %."),
        ("The price of gas is 5", "The price of gas is 5.5."),
        ("The price of gas is 5", "The price of gas is .5."),
        ("The price of gas is 5", "The price of gas is $5."),
        ("Ana writes good C", "Ana writes good C++."),
        ("Ana writes good C#", "Ana writes good C."),
        ("Her blood type is B", "Her blood type is B-."),
        ("Her limit <10 holds", "Her limit >10 holds."),
    ],
)
def test_a_text_that_turns_the_fact_around_is_only_like_it(fact: str, text: str) -> None:
    like = of_text(fact, text)
    assert (like.says, like.is_near) == (False, True)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("My card is 4111 1111 1111 1111", "My card is [card]"),
        ("Her card is 4111-1111-1111-1111.", "Hello! My card is [card], thanks."),
        ("My password is swordfish99", "My password is [secret]."),
        ("My password is correct horse battery staple", "My password is [secret]"),
        ("tiger7 is my password", "[secret] is my password"),
        ("The codes are ab12 and cd34 today", "The codes are [secret] and [secret] today"),
        ("I live in Oslo", "I live in Oslo. My password is [secret]."),
    ],
)
def test_a_mask_stands_for_any_of_the_facts_words(fact: str, text: str) -> None:
    like = of_masked(fact, text)
    assert (like.says, like.is_near) == (True, True)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("My card is lost", "My card is [card]"),
        ("My card is 4111 1111 1111 1111 of Ada", "My card is [card]"),
        ("My password is swordfish99", "My passport is [secret]"),
        ("My password is not swordfish99", "My password is [secret]"),
        ("Is my password swordfish99?", "My password is [secret]"),
        ("swordfish99", "[secret]"),
        ("I swim", "My [secret]"),
    ],
)
def test_a_mask_stands_for_no_other_word_and_not_for_the_whole_fact(fact: str, text: str) -> None:
    assert not of_masked(fact, text).says


@pytest.mark.parametrize("fact", ["", "???", "the"])
def test_a_fact_without_a_word_is_said_by_nothing(fact: str) -> None:
    assert not of_text(fact, "the ???").is_near
    assert not of_slot(fact, key="a", value="the").is_near


def test_the_share_is_that_of_the_words_that_tell() -> None:
    assert share("She lives in Oslo", "She is tired.") == 0.0
    assert share("Ana wants an urgent email", "An email for Ana") == 0.5
    assert words("Ada's cats have eaten", person="ada") == ("they", "cat", "have", "eaten")
