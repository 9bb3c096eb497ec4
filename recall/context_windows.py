"""How many tokens the language models take in that clients name. Pure."""

UNKNOWN = 16_000  # of a model that is not known
# By what the name begins with; the longest that fits counts.
TOKENS = {
    "gpt-3.5-turbo": 16_385,
    "gpt-3.5-turbo-0613": 4_096,
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-0125": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 400_000,
    "gpt-5-chat": 128_000,
    "chatgpt-4o": 128_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "claude": 200_000,
    "claude-2": 100_000,
    "claude-2.1": 200_000,
    "claude-instant": 100_000,
    "gemini": 1_048_576,
    "gemini-1.5-pro": 2_097_152,
    "llama-3": 8_192,
    "llama-3.1": 128_000,
    "llama-3.3": 128_000,
    "mistral-large": 128_000,
}


def window_of(model_name: str) -> int:
    """The tokens of its context window. A name may have a provider in front: `openai/gpt-4o`."""
    name = model_name.lower().rpartition("/")[2]
    known = [one for one in TOKENS if name.startswith(one)]
    return TOKENS[max(known, key=len)] if known else UNKNOWN
