"""System checks: a server that would believe the wrong tokens does not start."""

import pytest

from tenants import checks
from tests.tenants.conftest import run_manage
from tests.tenants.issuer import jwk

SYMMETRIC = {"JWT_ALGORITHMS": "HS256", "JWT_SECRET": "s" * 32, "JWT_AUDIENCE": "a"}
ASYMMETRIC = {"JWT_ALGORITHMS": "RS256,ES256", "JWT_JWKS_URL": "https://i.example/jwks", "JWT_AUDIENCE": "a"}
PEM = "-----BEGIN PUBLIC KEY-----\n" + "A" * 64 + "\n-----END PUBLIC KEY-----"

CASES = {
    "off": ({}, None),
    "off, with remains": ({"JWT_SECRET": "short", "JWT_JWKS_URL": "x"}, None),
    "a secret": (SYMMETRIC, None),
    "published keys": (ASYMMETRIC, None),
    "published keys and a secret that nothing uses": (ASYMMETRIC | {"JWT_SECRET": "s"}, None),
    "every symmetric one": (
        SYMMETRIC | {"JWT_ALGORITHMS": "HS256,HS384,HS512", "JWT_SECRET": "s" * 64},
        None,
    ),
    "every asymmetric one": (
        ASYMMETRIC | {"JWT_ALGORITHMS": "RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA"},
        None,
    ),
    "none": (SYMMETRIC | {"JWT_ALGORITHMS": "none"}, "E006"),
    "none among others": (SYMMETRIC | {"JWT_ALGORITHMS": "HS256,none"}, "E006"),
    "an unknown one": (SYMMETRIC | {"JWT_ALGORITHMS": "HS1"}, "E006"),
    "lower case": (SYMMETRIC | {"JWT_ALGORITHMS": "hs256"}, "E006"),
    "a rare one": (ASYMMETRIC | {"JWT_ALGORITHMS": "ES256K"}, "E006"),
    "both kinds": (SYMMETRIC | ASYMMETRIC | {"JWT_ALGORITHMS": "HS256,RS256"}, "E007"),
    "both kinds without published keys": (SYMMETRIC | {"JWT_ALGORITHMS": "HS256,RS256"}, "E007"),
    "a secret with published keys": (SYMMETRIC | {"JWT_JWKS_URL": "https://i.example/jwks"}, "E007"),
    "published keys for a secret's": (ASYMMETRIC | {"JWT_ALGORITHMS": "HS256"}, "E007"),
    "no secret": (SYMMETRIC | {"JWT_SECRET": ""}, "E008"),
    "a short secret": (SYMMETRIC | {"JWT_SECRET": "s" * 31}, "E008"),
    "one that is short for HS384": (SYMMETRIC | {"JWT_ALGORITHMS": "HS256,HS384"}, "E008"),
    "one that is short for HS512": (
        SYMMETRIC | {"JWT_ALGORITHMS": "HS512", "JWT_SECRET": "s" * 63},
        "E008",
    ),
    "a public key for a secret": (SYMMETRIC | {"JWT_SECRET": PEM}, "E008"),
    "a JWK for a secret": (SYMMETRIC | {"JWT_SECRET": str(jwk("r")).replace("'", '"')}, "E008"),
    "no audience": (SYMMETRIC | {"JWT_AUDIENCE": ""}, "E009"),
    "no audience either": (ASYMMETRIC | {"JWT_AUDIENCE": ""}, "E009"),
    "no address": (ASYMMETRIC | {"JWT_JWKS_URL": ""}, "E010"),
    "an address that is none": (ASYMMETRIC | {"JWT_JWKS_URL": "i.example/jwks"}, "E010"),
    "a file": (ASYMMETRIC | {"JWT_JWKS_URL": "file:///etc/passwd"}, "E010"),
    "an address without a host": (ASYMMETRIC | {"JWT_JWKS_URL": "https:///jwks"}, "E010"),
    "an address that is no address": (ASYMMETRIC | {"JWT_JWKS_URL": "https://[::1/jwks"}, "E010"),
    "an address on the way to which keys can be changed": (
        ASYMMETRIC | {"JWT_JWKS_URL": "http://i.example/jwks"},
        "E010",
    ),
    "another machine's address": (ASYMMETRIC | {"JWT_JWKS_URL": "http://10.0.0.1/jwks"}, "E010"),
    "a name that begins like this machine's": (
        ASYMMETRIC | {"JWT_JWKS_URL": "http://localhost.i.example/jwks"},
        "E010",
    ),
    "a user who is called like this machine": (
        ASYMMETRIC | {"JWT_JWKS_URL": "http://127.0.0.1@i.example/jwks"},
        "E010",
    ),
    "this machine": (ASYMMETRIC | {"JWT_JWKS_URL": "http://127.0.0.1:8080/jwks"}, None),
    "this machine by name": (ASYMMETRIC | {"JWT_JWKS_URL": "http://LOCALHOST/jwks"}, None),
    "this machine in IPv6": (ASYMMETRIC | {"JWT_JWKS_URL": "http://[::1]:8080/jwks"}, None),
    "keys that age before they are refreshed": (ASYMMETRIC | {"JWKS_MAX_AGE_SECONDS": 299}, "E011"),
}


@pytest.mark.parametrize(("values", "expected"), CASES.values(), ids=CASES)
def test_a_combination_that_cannot_be_right_is_told(values, expected, settings):
    for name in ("JWT_SECRET", "JWT_JWKS_URL", "JWT_AUDIENCE"):
        setattr(settings, name, values.get(name, ""))
    settings.JWT_ALGORITHMS = [word for word in values.get("JWT_ALGORITHMS", "").split(",") if word]
    settings.JWKS_MAX_AGE_SECONDS = values.get("JWKS_MAX_AGE_SECONDS", 3_600)
    found = {message.id for message in checks.tokens_are_verified(None)}
    assert found == ({f"tenants.{expected}"} if expected else set())


def test_the_secret_is_not_told(settings):
    settings.JWT_ALGORITHMS, settings.JWT_SECRET = ["HS256"], "a-short-secret"
    assert "a-short-secret" not in str(checks.tokens_are_verified(None))


def test_every_command_refuses_to_run_then(other_stores, tmp_path):
    base = other_stores.environment()
    done = run_manage("create_tenant", "acme", environment=base | SYMMETRIC | {"JWT_AUDIENCE": ""})
    assert done.returncode == 1
    assert "tenants.E009" in done.stderr
    secret = tmp_path / "secret"
    secret.write_text("short\n")
    from_file = {**SYMMETRIC, "JWT_SECRET": "", "JWT_SECRET_FILE": str(secret)}
    done = run_manage("create_tenant", "acme", environment=base | from_file)
    assert done.returncode == 1
    assert "tenants.E008" in done.stderr
