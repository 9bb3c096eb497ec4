# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What can be asked for: a constant for each operation."""
