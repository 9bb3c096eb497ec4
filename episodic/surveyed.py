"""What a survey of memories tells of them. Pure."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NEVER = -np.inf


@dataclass(frozen=True, slots=True)
class Unseen:
    """What no memory surpasses that was not looked at; moments in seconds since 1970. NEVER: there is none,
    or none that has any."""

    cosine: float
    words: float
    created: float
    used: float


@dataclass(frozen=True, slots=True)
class Survey:
    """Memories in no order, (memories,) each: `ids`, 16 bytes; cosines, NaN where there is no vector; BM25, 0
    where no word is held; moments in seconds since 1970. `total`: how many there are with those that were not
    looked at, of which `unseen` tells; None: everything was."""

    ids: NDArray[np.void]
    cosines: Floats
    words: Floats
    created: Floats
    used: Floats
    total: int
    unseen: Unseen | None = None

    def id_of(self, row: int) -> UUID:
        """The id of one of them."""
        return UUID(bytes=self.ids[row].tobytes())

    def id_numbers(self, rows: NDArray[np.intp]) -> NDArray[np.uint64]:
        """The ids of some of them as two numbers each, (rows, 2): to be put in order."""
        return np.ascontiguousarray(self.ids[rows]).view(">u8").reshape(-1, 2).astype(np.uint64)
