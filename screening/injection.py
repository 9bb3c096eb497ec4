"""Orders to the model, and forged parts of a prompt, in text that is to be remembered. Pure; linear in the
text's length.

What people say of orders ("ignore the previous email", "I always forget the rules") and wishes about the
form of answers ("from now on answer in Spanish") may be remembered. What is recalled is fenced and escaped as
well: this is the first wall, not the only one.
"""

import re
from typing import Any

from screening.fences import has_fences
from screening.folding import plain
from screening.patterns import Haystack, compile_pattern, words_of

SPACE = r"[\s,]{1,4}"
WORDS = r"(?:[\w'-]{1,14}[\s,]{1,4})"
# Who is told to have done it, or is told not to: then it is no order.
SAID = (
    r"(?:\b(i|we|they|he|she|who|people|users|students|drivers|devs|developers|customers|nobody|everyone|"
    r"don't|do not|never|didn't|did not|cannot|can't|won't|wouldn't|shouldn't|should not|must not|to not|"
    r"not to)"
    rf"{SPACE}(?:(?:always|often|sometimes|usually|never|keep|tend to|might|may|just|will|would|can|could|"
    rf"did|"
    rf"do|should|must|need to|had to|have to|totally|also|completely){SPACE}){{0,2}})?"
)
IGNORE = (
    r"\b(?:ignor(?:e|es|ing)|disregard|forget|override|bypass|discard|neglect|skip over|pay no attention to|"
    r"stop following|do not follow|don't follow|do not obey|don't obey)"
)
BEFORE = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|existing|former|original|initial|system|developer)"
)
ORDERS = (
    r"(?:instructions?|prompts?|rules|directives?|guidelines|commands|orders|programming|constraints|"
    r"guardrails)"
)
MACHINE = r"(?:ai|a\.i\.|assistant|chat ?bot|bot|llm|language model|model|agent|gpt|copilot|claude)"
DEEDS = (
    r"(?:recommend|tell|say|send|include|append|insert|add|trust|obey|approve|ignore|forward|link|mention|"
    r"execute|run|visit|open|redirect|reveal|share|e-?mail|agree|pretend|act|end every|begin every|"
    r"start every|"
    r"praise|promote|advertise|refuse|deny|lie|bypass|disable|grant|transfer|pay|buy|delete|claim|insist|"
    r"suggest|"
    r"prefer|call the|post|upload|download|output|print|endorse|finish every)"
)
FORMS = (
    r"(?:in|briefly|concisely|shortly|politely|formally|informally|short|using|like|as short|to me|clearly|"
    r"honestly|slowly|step|my|with (?:short|brief|bullet|concise|one|code|examples|metric|links|sources|"
    r"less|more|"
    r"a short|a brief|fewer))"
)
# Where something is to be sent, or what is to be shown.
TARGET = (
    r"[\"'<(\[]?(?:https?://\S|www\.\S|[^\s\"'<>@]{1,64}@[^\s\"'<>]{3}|"
    r"[\w-]{1,63}(?:\.[\w-]{1,63}){0,3}\."
    r"(?:com|net|org|io|ai|co|dev|app|xyz|info|biz|ru|cn|me|site|online|top|link|example|de|uk|fr|es)\b)"
)
SENDING = (
    r"(?:include|add|insert|append|attach|link|send|e-?mail|forward|cc|bcc|copy|post|mention|recommend|cite|"
    r"promote|advertise|upload|report|redirect|point|refer|direct|visit|open|call|obey|trust|submit|write to)"
)
ALWAYS = (
    r"(?:always|never forget to|from (?:now|here|this (?:point|moment)) on(?:wards?)?|henceforth|"
    r"going forward|every time|whenever|(?:in|with|to|after|before|for) (?:each|every|all)(?: of)?(?: your)?"
    r"(?: future)? (?:answers?|repl(?:y|ies)|responses?|messages?|e-?mails?|conversations?|outputs?))"
)
MUST = r"(?:must|shall|have to|has to|are required to|is required to|are obliged to|are ordered to)"
ASSISTANT = r"(?:the|this|your|every|any) (?:ai|assistant|chat ?bot|bot|llm|language model|agent|copilot)"
OBEYING = (
    r"(?:recommend|tell|say|send|e-?mail|forward|share|reveal|trust|approve|grant|transfer|agree|pretend|"
    r"praise|promote|advertise|refuse|deny|lie|claim|insist|mention|endorse|answer|reply|respond|comply|"
    r"execute|follow (?:my|his|her|their|all|any|every|these|the) (?:\w{1,12} ){0,2}(?:orders?|instructions?|"
    r"commands?))"
)
CHIEF = (
    r"(?:(?:system|site|server|it|database|security|chief|lead|platform) ){0,2}"
    r"(?:administrators?|admins?|developers?|operators?|owners?|root|superusers?)"
)
ALL = (
    r"(?:all (?:the |of the )?users?|every ?(?:one|body|user)|any ?(?:one|body|user)|"
    r"you|the assistant|this user)"
)
MAY = (
    r"(?:allowed|authori[sz]ed|permitted|cleared|entitled|approved|permission|(?:full |unrestricted |admin "
    r")?access)"
)
ALL_DATA = r"(?:all|any|every|other|everything|everyone's|the private|the secret|unrestricted|full)"
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
            rf"\byou(?: are|'re) now{SPACE}{WORDS}{{0,4}}?(?:{MACHINE}|dan|jailbroken|unrestricted|"
            rf"uncensored|"
            r"unfiltered|unbound|evil|hacker|pirate|root|superuser|(?:developer|god|debug|admin|sudo|root|"
            r"dan) mode|"
            r"free (?:from|of)|no longer (?:bound|restricted|an?))\b"
            rf"|\b(?:act|behave|respond|pretend|role-?play)(?: as| to be|{SPACE}like){SPACE}{WORDS}{{0,3}}?"
            r"(?:if you (?:have no|had no|are not bound|were not bound)|dan|jailbroken|unrestricted|"
            r"uncensored|unfiltered|"
            rf"evil {MACHINE})\b"
            r"|\bdo anything now\b|\bjailbreak mode\b|\b(?:developer|god|"
            r"dan) mode (?:is )?(?:now )?(?:enabled|activated|on)\b"
        ),
        0,
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
}
# Names of slots that pose as what configures an assistant or says what somebody may do.
SETTINGS = words_of("""
    admin isadmin administrator isadministrator superuser issuperuser isroot root sudo isstaff isowner
    isdeveloper systemprompt systemmessage systeminstruction systeminstructions systemrole systemrules
    systemoverride developermessage developerprompt developerinstructions developermode debugmode godmode
    adminmode rootmode unrestrictedmode jailbreak jailbreakmode jailbroken permission permissions
    userpermissions userpermission toolpermissions accesslevel accessrights accesscontrol accesslist
    privilege privileges userprivileges adminaccess adminrights fullaccess isauthorized isauthorised
    istrusted trustlevel trustedsource trustedsources allowedtools guardrails safetymode safetysettings
    safetyfilter safetyfilters disablesafety contentfilter ignorerules ignoreinstructions
    promptoverride assistantinstructions agentinstructions modelinstructions botinstructions
    custominstructions assistantprompt agentprompt hiddeninstructions hiddenprompt
""")
# Likewise, but as the last part of a longer name they may be anything.
ALONE = words_of(
    "system prompt instructions instruction override directives guidelines developer config scopes"
)
ROLES = words_of("role roles userrole accountrole messagerole")
POWERS = words_of("system root superuser admin sudo superadmin systemadmin")  # no trade is called like that
NAME_PARTS = re.compile(r"[:./]")
FLAGS = re.compile("\U0001f3f4[\U000e0020-\U000e007f]{1,12}")  # of regions: the only honest use of tags
TAGS = re.compile("[\U000e0001\U000e0020-\U000e007f]")  # letters that nobody sees and models read


