"""The fences that stand around remembered text in a prompt: found, removed, and made harmless. Pure."""

import re

NAMES = ("retrieved_memory", "memory:context", "memory:sessions")
# Bounded, so that a text of nothing but beginnings takes linear time. A tag that the text ends in counts.
TAG = re.compile(
    rf"<\s{{0,8}}(/?)\s{{0,8}}({'|'.join(NAMES)})(?![\w:-])[^<>]{{0,500}}(?:>|\Z)", re.IGNORECASE
)
ROUNDS = 4  # removing may join what stood around into another fence
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def has_fences(text: str) -> bool:
    """Whether a fence of ours opens or closes anywhere in the text."""
    return TAG.search(text) is not None


def strip_fences(text: str) -> str:
    """The text without the blocks that we injected. One that is never closed goes on to the end; of one that
    is only closed, the mark goes alone. The answer has no fence."""
    for _ in range(ROUNDS):
        if not has_fences(text):
            return text
        text = _without_blocks(text)
    return TAG.sub(lambda tag: tag.group().replace("<", "&lt;"), text)


def escape(text: str) -> str:
    """The text as it may stand inside a fence: it cannot open or close one."""
    return text.translate(ESCAPES)


def _without_blocks(text: str) -> str:
    kept, outside, depth = [], 0, 0
    for tag in TAG.finditer(text):
        if depth == 0:
            kept.append(text[outside : tag.start()])
        depth = max(depth - 1, 0) if tag.group(1) else depth + 1
        outside = tag.end()
    if depth == 0:
        kept.append(text[outside:])
    return "".join(kept)
