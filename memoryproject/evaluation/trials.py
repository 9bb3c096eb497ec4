"""How a tenant's trial stands, as JSON and as it is printed."""

import json
from collections.abc import Iterator
from typing import Any

from memoryproject.evaluation.tables import aligned
from recall.proportions import Interval
from recall.trials import Trial

HEAD = ("setting", "sessions", "injections", "verdicts", "helpful", "helpful rate (95 %)")


def trial_document(trial: Trial) -> dict[str, Any]:
    """The figures, named as `GET /api/v1/evaluation/trial` names them."""
    difference = trial.difference
    return {
        "share": trial.share,
        "setting": dict(trial.setting),
        "version": trial.version,
        "since": trial.since.isoformat() if trial.since else None,
        "variants": {
            variant: {
                "sessions": arm.sessions,
                "injections": arm.injections,
                "verdicts": arm.verdicts,
                "helpful": arm.helpful,
                "helpful_rate": arm.helpful_rate,
                "ci95": list(arm.ci95) if arm.ci95 else None,
            }
            for variant, arm in trial.arms.items()
        },
        "difference": {"helpful_rate": difference[0], "ci95": list(difference[1])} if difference else None,
    }


def trial_text(trial: Trial) -> str:
    """A line about the trial, a table of both settings, and the difference."""
    if trial.since is None:
        return "There is no trial: `trial.share` of the policy is 0.\n"
    return "\n".join(_lines(trial)) + "\n"


def _lines(trial: Trial) -> Iterator[str]:
    yield (
        f"Since {trial.since:%Y-%m-%d %H:%M} (policy version {trial.version}), {trial.share:.0%} of the "
        f"sessions recall by {json.dumps(dict(trial.setting))}."
    )
    rows = [
        (
            variant,
            *map(str, (arm.sessions, arm.injections, arm.verdicts, arm.helpful)),
            _with_interval(arm.helpful_rate, arm.ci95),
        )
        for variant, arm in trial.arms.items()
    ]
    yield from aligned([HEAD, *rows])
    if trial.difference:
        yield f"Difference: {_with_interval(*trial.difference)}"


def _with_interval(value: float | None, interval: Interval | None) -> str:
    if value is None or interval is None:
        return "-"
    return f"{value:.3f} ({interval[0]:.3f} to {interval[1]:.3f})"
