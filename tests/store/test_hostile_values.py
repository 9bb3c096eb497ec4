"""Values and paths that are made to be much work."""

import pytest

from tests.native.shapes import problem
from tests.store.items import BATCH, URL, get, put, search


def nested(levels):
    value = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


def test_ways_that_come_together_are_walked_once(acme):
    """Three ways in each of 90 levels: nobody walks them one by one."""
    put(acme, ["a"], "k", nested(90), index=["{a,.a,a.}" * 90])
    (found,) = search(acme, query="x")
    assert found["value"] == nested(90)


def test_paths_that_come_past_too_much_are_refused(acme):
    def operation(key, paths):
        index = [f"l{'.' * dots}[*]" for dots in range(paths)]
        value = {"l": [1] * 2_000}
        return {"op": "put", "namespace": ["a"], "key": key, "value": value, "index": index}

    body = {name: one for name, one in operation("k", 90).items() if name != "op"}
    problem(acme.http.put(URL, json=body), 422, "index")
    together = {"operations": [operation(f"k{number}", 3) for number in range(30)]}
    problem(acme.http.post(BATCH, json=together), 422, "index")
    assert get(acme, ["a"], "k") is get(acme, ["a"], "k1") is None
    put(acme, ["a"], "k", body["value"], index=body["index"][:10])


@pytest.mark.parametrize(
    ("step", "is_path"),
    [("[999999999]", True), ("[-999999999]", True), ("[-0]", True), ("[1e3]", False), ("[1000000000]", False),
     ("[--1]", False), ("[+1]", False), ("[0x1]", False), (f"[{'9' * 900}]", False)],
)  # fmt: skip
def test_numbers_of_elements_are_small_and_whole(acme, step, is_path):
    body = {"namespace": ["a"], "key": "k", "value": {"l": ["x"]}, "index": [f"l{step}"]}
    answer = acme.http.put(URL, json=body)
    assert answer.status_code == (204 if is_path else 422), answer.text


@pytest.mark.parametrize(
    "index", [["a"] * 101, [""], ["a" * 1_001], [1], [None], [["a"]], {"a": 1}, "a", True, 0],
    ids=["many", "empty", "long", "number", "null", "list", "object", "text", "true", "zero"],
)  # fmt: skip
def test_what_is_no_list_of_paths_is_refused(acme, index):
    body = {"namespace": ["a"], "key": "k", "value": {"a": "x"}, "index": index}
    problem(acme.http.put(URL, json=body), 422, "index")


def test_a_value_is_as_deep_as_a_body_may_be(acme):
    put(acme, ["a"], "k", nested(98), index=[".".join(["a"] * 98)])
    assert get(acme, ["a"], "k")["value"] == nested(98)
    (found,) = search(acme, filter={"a": nested(97)})
    assert found["key"] == "k"
    body = {"namespace": ["a"], "key": "deeper", "value": nested(101)}
    assert acme.http.put(URL, json=body).status_code in (400, 422)


def test_long_numbers_stay_as_they_are(acme):
    value = {"whole": [10**4_299, -(10**4_299)], "floats": [1.7976931348623157e308, 5e-324, 1e16]}
    put(acme, ["a"], "k", value)
    found = get(acme, ["a"], "k")["value"]
    assert found == value
    assert list(map(repr, found["floats"])) == list(map(repr, value["floats"]))
    text = f'{{"namespace": ["a"], "key": "longer", "value": {{"n": {10**4_299}0}}}}'
    answer = acme.http.put(URL, content=text, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
