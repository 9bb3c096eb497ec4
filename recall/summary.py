"""The deterministic summary of a session. Pure; the wording is the AgentOps dialect's."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SUMMARISER = "deterministic.v2"  # this wording, as summaries name it
LONGEST_QUOTE = 200  # characters of a message that are quoted
BEGIN = re.compile(r"^Turns ([0-9]{1,18}) to ([0-9]{1,18}): ", re.MULTILINE)  # of a part
COUNTED = "Session with "  # how a deterministic summary begins
LEFT_OUT = re.compile(r"\[[0-9]+ earlier summaries left out\]\n")
LONGEST_RUNNING = 6_000  # characters of a running summary; some 1,500 tokens
LONGEST_NOTED = 1_200  # characters of the sentences that are kept beside the first words and the last
SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=\u3002)|\n+")
# What later work cannot do without, the most important first.
NOTABLE = (
    re.compile(
        r"\b(?:decid\w+|decision|agreed?|approved?|chose|chosen|settled on|go(?:ing)? with|instead of|"
        r"from now on|must|never|always|prefer\w*|favou?rite|likes?|loves?|hates?|dislikes?|allergic|"
        r"deadline|promised?|todo|remember)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?=[\w-]*\d)[A-Za-z]+[-_#/][\w-]+\b|#\d+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-|\S+@\S+\.\w|https?://"
    ),
    re.compile(r"\b\d[\d.,:/-]*\b"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """The summary of some turns, by the numbers of the first and the last."""

    covers: tuple[int, int]
    text: str


def summarise(
    *,
    messages: int,
    first: str | None,
    last: str | None,
    inflected: bool = False,
    noted: Sequence[str] = (),
) -> str:
    """`Session with N messages. Started: "…" — Ended: "…"`; only the count when no user spoke. `noted`
    sentences follow: ` Noted: "…" "…"`.

    `messages` counts what those said who took part; `first` and `last` are the user's. The dialect says "1
    messages" and notes nothing; `inflected` says "1 message".
    """
    parts = [f"{COUNTED}{messages} {'message' if inflected and messages == 1 else 'messages'}."]
    if first is not None and last is not None:
        parts.append(f'Started: "{first[:LONGEST_QUOTE]}" — Ended: "{last[:LONGEST_QUOTE]}"')
    if noted:
        parts.append("Noted: " + " ".join(f'"{one}"' for one in noted))
    return " ".join(parts)


def weight_of(text: str) -> int:
    """How much later work needs a text, or a sentence: 3 for a decision or a preference, 2 for an id, 1 for a
    number or a date, 0 for nothing of that."""
    found = (len(NOTABLE) - place for place, pattern in enumerate(NOTABLE) if pattern.search(text))
    return next(found, 0)


def select_notes(
    texts: Sequence[str], *, known: Iterable[str] = (), longest: int = LONGEST_NOTED
) -> list[str]:
    """The sentences to be noted, each once and on one line, in the order in which they were said: of those
    that weigh something the heaviest, and of these the newest, as far as they fit. Those that are part of
    what is `known` are left out."""
    told = [" ".join(one.split()) for one in known]
    sentences = [
        (weight, at, sentence)
        for at, sentence in enumerate(dict.fromkeys(_sentences(texts)))
        if (weight := weight_of(sentence)) and not any(sentence in one for one in told)
    ]
    chosen, total = [], 0
    for _weight, at, sentence in sorted(sentences, key=lambda one: (-one[0], -one[1])):
        total += len(sentence) + 3
        if total > longest:
            break
        chosen.append((at, sentence))
    return [sentence for _at, sentence in sorted(chosen)]


def _sentences(texts: Sequence[str]) -> Iterable[str]:
    for text in texts:
        for one in SENTENCE.split(text):
            if plain := " ".join(one.split()):
                yield plain[:LONGEST_QUOTE]


def run_together(parts: Sequence[Part], *, longest: int = LONGEST_RUNNING) -> str:
    """The running summary: each part in its order, with the turns it tells of. Of what is too long the oldest
    parts are left out, and counted, but for those of their sentences that later work cannot do without: these
    are one part. The newest part always stays."""
    if len(parts) == 1:
        return parts[0].text
    lines: list[str] = []
    total = 0
    for part in reversed(parts):
        line = _line(part)
        total += len(line) + 1
        if lines and total > longest:
            lines.append(_condensed(parts[: len(parts) - len(lines)]))
            break
        lines.append(line)
    return "\n".join(reversed(lines))


def _line(part: Part) -> str:
    return f"Turns {part.covers[0]} to {part.covers[1]}: {part.text}"


def _condensed(parts: Sequence[Part]) -> str:
    """What stands in place of the parts."""
    noted = select_notes([text for part in parts for text in _told_in(part.text)])
    if not noted:
        return f"[{len(parts)} earlier summaries left out]"
    text = f"[{len(parts)} summaries left out] Noted: " + " ".join(f'"{one}"' for one in noted)
    return _line(Part((parts[0].covers[0], parts[-1].covers[1]), text))


def _told_in(text: str) -> list[str]:
    """A deterministic summary's quotes, without its own words; any other summary as it is."""
    return text.split('"')[1:] if text.startswith(COUNTED) else [text]


def take_apart(running: str) -> list[Part]:
    """The parts of a running summary; none of one that is a single part, which does not say what turns it
    tells of."""
    earlier = LEFT_OUT.match(running)
    begins = list(BEGIN.finditer(running))
    if not begins or begins[0].start() != (earlier.end() if earlier else 0):
        return []
    ends = [*(one.start() for one in begins[1:]), len(running)]
    return [
        Part((int(one[1]), int(one[2])), running[one.end() : end].removesuffix("\n"))
        for one, end in zip(begins, ends, strict=True)
    ]
