"""Listing the namespaces that hold items."""

from tests.store.items import delete, namespaces, put

HELD = [
    ["a"],
    ["a", "b", "c"],
    ["a", "b", "d"],
    ["a", "x", "c"],
    ["ab", "b"],
    ["users", "ana", "notes"],
    ["users", "bob", "notes"],
    ["users", "bob", "notes", "old"],
]


def fill(member):
    for namespace in HELD:
        put(member, namespace, "one", {"x": 1})
        put(member, namespace, "two", {"x": 1})


def where(*conditions):
    return [{"match_type": match_type, "path": list(path)} for match_type, *path in conditions]


def test_each_is_listed_once_in_order_and_in_pages(acme):
    fill(acme)
    assert namespaces(acme) == HELD
    assert namespaces(acme, limit=2, offset=3) == HELD[3:5]
    delete(acme, ["a"], "one")
    assert namespaces(acme) == HELD
    delete(acme, ["a"], "two")
    assert namespaces(acme) == HELD[1:]


def test_a_depth_cuts_them_off_and_leaves_each_once(acme):
    fill(acme)
    assert namespaces(acme, max_depth=1) == [["a"], ["ab"], ["users"]]
    assert namespaces(acme, max_depth=2) == [
        ["a"],
        ["a", "b"],
        ["a", "x"],
        ["ab", "b"],
        ["users", "ana"],
        ["users", "bob"],
    ]
    assert namespaces(acme, max_depth=2, limit=2, offset=1) == [["a", "b"], ["a", "x"]]


def test_conditions_go_by_labels(acme):
    fill(acme)
    assert namespaces(acme, match_conditions=where(("prefix", "a"))) == HELD[:4]
    assert namespaces(acme, match_conditions=where(("prefix", "a", "*", "c"))) == [HELD[1], HELD[3]]
    assert namespaces(acme, match_conditions=where(("prefix", "*", "b"))) == [HELD[1], HELD[2], HELD[4]]
    assert namespaces(acme, match_conditions=where(("suffix", "notes"))) == [HELD[5], HELD[6]]
    assert namespaces(acme, match_conditions=where(("suffix", "bob", "*"))) == [HELD[6]]
    both = where(("prefix", "users"), ("suffix", "old"))
    assert namespaces(acme, match_conditions=both) == [HELD[7]]
    assert namespaces(acme, match_conditions=where(("prefix",), ("suffix",))) == HELD
    assert namespaces(acme, match_conditions=where(("prefix", "a", "b", "c", "d"))) == []
    assert namespaces(acme, match_conditions=where(("prefix", "users")), max_depth=1) == [["users"]]


def test_they_are_those_of_one_owner(acme):
    put(acme, ["mine"], "k", {}, user_id="ana")
    put(acme, ["theirs"], "k", {}, user_id="bob")
    assert namespaces(acme, user_id="ana") == [["mine"]]
    assert namespaces(acme.with_key(user_id="bob")) == [["theirs"]]
    assert namespaces(acme) == []