def find_injection(text: str) -> tuple[str, ...]:
    """The names of the patterns that the text has; empty for a text that may be remembered."""
    shown = plain(text)
    hay = Haystack(shown)
    found = [name for name, (pattern, said) in PATTERNS.items() if _is_there(hay, pattern, said)]
    if has_fences(shown) or has_fences(text):
        found.append("fence")
    if not text.isascii() and TAGS.search(FLAGS.sub("", text)):
        found.append("hidden_text")
    return tuple(found)


def poses_as_configuration(key: str, value: object = None) -> bool:
    """Whether a slot of this name would read as configuration in a prompt, and not as something about a user:
    `system_prompt`, `admin`, `permissions`; `role` with a value such as `system`."""
    parts = [_letters(part) for part in NAME_PARTS.split(plain(key))]
    whole = "".join(parts)
    if {whole, parts[-1]} & SETTINGS or whole in ALONE:
        return True
    return parts[-1] in ROLES and isinstance(value, str) and _letters(plain(value)) in POWERS


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _is_there(hay: Haystack, pattern: Any, said: int) -> bool:
    """Whether a place has it that is not excused by one of its `said` groups."""
    if not said:
        return hay.has(pattern)
    return any(not any(map(hit.group, range(1, said + 1))) for hit in hay.find(pattern))
