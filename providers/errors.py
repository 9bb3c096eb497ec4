"""What a provider may fail with; it stands apart so that each provider can import it without a cycle."""


class EmbeddingUnavailable(Exception):
    """No vectors can be had now. The text says why; asking again later may succeed."""
