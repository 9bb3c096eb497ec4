"""An issuer of tokens: its keys, the tokens it signs, and the address at which it publishes the keys."""

import base64
import hashlib
import hmac
import json
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

SECRET = "a secret of the tests that is long enough for HS256"
AUDIENCE, ISSUER = "strata-tests", "https://issuer.example"


@cache
def private_key(key_id: str, kind: str) -> Any:
    """The same for the same id: making them takes a while."""
    if kind == "RSA":
        return rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    return ec.generate_private_key(ec.SECP256R1()) if kind == "EC" else ed25519.Ed25519PrivateKey.generate()


def jwk(key_id: str, kind: str = "RSA", **fields: Any) -> dict[str, Any]:
    """The public half, as an issuer publishes it."""
    algorithm = {"RSA": RSAAlgorithm, "EC": ECAlgorithm, "OKP": OKPAlgorithm}[kind]
    public = algorithm.to_jwk(private_key(key_id, kind).public_key(), as_dict=True)
    public.pop("key_ops", None)
    return {**public, "kid": key_id, "use": "sig", **fields}


def claims_of(tenant: object, **claims: Any) -> dict[str, Any]:
    """Claims of ann, who may read and write; a claim given as None is left out."""
    now = int(time.time())
    made = {
        "tenant_id": str(tenant), "sub": "ann", "scope": "read write", "aud": AUDIENCE, "iss": ISSUER,
        "iat": now, "nbf": now, "exp": now + 600, **claims,
    }  # fmt: skip
    return {name: value for name, value in made.items() if value is not None}


def token(tenant: object, *, secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    """A token that is signed with the secret."""
    return jwt.encode(claims_of(tenant, **claims), secret, algorithm)


def signed_token(tenant: object, key_id: str, algorithm: str = "RS256", **claims: Any) -> str:
    """A token that is signed with the private key of that id."""
    kind = {"E": "OKP" if algorithm == "EdDSA" else "EC"}.get(algorithm[0], "RSA")
    key = private_key(key_id, kind)
    return jwt.encode(claims_of(tenant, **claims), key, algorithm, headers={"kid": key_id})


def raw_token(header: object, payload: object, secret: str = SECRET) -> str:
    """What no library would sign."""
    parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, payload)]
    signed = b".".join(map(base64url, parts))
    return (signed + b"." + base64url(hmac.new(secret.encode(), signed, hashlib.sha256).digest())).decode()


def base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class JwksServer:
    """A real HTTP server that publishes keys, and can be told to be slow, wrong or gone."""

    def __init__(self) -> None:
        self.keys: list[Any] = []
        self.body: bytes | None = None  # instead of the keys
        self.status, self.headers, self.delay, self.drip = 200, {}, 0.0, 0.0
        self.asked = self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self._port = 0
        self.start()
        self.url = f"http://127.0.0.1:{self._port}/jwks.json"

    def start(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, *args: object) -> None:
                """Nobody reads it."""

        class Server(ThreadingHTTPServer):
            def handle_error(self, *args: object) -> None:
                """Clients that went away are what some tests are about."""

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.asked += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(self.delay)
            self._send(request)
        finally:
            with self._lock:
                self.at_once -= 1

    def _send(self, request: BaseHTTPRequestHandler) -> None:
        body = json.dumps({"keys": self.keys}).encode() if self.body is None else self.body
        request.send_response(self.status)
        for name, value in {"Content-Type": "application/json", **self.headers}.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        drip = self.drip  # what begins so goes on so
        if not drip:
            request.wfile.write(body)
            return
        for position in range(len(body)):
            request.wfile.write(body[position : position + 1])
            time.sleep(drip)
