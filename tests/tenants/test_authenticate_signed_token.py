"""Tokens that published keys have signed; and that nothing else can pass for one of these keys."""

import json

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tenants import jwks
from tenants.errors import Unauthenticated
from tenants.tokens import authenticate_token
from tests.tenants.issuer import (
    SECRET,
    base64url,
    claims_of,
    jwk,
    private_key,
    raw_token,
    signed_token,
    token,
)


@pytest.mark.parametrize(
    ("key_id", "algorithm"), [("r", "RS256"), ("r", "PS256"), ("e", "ES256"), ("o", "EdDSA")]
)
def test_a_token_that_a_published_key_has_signed_is_let_in(key_id, algorithm, acme_tenant, published_keys):
    caller = authenticate_token(signed_token(acme_tenant.id, key_id, algorithm))
    assert (caller.tenant_id, caller.user_id) == (acme_tenant.id, "ann")


def test_a_published_key_is_not_taken_for_the_secret(acme_tenant, published_keys, settings, reason):
    """Whoever knows the public key could otherwise sign with it."""
    public = private_key("r", "RSA").public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    forged = [
        raw_token({"alg": "HS256", "kid": "r"}, claims_of(acme_tenant.id), secret)
        for secret in (pem, pem.strip(), json.dumps(jwk("r")), jwk("r")["n"], "")
    ]
    assert {reason(text) for text in forged} == {"algorithm"}
    # Not even where the settings were wrong, which the system checks refuse.
    settings.JWT_ALGORITHMS, settings.JWT_SECRET = ["RS256", "HS256"], SECRET
    assert {reason(text) for text in forged} == {"algorithm"}
    assert reason(token(acme_tenant.id)) == "algorithm"
    jwks.key_set().stop()


def test_a_published_secret_opens_nothing(acme_tenant, published_keys, reason):
    encoded = base64url(SECRET.encode()).decode()
    published_keys.keys.append({"kty": "oct", "k": encoded, "kid": "s", "use": "sig", "alg": "HS256"})
    for algorithm in ("HS256", "RS256"):
        text = raw_token({"alg": algorithm, "kid": "s"}, claims_of(acme_tenant.id))
        assert reason(text) in ("algorithm", "unknown_key")


def test_with_a_secret_an_asymmetric_token_opens_nothing(acme_tenant, shared_secret, reason):
    assert reason(signed_token(acme_tenant.id, "r")) == "algorithm"


def test_another_key_of_the_same_id_opens_nothing(acme_tenant, published_keys, reason):
    forged = jwt.encode(
        claims_of(acme_tenant.id),
        rsa.generate_private_key(public_exponent=65_537, key_size=2048),
        "RS256",
        headers={"kid": "r"},
    )
    assert reason(forged) == "signature"


def test_a_key_that_the_token_brings_along_is_not_believed(acme_tenant, published_keys, reason):
    own = jwk("own")
    headers = {
        "kid": "own",
        "jwk": own,
        "jku": "https://evil.example/jwks.json",
        "x5u": "https://evil.example",
    }
    text = jwt.encode(claims_of(acme_tenant.id), private_key("own", "RSA"), "RS256", headers=headers)
    assert reason(text) == "unknown_key"


def test_a_token_without_a_key_id_or_with_an_unknown_one_is_refused(acme_tenant, published_keys, reason):
    assert reason(signed_token(acme_tenant.id, "unknown")) == "unknown_key"
    bare = jwt.encode(claims_of(acme_tenant.id), private_key("r", "RSA"), "RS256")
    assert reason(bare) == "no_kid"


def test_a_short_rsa_key_opens_nothing(acme_tenant, published_keys, reason):
    weak = rsa.generate_private_key(public_exponent=65_537, key_size=1024)
    published = jwt.algorithms.RSAAlgorithm.to_jwk(weak.public_key(), as_dict=True)
    published_keys.keys.append({**published, "kid": "weak", "key_ops": ["verify"]})
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        text = jwt.encode(claims_of(acme_tenant.id), weak, "RS256", headers={"kid": "weak"})
    assert reason(text) == "key"


def test_the_log_tells_key_and_tenant_when_they_are_printable(acme_tenant, published_keys, caplog):
    def told(text: str) -> dict[str, str]:
        caplog.clear()
        with pytest.raises(Unauthenticated):
            authenticate_token(text)
        return next(record.fields for record in caplog.records if record.name == "tenants.tokens")

    assert told(signed_token(acme_tenant.id, "unknown")) == {"reason": "unknown_key", "kid": "unknown"}
    assert told(signed_token("nobody", "r")) == {"reason": "unknown_tenant", "token_tenant": "nobody"}
    for sly in ("a\nb", "a b", "ü", "x" * 200):
        assert told(signed_token(acme_tenant.id, sly)) == {"reason": "unknown_key"}
        assert told(signed_token(sly, "r")).keys() == {"reason"}
