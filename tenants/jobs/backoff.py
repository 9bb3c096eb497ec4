"""How long a failed job waits before it is tried again. Pure."""

FIRST = 2.0  # seconds after the first failure
LONGEST = 900.0


def delay(attempts: int, *, chance: float, at_least: float = 0.0) -> float:
    """Seconds to wait after `attempts` failures: doubling, between half and all of it by `chance` in [0, 1).

    The jitter keeps what failed together from coming back together. `at_least` is what a provider asked for.
    """
    full = min(LONGEST, FIRST * 2.0 ** min(attempts - 1, 30))
    return max(at_least, full * (0.5 + chance / 2))
