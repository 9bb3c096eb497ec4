"""Whether what is given is JSON, before anything of it is sent. Pure.

Texts that dates or bytes could become would come back as texts: what JSON does not know is refused, and not
translated. Tuples come back as lists, and keys that are numbers as texts, as with PostgresStore.
"""

import json
from typing import Any

from ..misfits import misfit


def check_json(**given: Any) -> None:
    """Raises TypeError for what is no JSON, and ValueError for numbers that JSON lacks and what contains
    itself. The message names the place, such as `value.seen[0]`."""
    for name, value in given.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise misfit(name, value) from None
