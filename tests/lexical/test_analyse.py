"""What becomes a lexeme. The same function analyses what is stored and what is asked."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexical import analysis
from lexical.analysis import LONGEST_LEXEME, analyse

# Letters and marks of many scripts, what separates, and what is no text at all.
CHARACTERS = st.one_of(
    st.characters(),
    st.sampled_from("aAéßİ\u0131\u017fﬁ_-'.?\0 \t\u00ad\u200b\u200d\ufe0f\u0301\u0306™😀\ud800"),
    st.sampled_from("Ииёй가각東京かガｶﾞ\u3099กำน้ไहिन्दी२۲آٱأשָ"),
)
TEXTS = st.text(CHARACTERS, max_size=60)


@pytest.mark.parametrize(
    ("text", "lexemes"),
    [
        ("The pools' connections, connecting", ["the", "pool", "connect", "connect"]),
        ("snake_case camelCase", ["snake", "case", "camelcas"]),
        ("C++ and C#", ["c", "and", "c"]),
        ("don't", ["don", "t"]),
        ("v3.14, 5 GB", ["v3", "14", "5", "gb"]),
        ("a\0b\x1fc", ["a", "b", "c"]),
        ("deploy😀now 👩‍👩‍👧 1️⃣", ["deploy", "now", "1"]),
        ("a\ud800b", ["a", "b"]),
        ("?! … — 😀", []),
        ("", []),
    ],
)
def test_words_are_letters_and_digits_and_all_else_separates(text, lexemes):
    assert analyse(text) == lexemes


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Über", "uber"),
        ("CAFÉ", "cafe"),
        ("cafe\u0301", "cafe"),
        ("STRASSE", "straße"),
        ("İstanbul", "istanbul"),
        ("Việt Nam", "viet nam"),
        ("ΆΝΘΡΩΠΟΣ", "ανθρωπος"),
        ("ёлка", "елка"),
        ("ﬁle Ⅷ m²", "file viii m2"),
        ("\uff53\uff54\uff52\uff41\uff54\uff41", "strata"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("السَّلَامُ", "السلام"),
        ("آخر", "اخر"),
        ("שָׁלוֹם", "שלום"),
        ("co\u00adoperate", "cooperate"),
        ("葛\U000e0100城", "葛城"),
        ("Strata™ ", "strata"),
    ],
)
def test_writings_of_one_word_are_one_lexeme(one, other):
    assert analyse(one) == analyse(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [("मोर", "मर"), ("ยา", "ย"), ("มา", "ม้า"), ("がぎ", "かき"), ("мой", "мои"), ("কি", "কী"), ("각", "가")],
)
def test_marks_that_are_letters_of_their_script_stay(one, other):
    assert analyse(one) != analyse(other)


@pytest.mark.parametrize(
    ("text", "lexemes"),
    [
        ("東京都", ["東京", "京都"]),
        ("東", ["東"]),
        ("データベース", ["デー", "ータ", "タベ", "ベー", "ース"]),
        ("연결 풀", ["연결", "풀"]),
        ("ไทยนา", ["ไท", "ทย", "ยน", "นา"]),
        ("ไทย๑๒", ["ไท", "ทย", "๑๒"]),
        ("iPhoneを買う", ["iphon", "を買", "買う"]),
        ("東京2024年", ["東京", "2024", "年"]),
        ("東京、大阪", ["東京", "大阪"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
    ],
)
def test_scripts_without_spaces_become_overlapping_pairs(text, lexemes):
    assert analyse(text) == lexemes


@given(TEXTS)
def test_any_string_has_lexemes_that_can_be_stored(text):
    for lexeme in analyse(text):
        assert 0 < len(lexeme) <= LONGEST_LEXEME
        assert lexeme.encode()  # no surrogates
        assert not set(lexeme) & set("\0_ \t\n'\\")


@given(TEXTS, TEXTS)
def test_what_stands_around_does_not_change_a_words_lexeme(one, other):
    assert analyse(f"{one} {other}") == analyse(one) + analyse(other)


@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_plain_text_has_the_same_lexemes_beside_other_scripts(text):
    """The quick way for ASCII and the long way agree."""
    assert analyse(f"{text} я") == [*analyse(text), "я"]


@given(st.text(st.characters(max_codepoint=0x24F, exclude_characters="\u0131"), max_size=60))
def test_capitals_do_not_matter(text):
    assert analyse(text.upper()) == analyse(text)


def test_a_very_long_word_is_found_by_its_beginning():
    for text in ("a" * 50_000, "я" * 50_000, "น" + "\u0e34" * 500):
        assert [len(lexeme) for lexeme in analyse(text)] == [LONGEST_LEXEME]
    digest = "0123456789abcdef" * 4
    assert analyse(digest) == [digest]


def test_sixty_words_take_less_than_a_millisecond():
    draw = random.Random(1)
    words = ["".join(draw.choices("aeioulnrst", k=draw.randint(2, 10))) for _ in range(60)]
    text = " ".join(words)
    assert best_of(50, text) < 0.001
    assert best_of(50, f"{text} — é") < 0.001


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0315\u0300" * 50_000,  # marks that normalisation has to sort: quadratic if it were let
        "ก" + "\u0e38\u0e48" * 50_000,
        "か" + "\u0e38\u3099" * 50_000,
        "\ufdfa" * 50_000,  # one character that stands for four words
        "é" * 50_000,
        "👩‍👩‍👧" * 10_000,
        "\ud800\0" * 25_000,
    ],
    ids=["accents", "Thai marks", "voicing", "ligatures", "one word", "emoji", "no text"],
)
def test_no_long_text_is_slow(text):
    assert best_of(3, text) < 1


def best_of(times: int, text: str) -> float:
    """Seconds of the quickest run: the machine may be busy with other things."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        analyse(text)
        taken.append(time.perf_counter() - begin)
    return min(taken)


def test_threads_have_stemmers_of_their_own():
    with ThreadPoolExecutor(max_workers=1) as other:
        assert other.submit(analysis._own_stemmer).result() is not analysis._own_stemmer()


def test_threads_that_analyse_at_once_do_not_disturb_each_other():
    texts = [
        " ".join(f"{stem}{n}ing {stem}ations" for n in range(200)) for stem in ("walk", "relat", "я", "é")
    ]
    alone = [analyse(text) for text in texts]
    analysis._stem.cache_clear()
    with ThreadPoolExecutor(max_workers=8) as pool:
        assert list(pool.map(analyse, texts * 20)) == alone * 20
