"""Where contenders meet: one PostgreSQL, one embedding model, a server of ours, databases for the peers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import psycopg

from memoryproject.replay.transcripts import Transcript
from tests.benchmarks.peers import environments
from tests.benchmarks.peers.contenders import Contender, Driven, Exact, PeerFailed, Strata
from tests.benchmarks.peers.embeddings import Endpoint, endpoint
from tests.benchmarks.peers.environments import NotInstalled
from tests.benchmarks.peers.measure import analyse
from tests.benchmarks.peers.report import RESAMPLES
from tests.benchmarks.peers.surroundings import product_version
from tests.benchmarks.stage import Stage, stage
from tests.benchmarks.web import start_default

PEERS = {"mem0": "mem0", "langgraph": "LangGraph"}
UNSEEN = "hybrid-loo"  # as `manage.py evaluate` calls it


@dataclass
class Arena:
    """Everything is up. `told` and `missing` fill as contenders are made."""

    place: Stage
    url: str  # of our server
    vectors: Endpoint
    pythons: Mapping[str, Path]  # by peer
    told: dict[str, dict[str, str]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)  # turns that our policy kept out, by round

    @contextmanager
    def contenders(self, name: str) -> Iterator[list[Contender]]:
        """All that can be had, with nothing in them yet."""
        with ExitStack() as stack:
            member = self.place.members[len(self.refused)]  # a tenant for each round
            ours = Strata(url=self.url, key=member.key, version=product_version())
            found: list[Contender] = [Exact(self.vectors.vectors)]
            found += filter(None, [self._peer(peer, name) for peer in self.pythons])
            found.append(ours)
            for one in found:
                stack.callback(one.close)
                self.told[one.name] = {"version": one.version, "setup": one.setup}
            yield found
            self.refused[name] = ours.refused

    def analyse(self, contenders: Sequence[Contender]) -> None:
        """Fresh statistics for every planner."""
        analyse([self.place.superuser_url, *(one.database for one in contenders if one.database)])

    def unseen(self, transcripts: Sequence[Transcript]) -> dict[str, Any]:
        """`hybrid` by weights that were fitted on the other conversations."""
        if len(transcripts) < 2:
            return {}
        from memoryproject.evaluation.evaluating import evaluate

        found = evaluate(
            transcripts,
            profiles=[UNSEEN],
            fit=False,
            resamples=RESAMPLES,
            progress=lambda _unit, _total: nullcontext(SimpleNamespace(update=lambda _count: None)),
        )
        return {f"Strata {name}": dict(one) for name, one in found.profiles.items()}

    @property
    def versions(self) -> dict[str, str]:
        with psycopg.connect(self.place.superuser_url) as connection:
            server = connection.info.parameter_status("server_version") or ""
            row = connection.execute(
                "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
            ).fetchone()
        return {"postgresql": server, "pgvector": row[0] if row else ""}

    def _peer(self, peer: str, round_name: str) -> Contender | None:
        try:
            return Driven(
                PEERS[peer],
                python=self.pythons[peer],
                driver=f"{peer}_driver.py",
                database=self._database(f"{peer}_{round_name}"),
                embeddings=self.vectors.url,
                folder=self.place.home / f"{peer}-{round_name}",
            )
        except PeerFailed as error:
            print(f"{PEERS[peer]} is left out: {error}", flush=True)
            self.missing[PEERS[peer]] = str(error)
            return None

    def _database(self, name: str) -> str:
        """The address of a new one."""
        with psycopg.connect(self.place.superuser_url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return urlsplit(self.place.superuser_url)._replace(path=f"/{name}").geturl()


@contextmanager
def arena(cache: Path) -> Iterator[Arena]:
    """Makes the peers' environments, then starts everything; stopped and removed afterwards."""
    pythons, missing = {}, {}
    for peer, shown in PEERS.items():
        try:
            pythons[peer] = environments.python_of(peer, cache)
        except NotInstalled as error:
            print(f"{shown} cannot be installed: {error}", flush=True)
            missing[shown] = f"not installed: {error}"
    with stage(None) as place, endpoint() as vectors:
        web = start_default(place.environment, place.log)
        try:
            yield Arena(place, web.url, vectors, pythons, missing=missing)
        finally:
            web.stop()
