"""`strata`, the command: remember, recall, and see why something is not known."""

from .program import main

__all__ = ["main"]
