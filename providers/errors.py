"""What a provider may fail with; it stands apart so that each provider can import it without a cycle."""


class EmbeddingUnavailable(Exception):
    """No vectors can be had now. The text says why; asking again later may succeed.

    `retry_after`: seconds after which it may, where the provider has said so.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EmbeddingRejected(EmbeddingUnavailable):
    """The server is well and does not take one of the texts, `position` of those asked for. Asking for that
    one again is useless; the others were not all asked for."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class LLMUnavailable(Exception):
    """No answer can be had now: time-outs, limits, faults of the server. Asking again later may succeed.

    `retry_after`: seconds after which it may, where that is known.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class LLMRefused(Exception):
    """The model answered, but not with what was asked for. Asking the same again is useless."""
