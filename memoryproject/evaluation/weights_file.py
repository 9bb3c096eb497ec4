"""Fitted weights as the document that `recall/ranking/weights_v1.json` is. Pure."""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

from memoryproject.evaluation.report import Assessed
from recall.ranking.fitting import L2
from recall.ranking.weights import DEFAULT, Weights

DIGITS = 3


def weights_by_hand() -> Mapping[str, float]:
    """The default file's weights of signals that no labelled set can teach, such as recency."""
    found: Mapping[str, float] = json.loads(DEFAULT.read_text()).get("set", {})
    return found


def weights_document(
    weights: Weights,
    *,
    tuned: Assessed | None,
    conversations: int,
    questions: int,
    each: int,
    model: str,
    on: date,
) -> dict[str, Any]:
    """The weights, those by hand apart, and where they come from; `tuned` are the figures of leaving one
    conversation out, `each` the number of candidates by cosine, and by BM25."""
    by_hand = weights_by_hand()
    fitted = dict(zip(weights.names, weights.values.tolist(), strict=True))
    return {
        "version": json.loads(DEFAULT.read_text())["version"],
        "fitted_on": f"{questions} questions about {conversations} conversations",
        "date": on.isoformat(),
        "embedding_model": model,
        "candidates": f"{each} by cosine, {each} by BM25, and the turns around them",
        "leave_one_out": {name: tuned[name] for name in ("recall@10", "mrr")} if tuned else None,
        "l2": L2,
        "weights": {name: round(value, DIGITS) for name, value in fitted.items() if name not in by_hand},
        "set": dict(by_hand),
    }
