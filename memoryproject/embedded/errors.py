class CannotStart(Exception):
    """Strata cannot start here; the message is one sentence for the person at the terminal."""
