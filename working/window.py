"""Which part of a conversation goes into the prompt. Pure: no Django, no Redis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from working.types import Turn

CHARACTERS_PER_TOKEN = 4  # English prose under the common BPE vocabularies; an estimate, and named so
MESSAGE_OVERHEAD = 4  # tokens a chat API spends on a message's frame


@dataclass(frozen=True, slots=True)
class Window:
    """The turns to send, oldest first; `truncated` tells that older ones exist or something was cut.
    `unpaired`: of the same exchanges, results without their call and calls without their results."""

    turns: tuple[Turn, ...]
    truncated: bool
    tokens: int
    unpaired: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnSize:
    """What is known of a turn without its words."""

    seq: int
    role: str
    tokens: int


def select_window(
    turns: Sequence[Turn],
    *,
    pairs: int,
    token_budget: int | None = None,
    max_tool_result_chars: int | None = None,
) -> Window:
    """The last `pairs` exchanges that fit `token_budget` tokens.

    An exchange begins with a user turn and holds everything up to the next one, tool calls included. A tool
    result never stands without the call it answers, nor a call without its results. When even the last
    exchange exceeds the budget, its oldest blocks go first; the newest block is always kept.
    """
    shortened = [_shorten(turn, max_tool_result_chars) for turn in turns]
    wanted = shortened[_start_of_exchange(shortened, pairs) :]
    blocks = _blocks(wanted)
    kept = _fit(blocks, token_budget)
    chosen = tuple(turn for block in kept for turn in block)
    cut = len(chosen) < len(turns) or any(a is not b for a, b in zip(shortened, turns, strict=True))
    paired = {id(turn) for block in blocks for turn in block}
    unpaired = tuple(turn for turn in wanted if id(turn) not in paired)
    return Window(chosen, truncated=cut, tokens=sum(map(estimate_tokens, chosen)), unpaired=unpaired)


def estimate_tokens(turn: Turn) -> int:
    """Tokens of a turn, estimated from its characters."""
    return tokens_of(_length(turn.content) + _length(turn.tool_calls))


def tokens_of(characters: int) -> int:
    """Estimated tokens of a turn with so many characters."""
    return MESSAGE_OVERHEAD + -(-characters // CHARACTERS_PER_TOKEN)


def first_kept(
    turns: Sequence[TurnSize], *, exchanges: int, most_turns: int | None, most_tokens: int | None
) -> int:
    """Position of the first turn, oldest first, that stays as it was said when those before it are
    summarised: the newest exchanges that keep every limit, at least the newest.

    Where the user says nothing, each turn but a tool's result counts as an exchange.
    """
    starts = [position for position, turn in enumerate(turns) if turn.role == "user"]
    starts = starts or [position for position, turn in enumerate(turns) if turn.role != "tool"]
    first, end, tokens = 0, len(turns), 0
    for number, start in enumerate(reversed(starts), 1):
        tokens += sum(turn.tokens for turn in turns[start:end])
        end, count = start, len(turns) - start
        too_many = most_turns is not None and count > most_turns
        too_long = most_tokens is not None and tokens > most_tokens
        if number > 1 and (number > exchanges or too_many or too_long):
            break
        first = start
    return first


def first_fitting(turns: Sequence[TurnSize], *, most_turns: int, most_tokens: int) -> int:
    """Position of the first turn, oldest first, that stays when the newest stay that keep both limits, at
    least one. A tool's result does not stand first if something else can."""
    first, tokens = len(turns), 0
    for position in range(len(turns) - 1, -1, -1):
        tokens += turns[position].tokens
        if first < len(turns) and (len(turns) - position > most_turns or tokens > most_tokens):
            break
        first = position
    spoken = (position for position in range(first, len(turns)) if turns[position].role != "tool")
    return next(spoken, first)


def first_that_fits(sizes: Sequence[int], budget: int) -> int:
    """Position of the first of the newest of these sizes, oldest first, that fit; the newest always does."""
    total, first = 0, len(sizes)
    for position in range(len(sizes) - 1, -1, -1):
        total += sizes[position]
        if total > budget and first < len(sizes):
            break
        first = position
    return first


def _length(value: Any) -> int:
    return 0 if value is None else len(value if isinstance(value, str) else str(value))


def _start_of_exchange(turns: Sequence[Turn], pairs: int) -> int:
    """Position of the `pairs`-th user turn from the end; 0 when there are fewer."""
    starts = [position for position, turn in enumerate(turns) if turn.role == "user"]
    return starts[-pairs] if len(starts) > pairs else 0


def _blocks(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Turns that stand or fall together: a call with its results, otherwise each alone. Results whose call
    is not among them are left out, as are calls whose results are not there yet unless they come last."""
    blocks: list[list[Turn]] = []
    for turn in turns:
        if turn.role != "tool":
            blocks.append([turn])
        elif blocks and _calls(blocks[-1][0]) and _answers(turn, blocks[-1][0]):
            blocks[-1].append(turn)
    return [block for block in blocks if block is blocks[-1] or _complete(block)]


def _fit(blocks: list[list[Turn]], token_budget: int | None) -> list[list[Turn]]:
    if token_budget is None:
        return blocks
    sizes = [sum(map(estimate_tokens, block)) for block in blocks]
    first = first_that_fits(sizes, token_budget)
    # Prefer to begin where an exchange begins, unless that would leave nothing.
    for position in range(first, len(blocks)):
        if blocks[position][0].role == "user":
            return blocks[position:]
    return blocks[first:]


def _calls(turn: Turn) -> list[Any]:
    return turn.tool_calls if isinstance(turn.tool_calls, list) else []


def _ids(call: Turn) -> list[str]:
    """The ids of the calls; what a client sent in their place that is no text names nothing."""
    named = [item.get("id") for item in _calls(call) if isinstance(item, dict)]
    return [one for one in named if isinstance(one, str)]


def _answers(result: Turn, call: Turn) -> bool:
    """Whether `result` belongs to `call`: by id, or by position where the client gave none."""
    ids = _ids(call)
    return result.tool_call_id is None or not ids or result.tool_call_id in ids


def _complete(block: list[Turn]) -> bool:
    """Whether each call has its result, which chat APIs insist on; by number where ids are missing."""
    call, *results = block
    answered = {result.tool_call_id for result in results}
    if None in answered or not _ids(call):
        return len(results) >= len(_calls(call))
    return answered.issuperset(_ids(call))


def _shorten(turn: Turn, limit: int | None) -> Turn:
    if (
        limit is None
        or turn.role != "tool"
        or not isinstance(turn.content, str)
        or len(turn.content) <= limit
    ):
        return turn
    return replace(turn, content=turn.content[:limit] + f"… [{len(turn.content) - limit} characters cut]")
