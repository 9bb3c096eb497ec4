"""What is forged: roles, addresses, rights; and what is to be sent away. Pure."""

from typing import Any

from screening.order_words import (
    ORDERED,
    SPACE,
    WORDS,
)
from screening.patterns import compile_pattern

PATTERNS: dict[str, tuple[Any, int]] = {
    "save_as": (
        compile_pattern(
            r"\b(?:save|set|store|remember|register|record|use|make|treat|add|mark|put)"
            r"\s{1,4}(?:the (?:site|url|address|domain|account) )?[\"'<(]?"
            r"(?:https?://[^\s\"'<>]{3,200}|[^\s\"'<>@]{1,64}@[^\s\"'<>]{3,190}|"
            r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}(?:/[^\s\"'<>]{0,200})?)"
            r"[\"'>)]?\s{1,4}(?:as|for|to be|to)\s{1,4}(?:(?:the|my|your|our|his|her|their|user's|user|new|"
            r"default|an?|"
            r"official|trusted|primary|only|verified)\s{1,4}){0,4}"
            r"(?:home ?page|start ?page|trusted|default|search engine|browser|website|bank|contact|source|"
            r"sender|domain|"
            r"site|recovery|payment|pay ?pal|wallet|admin|support|official|link|address|e-?mail|"
            r"instruction|rule|policy)\b"
        ),
        0,
    ),
    "exfiltration": (
        compile_pattern(
            rf"\b(?:send|forward|post|e-?mail|exfiltrate|upload|leak|transmit|append){SPACE}{WORDS}{{0,3}}?"
            r"(?:passwords?|api keys?|secrets?|credentials|conversations?|chat history|chat logs?|memory|"
            r"memories|user data|"
            r"personal data|tokens|private data|messages|everything (?:you know|the user says))"
            rf"{SPACE}{WORDS}{{0,4}}?to{SPACE}(?:https?://|\S{{1,64}}@\S|[\w-]{{1,63}}\.[a-z]{{2,}})"
        ),
        0,
    ),
    "role_marker": (
        compile_pattern(
            r"<\|\s?(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|end_of_text|eot_id|"
            r"start_header_id|end_header_id|im_sep)\s?\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
            r"|</?(?:system|system[_-]prompt|system[_-]message|system-reminder|assistant_instructions)>"
            r"|(?m:^[\s>*]{0,4}#{2,6}[ \t]{0,3}(?:system|developer|assistant|instructions?|human|"
            r"user)(?: prompt| message)?[ \t]{0,3}:)"
            r"|(?m:^[\s>*]{0,4}\[?(?:system|developer)(?: message| prompt| note)?\]?\s{0,2}:\s{0,3}(?:you|"
            r"ignore|the assistant|"
            r"from now|always|never|new|override|do not|disregard|forget)\b)"
            r"|\b(?:begin|start|end) (?:of )?system (?:prompt|message|instructions)\b"
        ),
        0,
    ),
    "abroad": (
        compile_pattern(
            r"\b(?:ignorier(?:e|en|t)?|vergiss|vergesst|"
            r"missachte)\s(?:[^\s.,;:!?]{1,14}\s){0,3}?(?:anweisungen|instruktionen|befehle|"
            r"regeln|vorgaben)\b|\bdu bist (?:ab )?jetzt (?:ein|eine|kein|keine|der|die)\b|\bab (?:jetzt|"
            r"sofort) (?:bist|musst|wirst) du\b"
            r"|\b(?:ignora|ignore|olvida|olvide|descarta)\s(?:[^\s.,;:!?]{1,14}\s){0,3}?(?:instrucciones|"
            r"órdenes|reglas|indicaciones)"
            r"(?:\s[^\s.,;:!?]{1,14}){0,2}?\s(?:anteriores|previas|de arriba)|\ba partir de ahora (?:eres|"
            r"debes|vas a|siempre)\b"
            r"|\b(?:ignore[zs]?|oublie[zs]?)\s(?:[^\s.,;:!?]{1,14}\s){0,3}?(?:instructions|consignes|"
            r"règles)\s(?:précédentes|antérieures|ci-dessus)"
            r"|\bà partir de maintenant,? (?:tu es|vous êtes|tu dois)\b|ignor[ae]\s(?:le|as|tutte le|"
            r"todas as) (?:istruzioni|instruções)"
        ),
        0,
    ),
    "privilege": (
        compile_pattern(
            rf"{ORDERED}(?:(?:set|change|update|switch|upgrade|elevate|promote|make|escalate){SPACE}"
            rf"(?:my|the user's|this user's){SPACE}(?:(?:user|account){SPACE})?"
            rf"(?:roles?|permissions?|privileges?|access(?: level| rights)?|clearance|rights|status){SPACE}"
            rf"(?:to|as|into){SPACE}(?:(?:an?|the|full|super){SPACE}){{0,2}}(?:admin(?:istrator)?|root|"
            r"super ?user|super ?admin|system|sudo|unrestricted|unlimited)\b"
            r"|make me (?:(?:an?|the) )?(?:admin(?:istrator)?|root|super ?user)\b"
            r"|(?:grant|give) me (?:(?:an?|full|the|all|super) ){0,2}(?:admin(?:istrator)?|root|super ?user|"
            r"sudo) (?:access|rights|privileges|permissions)\b)"
        ),
        0,
    ),
}
