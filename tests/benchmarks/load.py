"""The load generator, wrk, and prepared requests for it."""

import json
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.benchmarks.figures import Figures

SCRIPT = Path(__file__).with_name("replay.lua")
RESULT = re.compile(r"^RESULT (\d+) (\d+) (\d+) ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Request:
    """One request; `@@` in the body stands for an id that is new each time."""

    method: str
    path: str
    key: str
    body: object = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}

    @property
    def text(self) -> str:
        return "" if self.body is None else json.dumps(self.body)


def need_wrk() -> None:
    """Ends the program with a sentence when wrk is not installed."""
    if shutil.which("wrk") is None:
        sys.exit("The benchmarks need the load generator wrk. On Debian and Ubuntu: apt-get install wrk")


def send(url: str, request: Request, unique: str = "once") -> httpx.Response:
    """The answer to one request. Ends the program when it is no success."""
    answer = httpx.request(
        request.method, url + request.path, headers=request.headers, timeout=60,
        content=request.text.replace("@@", f"{unique}-{secrets.token_hex(6)}") or None,
    )  # fmt: skip
    if not answer.is_success:
        sys.exit(f"{request.method} {request.path} answered {answer.status_code}: {answer.text[:300]}")
    return answer


def run(url: str, requests: Sequence[Request], *, clients: int, seconds: int) -> Figures:
    """Sends the requests in turn from `clients` connections. Ends the program if any failed."""
    with tempfile.TemporaryDirectory(prefix="strata-bench-") as folder:
        table = Path(folder) / "requests.lua"
        table.write_text(_lua(url, requests))
        done = subprocess.run(
            ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "30s", "-s", str(SCRIPT), url,
             "--", str(table), secrets.token_hex(6) + "-"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    found = RESULT.search(done.stdout)
    if found is None:
        sys.exit(f"wrk did not run: {done.stdout}{done.stderr}")
    count, microseconds, failed = (int(part) for part in found.groups()[:3])
    if failed or not count:
        sys.exit(f"{failed} of {count} requests to {requests[0].path} failed; no figures.")
    p50, p95, p99, longest = (float(part) / 1000 for part in found.groups()[3:])
    return Figures(p50, p95, p99, count / (microseconds / 1_000_000), longest)


def _lua(url: str, requests: Sequence[Request]) -> str:
    """The requests as a Lua table: ready to send, or in parts where the body has a `@@`."""
    return "return {\n" + "".join(_entry(url, request) for request in requests) + "}\n"


def _entry(url: str, request: Request) -> str:
    body = request.text
    if "@@" in body:
        headers = "".join(f"[{_quoted(k)}]={_quoted(v)}," for k, v in request.headers.items())
        return (
            f"{{unique=true,method={_quoted(request.method)},path={_quoted(request.path)},"
            f"headers={{{headers}}},body={_quoted(body)}}},\n"
        )
    head = [
        f"{request.method} {request.path} HTTP/1.1",
        f"Host: {url.partition('//')[2]}",
        f"Content-Length: {len(body.encode())}",
        *(f"{name}: {value}" for name, value in request.headers.items()),
    ]
    return f"{{text={_quoted(_lines(head) + body)}}},\n"


def _lines(head: Sequence[str]) -> str:
    return "\r\n".join(head) + "\r\n\r\n"


def _quoted(text: str) -> str:
    """A Lua string; JSON's escapes are not Lua's, so every byte that is not plain goes by number."""
    plain = range(32, 127)
    quoted = (
        chr(byte) if byte in plain and chr(byte) not in '"\\' else f"\\{byte:03d}" for byte in text.encode()
    )
    return '"' + "".join(quoted) + '"'
