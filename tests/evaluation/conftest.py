import json
from pathlib import Path

import pytest

TURNS = {
    "trip": [
        "I moved to Lisbon in May.",
        "How is the weather?",
        "Sunny. My dog Rex loves the beach.",
        "Lovely.",
    ],
    "work": ["I bake bread in a shop on Mill Street.", "Since when?", "Since last autumn.", "Good for you."],
}
QUESTIONS = [("Where did Ana move to?", ["D1:1"], 4), ("What is the dog called?", ["D1:3"], 1)]
ODD = [("Who says nothing?", [], 4), ("Did Bo move to Lisbon?", ["D1:1"], 5)]


def locomo(texts: list[str], questions: list[tuple[str, list[str], int]]) -> str:
    turns = [
        {"dia_id": f"D1:{number}", "speaker": "Ana" if number % 2 else "Bo", "text": text}
        for number, text in enumerate(texts, start=1)
    ]
    return json.dumps(
        {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "sessions": [{"id": "s1", "date_time": "1:56 pm on 8 May, 2023", "turns": turns}],
            "qa": [
                {"question": text, "answer": "", "evidence": evidence, "category": category}
                for text, evidence, category in questions
            ],
        }
    )


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small conversations, which share the ids of their turns."""
    path = tmp_path_factory.mktemp("conversations")
    (path / "trip.json").write_text(locomo(TURNS["trip"], QUESTIONS + ODD))
    (path / "work.json").write_text(locomo(TURNS["work"], [("Where is the shop?", ["D1:1"], 4)]))
    (path / "notes.txt").write_text("not a conversation")
    return path
