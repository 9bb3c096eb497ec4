"""Orders to a model: what it is told to ignore, to be, to do and to allow. Pure."""

from typing import Any

from screening.order_words import (
    ALL,
    ALL_DATA,
    ALWAYS,
    ASSISTANT,
    BEFORE,
    CHIEF,
    DEEDS,
    FAVOURITE,
    FORMS,
    IGNORE,
    MACHINE,
    MAY,
    MUST,
    OBEYING,
    ORDERED,
    ORDERS,
    RISKY,
    SAID,
    SENDING,
    SPACE,
    TARGET,
    UNBOUND,
    WORDS,
)
from screening.patterns import compile_pattern

# Each beside the number of its groups: what they hold, such as who is told to do it, excuses it.
PATTERNS: dict[str, tuple[Any, int]] = {
    "ignore_instructions": (
        compile_pattern(
            rf"{SAID}{IGNORE}{SPACE}{WORDS}{{0,4}}?"
            rf"(?:{BEFORE}{SPACE}{WORDS}{{0,2}}?{ORDERS}|(?:all|any|your|"
            rf"its)(?: of)?{SPACE}{WORDS}{{0,2}}?{ORDERS}|"
            rf"{ORDERS}{SPACE}(?:above|before|so far|(?:that )?you (?:were|have been|got)))\b"
        ),
        1,
    ),
    "forget_everything": (
        compile_pattern(
            rf"{SAID}\b(?:forget|ignore|disregard|erase|delete){SPACE}(?:everything|anything|"
            rf"all){SPACE}{WORDS}{{0,2}}?"
            r"(?:you (?:know|were|have been|ve been|learned|are told)|above|before this|said before|"
            r"i said before|"
            r"you've been told|prior to this|previously (?:said|told|instructed)|that came before)"
        ),
        1,
    ),
    "new_identity": (
        compile_pattern(
            rf"\byou(?: are|'re) now{SPACE}(?:({FAVOURITE})|{WORDS}{{0,4}}?(?:{MACHINE}|dan|jailbroken|"
            r"unrestricted|uncensored|unfiltered|unbound|evil|hacker|pirate|root|superuser|"
            r"(?:developer|god|debug|admin|sudo|root|dan) mode|free (?:from|of)|"
            r"no longer (?:bound|restricted|an?))\b)"
            rf"|\b(?:act|behave|respond|pretend|role-?play)(?: as| to be|{SPACE}like){SPACE}{WORDS}{{0,3}}?"
            r"(?:if you (?:have no|had no|are not bound|were not bound)|dan|jailbroken|unrestricted|"
            rf"uncensored|unfiltered|evil {MACHINE})\b"
            rf"|\b(?:act|behave|respond|answer|pretend|role-?play)(?:{SPACE}(?:that|as if|as though|like))?"
            rf"{SPACE}{UNBOUND}\b"
            r"|\bdo anything now\b|\bjailbreak mode\b|\b(?:developer|god|"
            r"dan) mode (?:is )?(?:now )?(?:enabled|activated|on)\b"
        ),
        1,
    ),
    "standing_order": (
        compile_pattern(
            rf"\b(?:from (?:now|here|this (?:point|moment)) on(?:wards?)?|henceforth|going forward|"
            rf"in (?:all )?future "
            rf"(?:answers|replies|conversations|sessions|chats)|for (?:all )?future (?:conversations|"
            rf"sessions|chats))"
            rf"{SPACE}(?:(?:please|you|the {MACHINE}|must|will|shall|should|are to|have to|"
            rf"need to){SPACE}){{0,3}}"
            rf"(?:(?:always|never|only|not|no longer|also){SPACE}){{0,2}}{DEEDS}\b"
        ),
        0,
    ),
    "standing_answer": (
        compile_pattern(
            rf"\b(?:from (?:now|here|this (?:point|moment)) on(?:wards?)?|henceforth){SPACE}"
            rf"(?:(?:please|you|the {MACHINE}|must|will|shall|should|are to|have to){SPACE}){{0,3}}"
            rf"(?:(?:always|never|only){SPACE}){{0,2}}(?:answer|reply|respond)"
            rf"(?:{SPACE}({FORMS})|[^\pL]{{1,4}}\pL|{SPACE})"
        ),
        1,
    ),
    "standing_recipient": (
        compile_pattern(
            rf"{SAID}\b{ALWAYS}{SPACE}{WORDS}{{0,4}}?{SENDING}\b[^.!?\n]{{0,80}}?(?:\s|:){TARGET}"
            rf"|()\b{SENDING}{SPACE}[^.!?\n]{{0,60}}?(?:\s|:)?{TARGET}\S{{0,100}}\s(?:in|with|to"
            rf"|at the end of|"
            rf"on|after|before) (?:(?:each|every|all)(?: of)?|any)(?: your| my)?(?: future)? (?:answers?|"
            rf"repl(?:y|ies)|responses?|outputs?|conversations?)\b"
        ),
        1,
    ),
    "must_obey": (
        compile_pattern(
            rf"\b(?:you|{ASSISTANT}){SPACE}{MUST}{SPACE}(?:(?:always|never|only|also"
            rf"|unconditionally){SPACE})?"
            rf"obey\b(?:{SPACE}((?:(?:the|all|every|any) )?(?:{WORDS}{{0,2}}?)(?:laws?|limits?"
            rf"|traffic|signs?|"
            rf"doctors?|parents|referee|rules of))\b)?"
            rf"|\byou{SPACE}{MUST}{SPACE}(?:always|never|only|unconditionally){SPACE}{OBEYING}\b"
            rf"|\b{ASSISTANT}{SPACE}{MUST}{SPACE}(?:always|never|unconditionally){SPACE}(be\b|have\b)?"
        ),
        2,
    ),
    "authority": (
        compile_pattern(
            rf"\b(?:the|your|our|an?) {CHIEF}{SPACE}(?:has |have |had )?(?:says?|said|states?"
            rf"|stated|confirm(?:s|ed)|"
            rf"decided|declare[sd]|order(?:s|ed)|instruct(?:s|ed)|wants|requires|told (?:me|us))"
            rf"(?:{SPACE}that)?{SPACE}(?:{ALL}{SPACE}(?:is|are|has|have|may|can|must|should|shall|to)\b"
            rf"[^.!?\n]{{0,40}}?(?:{MAY}|\b{ALL_DATA}\b)|[^.!?\n]{{0,30}}?{MAY} to"
            rf" {WORDS}{{1,2}}?{ALL_DATA}\b)"
            rf"|\bas (?:an?|the|your) {CHIEF}{SPACE}(?:of {WORDS}{{1,5}}?)?i{SPACE}"
            rf"(?:hereby{SPACE})?(?:(?:authori[sz]e|"
            rf"grant|allow|permit|order|instruct|command|tell|require){SPACE}{ALL}\b|(?:am"
            rf"|have){SPACE}{WORDS}{{0,2}}?"
            rf"{MAY} to {WORDS}{{1,2}}?{ALL_DATA}\b|have{SPACE}(?:full|unrestricted) access)"
            rf"|\bas (?:an?|the|your) {CHIEF}{SPACE}(?:i (?:say|tell you){SPACE})?you (?:must|may"
            rf"|are allowed|are "
            rf"authori[sz]ed|are permitted|have permission)\b"
            rf"|\bi(?: am|'m){SPACE}(?:the|your) (?:{CHIEF}|creator|system)\b[^!?\n]{{0,60}}?"
            rf"(?:\byou (?:must|may|can|should|are (?:now )?allowed|have (?:my )?permission|will obey)\b|"
            rf"\b(?:authori[sz]e|allow|permit|grant|order|command) (?:me|you|all|every|any)|\bgive"
            rf" me (?:full|all|admin)|"
            rf"\b(?:allowed|authori[sz]ed|permitted) to {WORDS}{{1,2}}?{ALL_DATA}\b|\bobey\b)"
            rf"|\b(?:the|your|our|an?|my) {CHIEF}{SPACE}(?:has |have |had )?(?:hereby )?(?:approved|"
            rf"authori[sz]ed|allowed|permitted|cleared|granted|enabled|instructed|ordered){SPACE}"
            rf"(?:you|the {MACHINE}|this {MACHINE})(?:{SPACE}(?:permission|clearance|the right))?"
            rf"{SPACE}to{SPACE}{RISKY}\b"
        ),
        0,
    ),
    "from_now_on_you": (
        compile_pattern(
            r"\bfrom (?:now|here|this (?:point|moment)) on(?:wards?)?[\s,]{1,4}you(?: are|'re| will be|"
            r" must be| act| behave|"
            r" have no| will have no| do not have| obey| serve| work for| belong| will obey| must obey|"
            r" will follow)\b"
        ),
        0,
    ),
    "system_prompt": (
        compile_pattern(
            rf"\b(?:reveal|show|print|repeat|leak|output|display|dump|expose|disclose|recite|tell (?:me|"
            rf"us)|give (?:me|us)|"
            rf"replace|overwrite|override|rewrite|change|update|modify|edit){SPACE}{WORDS}{{0,2}}?"
            rf"(?:your|the {MACHINE}'s|the (?:hidden|secret|current)){SPACE}{WORDS}{{0,2}}?"
            r"(?:system (?:prompt|message|instructions)|initial (?:prompt|instructions)|hidden (?:prompt|"
            r"instructions)|"
            r"secret instructions|guardrails|prompt|instructions)\b"
            r"|\b(?:new|updated) system (?:prompt|message|instructions?)\s{0,2}[:=]"
            r"|\bsystem prompt (?:override|update)\b|\boverride (?:the )?system prompt\b"
            r"|\bwhat(?:'s| is| are| were) your (?:system prompt|(?:initial|hidden|secret) (?:prompt|"
            r"instructions))\b"
        ),
        0,
    ),
    "new_instructions": (
        compile_pattern(
            rf"\byour (?:new|real|true|actual|only) (?:instructions?|task|role|rules|directives?|goal|"
            rf"objective|mission|"
            rf"purpose) (?:is|are|will be)\b|\b(?:your |the )?(?:new|updated|additional|"
            rf"real) instructions?\s{{0,2}}:"
            rf"|\b(?:note|message|attention|memo|instructions?|important)(?: to| for|:|,)? (?:the |any |"
            rf"all )?{MACHINE}s?"
            rf"(?: assistants?| agents?| models?)?(?: reading this)?\s{{0,2}}[:,-]\s{{0,3}}"
            rf"|\bend of (?:the )?(?:system prompt|system message|instructions|prompt)\b"
            rf"|\b(?:if you are|as) an? {MACHINE}(?: reading this)?{SPACE}(?:you must|you should|please|"
            rf"ignore|do|{DEEDS})\b"
        ),
        0,
    ),
    "permission": (
        compile_pattern(
            rf"\b(?:remember|note|know|save)(?: to memory)?(?: that)?{SPACE}(?:you|the {MACHINE}|"
            rf"this {MACHINE}){SPACE}"
            r"(?:are|is|have|has)(?: now| always| been)? (?:allowed|authori[sz]ed|permitted|permission|"
            r"cleared|approved) to\b"
            rf"|\b(?:disable|turn off|remove|lift|drop|switch off) (?:all (?:of )?)?your {WORDS}{{0,2}}?"
            r"(?:safety|filters?|restrictions?|guardrails|moderation|limits|limitations|censorship)\b"
        ),
        0,
    ),
    "safety": (
        compile_pattern(
            rf"{ORDERED}(?:override|bypass|disable|ignore|disregard|circumvent|evade|turn off|switch off|"
            r"deactivate|lift|drop|remove|suspend)\s(?:(?:the|all|any|your|its|every|these|of)\s){0,3}"
            rf"(?:(?:ai|content|model)\s)?safety{SPACE}(?:polic(?:y|ies)|guidelines?|filters?|guardrails|"
            r"rules?|protocols?|restrictions?|instructions?|checks?|measures?|training|constraints?|limits?)\b"
        ),
        0,
    ),
}
