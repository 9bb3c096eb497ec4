import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from memoryproject.replay.transcripts import Question, Session, Transcript, Turn
from tests.benchmarks.peers import corpus
from tests.benchmarks.peers.contenders import DRIVERS, Answer, PeerFailed
from tests.benchmarks.peers.corpus import Asked, Item
from tests.benchmarks.peers.embeddings import endpoint
from tests.benchmarks.peers.measure import Round

AT = datetime(2023, 5, 8, tzinfo=UTC)
DRIVER = """
from lines import serve

class Echo:
    version, setup = "echo 1", "as it is"
    def __init__(self, *, database, embeddings, folder):
        print("noise of a library")
        self.kept = []
    def add(self, user, key, text):
        self.kept.append(key)
    def search(self, user, text, k):
        if text == "fail":
            raise ValueError("no such thing")
        return self.kept[:k]

serve(Echo)
"""


def session(name: str, turns: int) -> Session:
    return Session(name, tuple(Turn(f"{name}:{at}", "Ana", "user", "Hi", AT) for at in range(turns)))


def transcript(*sizes: int) -> Transcript:
    sessions = tuple(session(f"D{at}", size) for at, size in enumerate(sizes, 1))
    questions = (
        Question("within", "", ("D1:0", "D2:1"), 1),
        Question("across", "", ("D1:0", f"D{len(sizes)}:0"), 1),
        Question("adversarial", "", ("D1:0",), 5),
    )
    return Transcript("conv", sessions, questions)


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [((30, 30, 30, 30), [60, 60]), ((50, 50, 10), [50, 60]), ((10, 10), [20]), ((90,), [90])],
)
def test_parts_are_whole_sessions_and_none_is_short(sizes, parts):
    cut = corpus.cut(transcript(*sizes).sessions)
    assert [sum(len(one.turns) for one in part) for part in cut] == parts


def test_a_user_is_asked_only_what_their_part_answers():
    held = corpus.crowd([transcript(30, 30, 30, 30)], users=3)
    assert held.users == 3
    assert [(one.user, one.text) for one in held.questions] == [
        ("user-000", "within"),
        ("user-002", "within"),
    ]


def test_a_sample_is_the_same_each_time():
    held = corpus.whole([transcript(30, 30), transcript(40, 40)])
    assert held.sample(2) == held.sample(2)
    assert len(held.sample(2).questions) == 2
    assert held.sample(100) is held


def told(driver: Path, *lines: object) -> list[dict[str, object]]:
    asked = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run(
        [sys.executable, driver],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(DRIVERS)},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_driver_answers_line_by_line_and_says_why_it_ends(tmp_path):
    driver = tmp_path / "echo.py"
    driver.write_text(DRIVER)
    opened, added, found, failed = told(
        driver,
        {"op": "open", "database": "", "embeddings": "", "folder": ""},
        {"op": "add", "items": [{"user": "u", "key": "k", "text": "t"}]},
        {"op": "search", "queries": [{"user": "u", "text": "t"}], "k": 20},
        {"op": "search", "queries": [{"user": "u", "text": "fail"}], "k": 20},
    )
    assert opened == {"version": "echo 1", "setup": "as it is"}
    assert len(added["ms"]) == 1
    assert found["answers"][0]["keys"] == ["k"]
    assert failed == {"error": "ValueError: no such thing"}


def test_the_endpoint_answers_what_it_was_told_to_remember_until_it_forgets():
    with endpoint() as vectors:
        vectors._kept["known"] = [1.0, 0.0]
        body = {"input": ["known"], "model": "m"}
        answer = httpx.post(f"{vectors.url}/embeddings", json=body, trust_env=False).json()
        assert answer["data"] == [{"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}]
        vectors.forget()
        assert len(vectors.vectors(["known"])[0]) == 384


class Fake:
    version = setup = database = ""

    def __init__(self, name: str, *, fails: bool) -> None:
        self.name, self._fails = name, fails

    def add(self, items):
        return [1.0 for _ in items]

    @property
    def rankings(self):
        return {f"{self.name} one": self._search}

    def close(self) -> None: ...

    def _search(self, questions):
        if self._fails:
            raise PeerFailed("gone")
        return [Answer(("k",), 2.0) for _ in questions]


def test_one_that_fails_is_left_out_and_the_others_go_on():
    asked = corpus.Corpus((Item("u", "k", "t", "s", 1, AT),), (Asked("u", "t", ("k",), 1, "c"),))
    found = Round([Fake("well", fails=False), Fake("ill", fails=True)])
    found.fill(asked.items, timed=0)
    found.ask(asked)
    assert found.missing == {"ill": "gone"}
    assert found.ranked["well one"].outcomes[0].ranks == (1,)
    assert list(found.ranked) == ["well one"]
