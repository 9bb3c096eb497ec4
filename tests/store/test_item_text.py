"""What an item is found by."""

import pytest

from episodic.item_text import is_path, only_text, replaced, text_of
from tenants.errors import Invalid

VALUE = {
    "a": {"b": "deep", "n": 1.5},
    "list": [{"t": "one"}, {"t": "two"}, "three"],
    "none": None,
    "yes": True,
}


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ((), ""),
        (("a.b",), "deep"),
        (("a.n", "yes", "none", "missing.x"), "1.5\ntrue"),
        (("list[*].t",), "one\ntwo"),
        (("list[0].t", "list[-1]"), "one\nthree"),
        (("list[7]", "a[0]", "list.t"), ""),
        (("list.*.t",), "one\ntwo"),
        (("{a.b, yes}",), "deep\ntrue"),
        (("a",), '{"b": "deep", "n": 1.5}'),
    ],
    ids=str,
)
def test_the_texts_at_the_paths_are_a_line_each(index, text):
    assert text_of(VALUE, index) == text


def test_each_place_is_told_once():
    assert text_of(VALUE, ("a.b", "a.{b, b,n}", "a.*", "yes", "a.b")) == "deep\n1.5\ntrue"
    assert text_of({"text": "Ana"}, ("$", "text", "*")) == "Ana"
    assert only_text(VALUE, ("a.b", "{a.b}")) == ("a", "b")


@pytest.mark.parametrize("longest", [0, 1, 3, 4, 5, 6, 7, 8, 100])
def test_no_more_is_told_than_is_wanted(longest):
    index = ("list[*].t", "a.n")
    assert text_of(VALUE, index, longest=longest) == "one\ntwo\n1.5"[:longest]


def test_paths_that_come_past_too_much_are_refused():
    value, paths = {"l": [1] * 2_000}, [f"l{'.' * dots}[*]" for dots in range(90)]
    assert text_of(value, paths[:70]).count("1") == 2_000
    with pytest.raises(Invalid):
        text_of(value, paths)
    with pytest.raises(Invalid):
        text_of(value, ["{" + ",".join(paths[:30]) + "}", *paths[30:]])


@pytest.mark.parametrize("path", [
    "$", "a", "a.b", "a[0]", "a[-1].b", "[0]", "a[*].b", "*", "a.*", "{a, b.c}", "{a[0],b}.c", "ä b", "a..b",
])  # fmt: skip
def test_what_can_lead_somewhere_is_a_path(path):
    assert is_path(path)


@pytest.mark.parametrize("path", [
    "a[", "a]", "[", "a[]", "a[x]", "a[1.5]", "a[[0]]", "{", "{}", "{ , }", "{a", "{a[}", "a}", "{a,{b}}",
    ".", "..", "a" * 900 + "[",
])  # fmt: skip
def test_what_leads_nowhere_is_none(path):
    assert not is_path(path)


def test_the_whole_value_is_its_only_text_or_json():
    assert text_of({"text": "Ana"}, None) == "Ana"
    assert text_of({"b": "ä", "a": 1}, None) == text_of({"a": 1, "b": "ä"}, ("$",)) == '{"a": 1, "b": "ä"}'
    assert text_of({}, None) == "{}"


@pytest.mark.parametrize(
    ("index", "edited"),
    [
        (("a.b",), {**VALUE, "a": {"b": "new", "n": 1.5}}),
        (("list[1].t",), {**VALUE, "list": [{"t": "one"}, {"t": "new"}, "three"]}),
        (("{a.b}",), {**VALUE, "a": {"b": "new", "n": 1.5}}),
    ],
    ids=str,
)
def test_the_only_text_can_be_replaced_where_it_stands(index, edited):
    place = only_text(VALUE, index)
    assert place is not None
    assert replaced(VALUE, place, "new") == edited


@pytest.mark.parametrize("index", [None, (), ("a.n",), ("list[*].t",), ("a.b", "yes")], ids=str)
def test_several_texts_or_none_are_not_one(index):
    assert only_text(VALUE, index) is None
