"""A small server with the part of the native API that a replay uses, on a real socket."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

PAGE = 7  # small, so that listings need several pages
Answer = tuple[int, dict[str, str], Any]


@dataclass
class FakeStrata:
    """What the server holds, what it was asked, and how it misbehaves."""

    url: str = ""
    api_key: str = "mem_test_key"
    turns: dict[str, dict[str, Any]] = field(default_factory=dict)  # session id -> turn id -> turn
    episodes: list[dict[str, Any]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    rank: Callable[[str, list[str]], list[float]] = lambda _query, texts: [
        -float(i) for i in range(len(texts))
    ]
    planned: dict[str, list[Answer]] = field(default_factory=dict)  # call -> answers given instead, in order
    cut_after: int | None = None  # calls until every connection is dropped without an answer
    lose_answers: set[str] = field(
        default_factory=set
    )  # calls that are carried out and then answered with 503
    looks_until_embedded: int = 0

    def answer(self, method: str, path: str, query: dict[str, str], body: Any, key: str) -> Answer:
        self.calls.append(f"{method} {path}")
        if key != f"Bearer {self.api_key}":
            return 401, {}, {"title": "Unauthorized", "status": 401, "detail": "This key is not known."}
        kind = f"{method} {path.rsplit('/', 1)[-1]}"
        if self.planned.get(kind):
            return self.planned[kind].pop(0)
        answer = getattr(self, f"{method.lower()}_{path.rsplit('/', 1)[-1]}")(path, query, body)
        if kind in self.lose_answers:
            self.lose_answers.remove(kind)
            return 503, {"Retry-After": "0"}, {"title": "Busy", "status": 503}
        return 200, {}, answer

    def post_turns(self, path: str, _query: dict[str, str], body: Any) -> Any:
        known = self.turns.setdefault(path.split("/")[-2], {})
        fresh = {turn["id"]: turn for turn in body["turns"] if turn["id"] not in known}
        known.update(fresh)
        return {
            "accepted": len(fresh),
            "duplicates": len(body["turns"]) - len(fresh),
            "turn_count": len(known),
        }

    def post_episodes(self, _path: str, _query: dict[str, str], body: Any) -> Any:
        self.episodes.append({**body, "id": str(len(self.episodes)), "embedded": True})
        return self.episodes[-1]

    def post_end(self, path: str, query: dict[str, str], _body: Any) -> Any:
        session = path.split("/")[-2]
        summary = {
            "text": "A summary.",
            "session_id": session,
            "memory_type": "episodic",
            "agent_id": "replay",
        }
        stored = self.post_episodes("", {}, {**summary, "user_id": query["user_id"]})
        count = len(self.turns[session])
        return {"session_id": session, "summary": "…", "episode_id": stored["id"], "message_count": count}

    def get_episodes(self, _path: str, query: dict[str, str], _body: Any) -> Any:
        names = ("user_id", "agent_id", "memory_type")
        found = [one for one in self.episodes if all(one[name] == query[name] for name in names)]
        start = int(query.get("cursor", "0"))
        waiting = self.looks_until_embedded > 0 and bool(found)
        self.looks_until_embedded -= waiting
        page = [{**one, "embedded": not waiting} for one in found[start : start + PAGE]]
        return {"results": page, "next": str(start + PAGE) if start + PAGE < len(found) else None}

    def post_recall(self, _path: str, _query: dict[str, str], body: Any) -> Any:
        found = [one for one in self.episodes if one["user_id"] == body["user_id"]]
        found = [one for one in found if one["memory_type"] in body["memory_type"]]
        scores = self.rank(body["query"], [one["text"] for one in found])
        best = sorted(zip(scores, found, strict=True), key=lambda pair: -pair[0])[: body["top_k"]]
        results = [{**one, "kind": "episode", "score": score} for score, one in best]
        return {"results": results, "stages": [], "query_used": body["query"]}


@contextmanager
def running(fake: FakeStrata) -> Iterator[FakeStrata]:
    """Serve `fake` until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(fake: FakeStrata) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # keep-alive, as the real server has it
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if fake.cut_after is not None and len(fake.calls) >= fake.cut_after:
                self.close_connection = True
                return
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            key = self.headers.get("Authorization", "")
            path = unquote(parts.path.removeprefix("/api/v1"))
            status, headers, answer = fake.answer(self.command, path, query, json.loads(raw or "null"), key)
            self._send(status, headers, answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _serve

        def log_message(self, *_args: Any) -> None:
            pass

    return Handler
