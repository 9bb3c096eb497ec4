"""How far a key reaches."""

from uuid import uuid4

import pytest

from tenants.caller import SCOPES, Caller
from tenants.errors import Forbidden

KINDS = pytest.mark.parametrize("kind", ["user", "agent", "project"])
ATTRIBUTES = {"user": "user_id", "agent": "agent_id", "project": "project"}


def caller(**bindings: str) -> Caller:
    return Caller(tenant_id=uuid4(), tenant="acme", key_id="k", scopes=frozenset({"read"}), **bindings)


def confine(kind: str, named: str | None, bound: str = "") -> str:
    return getattr(caller(**{ATTRIBUTES[kind]: bound}), f"confine_{kind}")(named)


@KINDS
def test_an_unbound_key_reaches_whatever_is_named(kind):
    assert confine(kind, "ann") == "ann"


@KINDS
@pytest.mark.parametrize("named", [None, ""])
def test_an_unbound_key_that_names_nothing_is_confined_to_nothing(kind, named):
    assert confine(kind, named) == ""


@KINDS
@pytest.mark.parametrize("named", [None, "", "ann"])
def test_a_bound_key_always_means_the_one_it_is_bound_to(kind, named):
    assert confine(kind, named, bound="ann") == "ann"


@KINDS
@pytest.mark.parametrize("named", ["bob", "Ann", "ann ", "ann\0", "%", "a\u0301nn"])
def test_a_bound_key_that_names_another_is_refused_even_if_it_looks_alike(kind, named):
    with pytest.raises(Forbidden, match=f"bound to another {kind}"):
        confine(kind, named, bound="ann")


def test_the_bindings_are_independent_of_each_other():
    bound = caller(user_id="ann")
    assert bound.confine_agent("bob") == "bob"
    assert bound.confine_project("bob") == "bob"


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_may_what_its_scopes_say_and_admin_everything(scope):
    def may(*scopes: str) -> bool:
        return Caller(uuid4(), "acme", "k", frozenset(scopes)).may(scope)

    assert may(scope)
    assert may("admin")
    assert not may()
    assert not may(*(set(SCOPES) - {scope, "admin"}))


@pytest.mark.parametrize(
    ("kind", "principal"),
    [
        ("key", "key:ann"),
        ("jwt", "jwt:ann"),
        ("service", "service:ann"),
        ("client", "client:ann"),
        ("member", "member:ann"),
        ("anonymous", "anonymous"),
    ],
)
def test_a_principal_says_who_calls_and_by_what(kind, principal):
    assert Caller(uuid4(), "acme", "ann", frozenset(), kind=kind).principal == principal


def test_nobody_can_take_the_name_of_an_anonymous_caller():
    for kind in ("key", "jwt", "service", "client", "member"):
        assert Caller(uuid4(), "acme", "anonymous", frozenset(), kind=kind).principal == f"{kind}:anonymous"


def test_a_long_name_fits_the_columns_and_is_still_one_persons():
    names = ["x" * 251, "x" * 252, "x" * 254 + "y", "x" * 255]
    principals = {Caller(uuid4(), "acme", name, frozenset(), kind="jwt").principal for name in names}
    assert len(principals) == len(names)
    assert max(map(len, principals)) <= 255
    hashed = next(one for one in principals if one.startswith("jwt#"))
    assert Caller(uuid4(), "acme", hashed[4:], frozenset(), kind="jwt").principal not in principals
