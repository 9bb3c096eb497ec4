"""Observations: saving one, searching, and the context of a turn, at several sizes; and a crowd of writers
and readers that must lose nothing.

Half of the questions are natural ones, half are two words. Each asks about other words, so that nothing is
answered from a memory of the same question.
"""

import argparse
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import quote_plus

import httpx

from memoryproject.embedded import programs
from tests.benchmarks import load, table
from tests.benchmarks.figures import Figures, best_of, summarise
from tests.benchmarks.floors import Call, clock, measure, unique_id
from tests.benchmarks.load import Request
from tests.benchmarks.notes import Language, seed_observations
from tests.benchmarks.stage import Stage
from tests.benchmarks.web import start_default

QUESTIONS = 400
WRITERS = READERS = 8


@dataclass(frozen=True, slots=True)
class Size:
    """So many observations in so many projects of one tenant."""

    count: int
    projects: int

    @property
    def title(self) -> str:
        return f"{self.count:,} in {self.projects}"


SIZES = (Size(10_000, 1), Size(100_000, 1), Size(100_000, 200))


def report(place: Stage, options: argparse.Namespace) -> dict[str, object]:
    """Per size and case the served figures and the floor's; then what became of the crowd."""
    figures: dict[str, object] = {}
    table.head()
    for size in SIZES:
        tenant_id = place.members[0].tenant_id
        seed_observations(place.superuser_url, tenant_id, count=size.count, projects=size.projects)
        web = start_default(place.environment, place.log)
        try:
            for name, (requests, floor) in _cases(place, size).items():
                load.send(web.url, requests[0])
                for clients in (1, 8):
                    served, bare = _measure(web.url, requests, floor, clients, options)
                    table.row(f"{name}, {size.title}", clients, served, bare)
                    figures[f"{name}/{size.count}/{size.projects}/{clients}"] = {
                        "served": served,
                        "floor": bare,
                    }
        finally:
            web.stop()
    return figures


def crowd(place: Stage, *, seconds: int = 60) -> dict[str, object]:
    """8 writers and 8 readers at once, with the worker that embeds: how many writes were answered, how many
    of these are missing, and the errors."""
    tenant_id, key = place.members[0].tenant_id, place.members[0].key
    seed_observations(place.superuser_url, tenant_id, count=10_000, projects=1)
    web = start_default(place.environment, place.log)
    worker = programs.worker(log=place.home / "crowd.log", env=place.environment)
    worker.start()
    try:
        return _crowd(web.url, key, seconds)
    finally:
        worker.stop()
        web.stop()


def _cases(place: Stage, size: Size) -> dict[str, tuple[list[Request], Call]]:
    language, key = Language(11), place.members[0].key
    texts = [language.question() for _ in range(QUESTIONS)]
    texts = [text if number % 2 else " ".join(text.split()[-2:]) for number, text in enumerate(texts)]
    project = [f"project-{number % size.projects}" for number in range(QUESTIONS)]
    asked = [f"project={name}&{{}}={quote_plus(text)}" for name, text in zip(project, texts, strict=True)]
    saves = [
        {"session_id": "bench", "type": "decision", "title": language.text(6),
         "content": f"@@ {language.text(60)}", "project": name}
        for name in project
    ]  # fmt: skip
    return {
        "save": ([Request("POST", "/observations", key, one) for one in saves], _save_floor(place, saves)),
        "search": (
            [Request("GET", f"/search?{one.format('q')}", key) for one in asked],
            _find_floor(place, project, texts, meaning=False),
        ),
        "context": (
            [Request("GET", f"/context?{one.format('query')}", key) for one in asked],
            _find_floor(place, project, texts, meaning=True),
        ),
    }


