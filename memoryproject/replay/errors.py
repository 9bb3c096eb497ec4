"""What ends a replay. Each text is one sentence a person can act on."""


class ReplayError(Exception):
    """The replay cannot go on."""


class MalformedTranscript(ReplayError):
    """The transcript cannot be read; the text names the file and the place in it."""


class ServerBusy(ReplayError):
    """The server answered 503 to a call that must not simply be sent again: look first, then resume."""

    def __init__(self, text: str, wait: float) -> None:
        super().__init__(text)
        self.wait = wait  # seconds, as the server asked


class ServerFailed(ReplayError):
    """The server refused, failed, stayed silent or went away."""
