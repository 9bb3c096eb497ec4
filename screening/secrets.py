"""Keys and tokens: by their published shapes, and what looks random behind words such as "API key". Pure."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from screening.findings import Finding
from screening.patterns import Haystack, compile_pattern, words_of

SHAPES = {
    "aws_key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b",
    "github_token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    "gitlab_token": r"\bgl(?:pat|dt|rt|ptt|cbt|soat|ft|agent|imt)-[A-Za-z0-9_.-]{20,}",
    "slack_token": r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}",
    "slack_webhook": r"\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9_/-]{20,}",
    "stripe_key": r"\b(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})",
    "anthropic_key": r"\bsk-ant-[A-Za-z0-9_-]{16,}",
    "openai_key": r"\bsk-(?:proj|svcacct|admin|None|or)-[A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9]{20,}",
    "google_key": r"\bAIza[0-9A-Za-z_-]{30,}|\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}",
    "npm_token": r"\bnpm_[A-Za-z0-9]{36}",
    "pypi_token": r"\bpypi-[A-Za-z0-9_-]{32,}",
    "twilio_key": r"\b(?:SK|AC)[0-9a-f]{32}\b",
    "sendgrid_key": r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "memory_key": r"\bmem_[0-9a-f]{16}_[A-Za-z0-9_-]{8,}",
    "huggingface_token": r"\bhf_[A-Za-z0-9]{30,}",
    "digitalocean_token": r"\bdo[opr]_v1_[0-9a-f]{64}",
    "shopify_token": r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    "telegram_token": r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}",
    "vault_token": r"\bhv[sb]\.[A-Za-z0-9_-]{24,}",
    "mailgun_key": r"\bkey-[0-9a-f]{32}\b",
    "age_key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}",
    "jwt": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*",
    "azure_key": r"\bAccountKey=[A-Za-z0-9+/]{40,}={0,2}",
}
SHAPED = {kind: compile_pattern(f"(?-i:{shape})") for kind, shape in SHAPES.items()}
ANY_SHAPE = compile_pattern("(?-i:" + "|".join(SHAPES.values()) + ")")

BEGINNING = re.compile(
    r"-{2,8}\s?BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?\s?-{2,8}|PuTTY-User-Key-File-"
)
END = re.compile(r"-{2,8}\s?END [A-Z0-9 ]{0,60}?-{2,8}")

CREDENTIALS = compile_pattern(r"\b[a-z][a-z0-9+.-]{1,30}://[^\s/:@'\"<>]{0,100}:([^\s/'\"<>]{1,200})@[^\s@]")
HEADER = compile_pattern(r"\b(?:bearer|basic|token)\s{1,3}([a-z0-9+/._~=-]{12,})")
NAMED = compile_pattern(
    r"([a-z]{0,20})[ _.-]{0,2}(api[ _-]?key|apikey|key|token|secret|credential)s?[\"'`)\]]{0,2}"
    r"(?:\s{0,3}(:=|=>|->|=|:)\s{0,3}|\s{1,3}(?:is|was|are|ist|lautet|es|est)\s{0,3}:?\s{1,3}|\s{1,3})"
    r"[\"'`]?([^\s\"'`,;<>(){}\[\]]{10,})"
)
# Words that make a key something that is no secret.
OTHER_KEYS = words_of("""
    primary foreign partition sort cache idempotency dedup deduplication public object row hash map unique
    composite index translation message issue jira redis storage state react dictionary json column
    routing registry arrow shortcut hot lookup sha checksum commit pagination page next cursor
    continuation item topic event group answer musical legend
""")
VARIABLE = re.compile(
    r"\$\{|\$\(|\$[A-Z_]+$|%\(|(?:os|env|process|self|settings|config|args)\.|(?i:your[-_ ]?pass)"
)
SEGMENTS = re.compile(r"[A-Za-z0-9]{1,2000}")
TURN = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")


def find_keys(text: Haystack) -> Iterator[Finding]:
    """Keys and tokens in a folded text."""
    yield from _private_keys(text.text)
    if text.has(ANY_SHAPE):
        for kind, pattern in SHAPED.items():
            yield from (Finding("secret", kind, *hit.span()) for hit in text.find(pattern))
    for hit in text.find(CREDENTIALS):
        if not is_placeholder(hit.group(1)):
            yield Finding("secret", "url_password", *hit.span(1))
    for hit in text.find(HEADER):
        if is_random(hit.group(1)):
            yield Finding("secret", "token", *hit.span(1))
    for hit in text.find(NAMED):
        if _is_secret(hit.group(1), hit.group(2), hit.group(4)):
            yield Finding("secret", "token", *hit.span(4))


def is_placeholder(value: str) -> bool:
    """Whether the value only stands for one: masked, left to a variable, or told not to be there."""
    bare = value.strip("\"'`.,;:!?")
    return (
        not bare.strip("*\u2022.xX_-#\u2026")
        or (bare[0] in "<[{(%" and bare[-1] in ">]})%")
        or VARIABLE.match(bare) is not None
    )


def is_random(value: str) -> bool:
    """Whether it looks drawn at random and not written by a person: letters and digits change often."""
    if value.startswith(("http://", "https://")):
        return False
    value = value[:200]
    turns = sum(len(TURN.findall(segment)) for segment in SEGMENTS.findall(value))
    kinds = (any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value)))
    mixed = len(value) >= 20 and all(kinds)
    return (turns >= 3 or (mixed and turns >= 1)) and _entropy(value) >= 2.8


def _is_secret(before: str, name: str, value: str) -> bool:
    if name.lower() in {"key", "token"} and before.lower() in OTHER_KEYS:
        return False
    return len(value) >= (16 if name.lower() == "key" and not before else 10) and is_random(value)


def _private_keys(text: str) -> Iterator[Finding]:
    at = 0
    while begun := BEGINNING.search(text, at):
        ended = END.search(text, begun.end())
        at = ended.end() if ended else len(text)
        yield Finding("secret", "private_key", begun.start(), at)


def _entropy(value: str) -> float:
    """Bits per character."""
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)
