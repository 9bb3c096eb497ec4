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
from screening.forgeries import PATTERNS as FORGERIES
from screening.orders import PATTERNS as ORDERS
from screening.patterns import Haystack, words_of

PATTERNS = ORDERS | FORGERIES
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