def _measure(
    url: str, requests: list[Request], floor: Call, clients: int, options: argparse.Namespace
) -> tuple[Figures, Figures]:
    load.run(url, requests, clients=clients, seconds=max(2, options.seconds // 2))  # warms the statistics
    measure(floor, clients=clients, seconds=0.5)
    served, floors = [], []
    for _ in range(options.repeat):
        served.append(load.run(url, requests, clients=clients, seconds=options.seconds))
        floors.append(measure(floor, clients=clients, seconds=options.seconds / 2))
    return best_of(served), best_of(floors)


def _save_floor(place: Stage, saves: list[dict[str, str]]) -> Call:
    """The bare rows in one scope: no session, no search for duplicates, no job."""
    from observations import querysets
    from observations.lexemes import index_text, mark_of
    from observations.models import Observation
    from tenants.scope import scope

    tenant_id = place.members[0].tenant_id

    def call(number: int) -> object:
        one, now = saves[number % len(saves)], clock()
        content = f"{unique_id()} {one['content']}"
        row = Observation(
            tenant_id=tenant_id, project=one["project"], session="floor", type="decision", title=one["title"],
            content=content, normalized_hash="0" * 64, created_at=now, updated_at=now, embed_pending=False,
        )  # fmt: skip
        text = index_text([row.title, content, "", "decision"], mark_of(tenant_id, row.project))
        with scope(tenant_id):
            row.save(force_insert=True)
            querysets.write_entry(row, text)
        return row

    return call


def _find_floor(place: Stage, projects: list[str], texts: list[str], *, meaning: bool) -> Call:
    """One statement for the words, or the embedding and one for the vector: what each cannot do without."""
    from lexical.analysis import analyse, is_stop_word
    from lexical.matching import any_or_two
    from observations import querysets
    from observations.lexemes import mark_of
    from observations.types import ObservationFilter
    from providers.embeddings import get_embedder
    from tenants.scope import scope

    tenant_id = place.members[0].tenant_id

    def by_words(number: int) -> object:
        mark = mark_of(tenant_id, projects[number % len(projects)])
        words = [one for one in analyse(texts[number % len(texts)]) if not is_stop_word(one)]
        wanted = any_or_two(words[:1], words[1:], mark)
        with scope(tenant_id):
            return querysets.find(
                wanted=wanted, terms=[wanted], weights=[1.0], mean_length=60, most=10,
                corpora=[projects[number % len(projects)]], where=ObservationFilter(),
            )  # fmt: skip

    def by_meaning(number: int) -> object:
        embedder = get_embedder()
        vector = embedder.embed([texts[number % len(texts)]])[0]
        with scope(tenant_id):
            return querysets.nearest(
                tenant_id=tenant_id, model=embedder.model, query=vector, limit=5, exact=False,
                corpora=[projects[number % len(projects)]], where=ObservationFilter(),
            )  # fmt: skip

    return by_meaning if meaning else by_words


def _crowd(url: str, key: str, seconds: int) -> dict[str, object]:
    language, errors = Language(13), []
    texts = [language.text(60) for _ in range(200)]
    questions = [language.question() for _ in range(200)]
    saved: list[list[int]] = [[] for _ in range(WRITERS)]
    latencies: dict[str, list[float]] = {"save": [], "context": []}
    end, lock = time.monotonic() + seconds, threading.Lock()

    def send(kind: str, client: httpx.Client, **request: object) -> httpx.Response:
        began = time.perf_counter()
        answer = client.request(**request)  # type: ignore[arg-type]
        with lock:
            latencies[kind].append((time.perf_counter() - began) * 1000)
            if not answer.is_success:
                errors.append(f"{answer.status_code} {answer.text[:100]}")
        return answer

    def write(number: int) -> None:
        with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=30) as client:
            while time.monotonic() < end:
                body = {
                    "session_id": f"crowd-{number}", "type": "bugfix", "title": f"crowd {number}",
                    "content": f"{unique_id()} {texts[len(saved[number]) % 200]}", "project": "project-0",
                }  # fmt: skip
                answer = send("save", client, method="POST", url="/observations", json=body)
                if answer.is_success:
                    saved[number].append(answer.json()["id"])

    def read(number: int) -> None:
        with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=30) as client:
            asked = number
            while time.monotonic() < end:
                asked += 1
                query = {"project": "project-0", "query": questions[asked % 200]}
                send("context", client, method="GET", url="/context", params=query)

    with ThreadPoolExecutor(WRITERS + READERS) as pool:
        done = [pool.submit(write, n) for n in range(WRITERS)] + [
            pool.submit(read, n) for n in range(READERS)
        ]
        for one in done:
            one.result()
    ids = {one for own in saved for one in own}
    with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=30) as client:
        lost = [one for one in ids if client.get(f"/observations/{one}").status_code != 200]
    found: dict[str, object] = {"writes": len(ids), "lost": len(lost), "errors": len(errors)}
    print(f"crowd, {WRITERS} writers and {READERS} readers, {seconds} s: {found} {errors[:3]}")
    for kind, times in latencies.items():
        figures = summarise(times, seconds=seconds, clients=WRITERS)
        print(
            f"  {kind}: p50 {figures.p50:.1f} ms, p99 {figures.p99:.1f} ms, {figures.rate:.0f}/s", flush=True
        )
        found[kind] = figures
    return found
