"""What of a published set of keys is used, and what is passed over."""

import pytest
from jwt.algorithms import RSAAlgorithm

from tenants.jwks import SUITABLE, BadAnswer, parse_keys
from tests.tenants.issuer import jwk, private_key

RSA, EC, OKP = jwk("r"), jwk("e", "EC"), jwk("o", "OKP")
PRIVATE = {**RSAAlgorithm.to_jwk(private_key("r", "RSA"), as_dict=True), "kid": "r", "key_ops": ["verify"]}
ALL = tuple(SUITABLE)


def usable(*keys: object, algorithms: tuple[str, ...] = ALL) -> set[tuple[str, str]]:
    return set(parse_keys({"keys": list(keys)}, algorithms))


def test_a_key_serves_the_algorithms_of_its_type():
    rsa = {("r", name) for name in ALL if name[:2] in ("RS", "PS")}
    assert usable(RSA) == rsa
    assert usable(EC) == {("e", "ES256")}
    assert usable(OKP) == {("o", "EdDSA")}
    assert usable({**RSA, "crv": "P-256"}) == rsa  # which says nothing of such a key
    assert usable(RSA, EC, OKP) == rsa | {("e", "ES256"), ("o", "EdDSA")}


def test_a_key_that_names_its_algorithm_serves_no_other():
    assert usable({**RSA, "alg": "PS256"}) == {("r", "PS256")}
    assert usable({**EC, "alg": "ES384"}) == set()


def test_only_the_algorithms_asked_for_are_served():
    assert usable(RSA, EC, algorithms=("RS256",)) == {("r", "RS256")}
    assert usable(RSA, EC, OKP, algorithms=("HS256", "none")) == set()


def test_a_published_secret_is_no_key():
    secret = {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", "kid": "s", "use": "sig"}
    assert usable(secret, {**secret, "alg": "HS256"}, algorithms=(*ALL, "HS256", "HS384", "HS512")) == set()


@pytest.mark.parametrize("left_out", ["use", "alg"])
def test_what_a_key_need_not_say_it_may_leave_out(left_out):
    assert usable({name: value for name, value in RSA.items() if name != left_out})


PASSED_OVER = {
    "for encryption": {**RSA, "use": "enc"},
    "for another operation": {**RSA, "key_ops": ["encrypt"]},
    "operations that are none": {**RSA, "key_ops": "verify"},
    "without an id": {name: value for name, value in RSA.items() if name != "kid"},
    "an empty id": {**RSA, "kid": ""},
    "a number for an id": {**RSA, "kid": 7},
    "private": PRIVATE,
    "of no type": {name: value for name, value in RSA.items() if name != "kty"},
    "of an unknown type": {**RSA, "kty": "LWE"},
    "a list for a type": {**RSA, "kty": ["RSA"]},
    "without a modulus": {name: value for name, value in RSA.items() if name != "n"},
    "a number for a modulus": {**RSA, "n": 7},
    "a broken modulus": {**RSA, "n": "!!"},
    "an even exponent": {**RSA, "e": "Ag"},
    "a point off the curve": {**EC, "x": EC["y"]},
    "another curve": {**EC, "crv": "P-384"},
    "an unknown curve": {**EC, "crv": "P-1"},
    "a list for an algorithm": {**RSA, "alg": ["RS256"]},
    "text": "key",
    "null": None,
    "a list": [RSA],
}


@pytest.mark.parametrize("key", PASSED_OVER.values(), ids=PASSED_OVER)
def test_what_cannot_be_used_is_passed_over_and_harms_no_other(key):
    assert usable(key) == set()
    assert usable(key, OKP) == usable(OKP, key) == {("o", "EdDSA")}


@pytest.mark.parametrize("document", [None, [], "keys", 7, {}, {"keys": None}, {"keys": {"r": RSA}}])
def test_what_is_no_set_of_keys_is_told(document):
    with pytest.raises(BadAnswer):
        parse_keys(document, ALL)


def test_an_empty_set_is_one():
    assert parse_keys({"keys": []}, ALL) == {}


def test_of_two_keys_with_one_id_and_type_the_first_counts():
    found = parse_keys({"keys": [jwk("a"), {**jwk("b"), "kid": "a"}]}, ("RS256",))
    first = private_key("a", "RSA").public_key()
    assert found["a", "RS256"].key.public_numbers() == first.public_numbers()
