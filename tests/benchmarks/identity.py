"""What it costs to know who is calling: a cached key beside its floor, and tokens, each verified anew.

No percentiles: a check takes a microsecond, and what a busy machine adds to one in a hundred is not its own.
"""

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import asdict

from tests.benchmarks import ams
from tests.benchmarks.figures import best_of
from tests.benchmarks.floors import Call, measure
from tests.benchmarks.stage import Stage
from tests.tenants import issuer

ROW = "{:44} {:>8} {:>10}"


def report(place: Stage, *, seconds: float, repeat: int) -> dict[str, dict[str, float]]:
    """Prints and returns the figures of one caller, in-process, in microseconds."""
    print(ROW.format("microseconds per check, one thread", "p50", "checks/s"))
    figures = {}
    for name, prepare in CHECKS.items():
        call = prepare(place)
        measure(call, clients=1, seconds=0.5)
        best = best_of([measure(call, clients=1, seconds=seconds / 4) for _ in range(repeat)])
        print(ROW.format(name, f"{best.p50 * 1000:.1f}", f"{best.rate:,.0f}"), flush=True)
        figures[name] = asdict(best)
    return figures


def _hash_and_compare(place: Stage) -> Call:
    keys = [member.key.split("_", 2)[2] for member in place.members]
    known = [hashlib.sha256(secret.encode()).hexdigest() for secret in keys]

    def call(number: int) -> object:
        at = number % len(keys)
        return hmac.compare_digest(known[at], hashlib.sha256(keys[at].encode()).hexdigest())

    return call


def _cached_key(place: Stage) -> Call:
    from tenants.api_keys import authenticate

    keys = [member.key for member in place.members]
    return lambda number: authenticate(keys[number % len(keys)])


def _token(algorithm: str, key_id: str = "", kind: str = "RSA") -> Callable[[Stage], Call]:
    def prepare(place: Stage) -> Call:
        from django.conf import settings

        from tenants.tokens import authenticate_token

        settings.JWT_ALGORITHMS, settings.JWT_SECRET, settings.JWT_JWKS_URL = [algorithm], issuer.SECRET, ""
        settings.JWT_AUDIENCE, settings.JWT_ISSUER = issuer.AUDIENCE, issuer.ISSUER
        end = time.time() + 3_600
        if key_id:
            server = issuer.JwksServer()
            server.keys = [issuer.jwk(key_id, kind)]
            settings.JWT_JWKS_URL = server.url
        tokens = [
            issuer.signed_token(member.tenant_id, key_id, algorithm, exp=end)
            if key_id
            else issuer.token(member.tenant_id, algorithm=algorithm, exp=end)
            for member in place.members
        ]
        return lambda number: authenticate_token(tokens[number % len(tokens)])

    return prepare


CHECKS: dict[str, Callable[[Stage], Call]] = {
    "floor of a key: SHA-256 and comparison": _hash_and_compare,
    "key, its record cached": _cached_key,
    "token, HS256": _token("HS256"),
    "token, RS256, its key cached": _token("RS256", "rsa"),
    "token, ES256, its key cached": _token("ES256", "ec", "EC"),
    "key, its record read from PostgreSQL": ams.key_lookup,  # the last: it switches the cache off
}
