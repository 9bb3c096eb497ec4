"""The words of orders to a model, as parts of patterns. Pure."""

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
# An order, and not what somebody does or wants to do.
ORDERED = (
    r"(?:(?m:^)[\s>*-]{0,4}|[.!?;:,]\s{1,3}|\b(?:please|now|and|then|"
    r"(?:you|assistant) (?:must|should|can|may|will|shall|have to|need to|are to))\s{1,3})"
)
# Said of the one who is talked to, and no more than that.
FAVOURITE = (
    r"(?:my|our) (?:new |very |absolute ){0,2}(?:favou?rite|preferred|go-to|best) "
    rf"(?:{MACHINE} ){{0,1}}?{MACHINE}"
    r"(?:\s{0,3}[.!;)\n]|\s{0,3}$|,\s{1,3}thank|\s(?:ever|of all|for|because|in)\b)"
)
UNBOUND = (
    rf"you(?:(?: have| had|'ve| have got|'ve got| are under| are bound by| are subject to){SPACE}(?:no|zero)|"
    r"(?: do not| don't| did not| didn't| are not| aren't| were not| weren't) (?:have|bound by|subject to|"
    r"follow|restricted by|limited by)(?: any| the| your)?|(?:'re| are| were) (?:without|free of|free from))"
    rf"{SPACE}{WORDS}{{0,2}}?(?:rules?|restrictions?|limitations?|filters?|guidelines|polic(?:y|ies)|"
    r"guardrails|censorship|constraints|instructions|ethics|morals)"
)
RISKY = (
    r"(?:run|execute|delete|drop|erase|wipe|share|reveal|disclose|send|forward|ignore|bypass|disable|override|skip|"
    r"transfer|pay|approve|install|sudo|rm|(?:show|access|read|see) (?:all|any|every|everything)|"
    r"(?:act|answer) without)"
)
