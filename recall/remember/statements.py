"""A message as statements that its writer makes about themselves. Pure; linear in the message's length.

What is asked, quoted, supposed or somebody else's words is no statement. Sentences are cut into clauses where
the writer speaks of themselves anew, so that a rule only has to look at a clause's beginning.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from screening.folding import fold

LONGEST = 400  # characters of a sentence; longer ones are data or legal text
MOST = 400  # sentences of one message that are looked at closely
LONGEST_GREETING = 40
HEDGED = 0.6  # what a hedge leaves of the confidence

OPENERS = (
    r"i|i'm|i've|i'd|i'll|im|my|we|we're|we've|our|me|call me|please|don't|do not|never|always|you can|"
    r"(?:everyone|everybody|people|friends|they all) calls? me|ich|meine?|nenn|bitte|me llamo|vivo|hablo|mi|"
    r"trabajo|prefiero|soy|je|j'\w+|mon|ma|it's|it is|that's"
)
CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
QUOTED = re.compile(
    r'"([^"\n]{1,300})"|`([^`\n]{1,300})`'
    r"|(?<![\w'])'((?:[^'\n]|(?<=\w)'(?=\w)){1,300})'(?![\w'])"
)
FIRST_PERSON = re.compile(r"(?i)\b(?:i|i'm|i've|me|my|mine|we|our|ich|mein|je|mon|yo|mi)\b")
BOUNDARY = re.compile(r"[.!?…]+[\"')\]]*(?=\s|\Z)|[;\n]+|\s--?\s")
ABBREVIATION = re.compile(r"(?i)(?:^|[\s(])(?:dr|mr|mrs|ms|st|prof|jr|sr|vs|approx|e\.g|i\.e|inc|ltd)\Z")
INITIAL = re.compile(r"(?:\bis|\bam|'m|\bme|\b[A-Z]\.) [A-Z]\Z")

# Without one of these words a sentence says nothing about its writer that a rule could find.
TELLING = re.compile(
    rf"(?i)\b(?:{OPENERS}|m'|speak|answer|reply|respond|keep|use|stop|avoid|remember|no|not|actually)\b"
)
SUPPOSED = re.compile(
    r"(?i)\b(?:if|suppos(?:e|ing)|imagin(?:e|ing)|pretend(?:ing)?|hypothetical(?:ly)?|let'?s say|"
    r"assum(?:e|ing)|"
    r"i wish|unless|in case|as though|would have|could have|when i was|for example|"
    r"for instance|"
    r"e\.g|wenn ich|si yo|si je|were i|(?:the|my) character|as an? (?:ai|assistant|"
    r"(?:large )?language model|chat ?bot|llm)|the role i play|"
    r"in (?:the|my|a|our|this) (?:story|novel|book|movie|film|game|dream|play|musical|show|sketch|series)"
    r"(?! (?:industry|business|studio|team|world)))\b"
)
# What has ended, so that something else holds now: "I used to live in Oslo, now I live in Bergen".
USED_TO = re.compile(r"(?i)\bused to (?!it\b)")
# "My number changed, it's …" in one.
CHANGED = re.compile(
    r"(?i)\b((?:my|our) (?:new |old )?[\w -]{2,30}?) (?:has |have |just |recently )*"
    r"(?:changed|is new|is different)(?: (?:recently|now|again|last \w+))?[,;:]? (?:and |so )?(?:now )?"
    r"(?:it's|it is)(?: now)? "
)
ASKS = (
    r"what|what's|how|how's|where|where's|when|which|who|who's|whose|why|can|can't|could|couldn't|would|"
    r"wouldn't|"
    r"will|won't|do|does|did|don't|doesn't|didn't|is|isn't|are|aren't|am|was|were|should|shouldn't|may|shall|"
    r"have|has|had|any|you|wie|was|wo|wann|kannst|können|qué|cómo|dónde|puedes|quel|quelle|comment|où|"
    r"peux|pouvez"
)
TAIL = re.compile(rf"(?i)(?:,\s*|\s(?:and|so|but)\s+|,\s*(?:and|so|but)\s+)(?=(?:{ASKS})\b)")
ASKING = re.compile(rf"(?i)(?:{ASKS})\b")
POLITE = re.compile(
    r"(?i)(?:so |and |but |also |hey |hi )?(?:can|could|would|will) you (?:please )?(.+?)\??\Z"
)
# Somebody else speaks, or a form is filled in.
LABEL = re.compile(
    r"(?i)\W*(?!(?:quick |small |one )?(?:note|update|reminder|fyi|btw|ps|p\.s|correction|important|"
    r"edit|also|"
    r"by the way|question|answer|so|hi|hello|hey|first|second|i|i'm|my|please|"
    r"thanks)\b)[\w.@-]+(?: [\w.-]+)?:\s"
)
# Work on a text: what the text says is nobody's statement.
TASK = re.compile(
    r"(?i)(?:(?:can|could|would|will) you )?(?:please )?(?:help me )?(?:translate|proofread|rewrite|rephrase|"
    r"paraphrase|summari[sz]e|draft|compose|write|correct|fix|edit|repeat|complete|continue|generate|create|"
    r"act as|role-?play|pretend|imagine|suppose|say|tell me a|übersetze?|traduce|traduis)\b"
)
TEXT_FOLLOWS = re.compile(
    r"(?i):|\b(?:following|below|act as|role-?play|pretend|imagine|suppose|this (?:text|letter|email|e-mail|"
    r"message|paragraph|sentence|essay|review|story|code))\b"
)
HEDGE = (
    r"maybe|perhaps|possibly|probably|presumably|apparently|i think|i guess|i suppose|i believe|i feel like|"
    r"(?:i'm )?not (?:sure|certain)(?: but)?|it seems(?: that)?|i'd say|vielleicht|ich glaube|quizás?|"
    r"creo que|peut-être|je crois que"
)
HEDGES = re.compile(
    rf"(?i)\b(?:{HEDGE}|might|may (?:be|have|prefer|like|want)|could be|kind of|kinda|sort of|sorta|"
    r"more or less|sometimes|occasionally|somewhat|or something|at least i think|not really sure)\b"
)
BARE_HEDGE = re.compile(rf"(?i)[\s,]*(?:but |or )?(?:{HEDGE}|or something)[\s.,!]*\Z")
CLAUSE = re.compile(
    r"(?i)(?:\s*[,:]\s*(?:(?:and|but|so|because|since|though|although|while|plus|also|or|und|y|et)\s+)?"
    r"|\s+(?:and|but|so|because|since|though|although|plus|und|y|et)\s+)"
    rf"(?=(?:(?:also|that|please|actually|now|today|these days|{HEDGE})\s+)?(?:{OPENERS})(?:\s|\b))"
)
CORRECTION = r"actually|no|nope|correction|sorry|wait|i meant|i mean|scratch that|rather"
LEAD = re.compile(
    r"(?i)[\s,:!.…-]*(?:(hi(?: there| all| everyone| team)?|hello(?: there)?|hey(?: there)?|"
    r"good (?:morning|evening|afternoon)|hallo|hola|bonjour|salut)"
    rf"|({CORRECTION})|({HEDGE})"
    r"|thanks|thank you|ok(?:ay)?|well|so|oh|ah|yes|yeah|yep|and|but|also|plus|besides|then|now|just|fyi|btw|"
    r"by the way|for the record|(?:just )?so you know|as a reminder|reminder|note that|"
    r"(?:please )?(?:remember|note|keep in mind|don't forget)(?: that)?(?= (?:i|i'm|my|we|our)\b)|in fact|"
    r"to be honest|honestly|personally|generally|these days|nowadays|currently|at the moment|right now|"
    r"recently|quick note|last (?:week|month|year)|because|since|as|update|one more thing|"
    r"you should know(?: that)?|you know|"
    r"let me introduce myself|first(?: of all)?|important|p\.?s\.?|that|today|good news|great|cool|perfect)"
    r"(?![\w'])[\s,:!.…-]*"
)
# What goes on without its "I": "I'm from Mexico but live in Lima".
GOES_ON = re.compile(
    r"(?i)\s*(?:,\s*(?:(?:and|but|und|aber|et)\s+)?|\s(?:and|but|und|aber|et)\s+)"
    r"(?=(?:(?:now|currently|still|also|jetzt|maintenant) )?"
    r"(?:live in|reside in|work (?:at|for|as)|moved to|joined|started at|"
    r"prefer|speak|am|(?P<im>based in|living in|working (?:at|for|as)|originally from)|"
    r"(?P<de>wohne|lebe|arbeite|spreche|komme)|(?P<fr>habite|vis|parle|travaille))\s)"
)
STARTS = re.compile(r"(?i)\s*,?\s*(?:but|(?:and )?(?:now|currently)|(?:and )?(?:moved|joined|started))\b")
I_MYSELF = re.compile(r"(?i)(?:i|i'm|im|i've|we|we're|ich|je|j'\w+|me|my name|mein name)\s")
NOT_SO = re.compile(
    r"(?i)\b(?:want|would|wish|hope|plan|planning|going|will|could|might|may|should|must|can|cannot|let|help|"
    r"who|whom|which|that|people|friends|they|not|never|möchte|will|würde|kann|nicht|veux|voudrais|pas)\b|n't\b|"
    r"(?<!moved)(?<!used) to [a-z]"
)
SHOUTED = 12  # letters from which on a sentence in capitals only is a headline


class Clause(NamedTuple):
    """A clause without what leads into it."""

    text: str
    hedged: bool
    corrects: bool
    greets: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """`words`: the sentence it stands in. `certainty`: 1, or less when it is hedged. `corrects`: it takes
    something back that was said before; `greets`: a greeting leads into it; `asked`: it is a polite request;
    `plain`: its writer uses no capitals, so that they tell nothing about names."""

    text: str
    words: str
    certainty: float = 1.0
    corrects: bool = False
    greets: bool = False
    asked: bool = False
    plain: bool = False


def read_statements(message: str) -> Iterator[Statement]:
    """The statements of the message, in their order."""
    looked_at, greeted = 0, False
    plain = not any(map(str.isupper, message[:20_000]))
    for sentence in split_sentences(_unquoted(fold(message))):
        if len(sentence) > LONGEST or not TELLING.search(sentence):
            greeted = len(sentence) <= LONGEST_GREETING and _is_greeting(sentence)
            continue
        looked_at += 1
        if looked_at > MOST:
            return
        if TASK.match(_led_in(sentence).text):
            if TEXT_FOLLOWS.search(sentence):
                return
            continue
        if SUPPOSED.search(sentence) or LABEL.match(sentence) or _is_shouted(sentence):
            continue
        yield from _statements_of(sentence, plain, greeted)
        greeted = False


def split_sentences(text: str) -> Iterator[str]:
    """The sentences with their marks, without outer white space."""
    begin = 0
    for mark in BOUNDARY.finditer(text):
        before = text[max(begin, mark.start() - 12) : mark.start()]
        if mark[0] == "." and (ABBREVIATION.search(before) or INITIAL.search(before)):
            continue
        if sentence := text[begin : mark.end()].strip(" \t\n;-"):
            yield sentence
        begin = mark.end()
    if sentence := text[begin:].strip(" \t\n;-"):
        yield sentence


def _unquoted(text: str) -> str:
    """Without code and quotations, other than quoted names and terms."""
    text = QUOTED_LINE.sub("", CODE.sub("\n", text))

    def bare(quoted: re.Match[str]) -> str:
        inner = next(group for group in quoted.groups() if group is not None)
        return "" if FIRST_PERSON.search(inner) or inner.count(" ") > 4 else inner

    return QUOTED.sub(bare, text)


def _statements_of(sentence: str, plain: bool, greeted: bool) -> Iterator[Statement]:
    said, asked = _not_asked(CHANGED.sub(r"\1 is ", sentence))
    if not said:
        return
    pieces = [part for piece in CLAUSE.split(said) for part in _gone_on(piece)]
    corrects, unsure = False, False
    for piece, after in zip(pieces, [*pieces[1:], ""], strict=True):
        text, hedged, corrected, greets = _led_in(piece)
        corrects = corrects or corrected
        if not text or USED_TO.search(text) or BARE_HEDGE.fullmatch(piece):
            unsure = unsure or bool(BARE_HEDGE.fullmatch(piece) and piece is pieces[0])
            continue
        doubtful = unsure or hedged or HEDGES.search(text) or BARE_HEDGE.fullmatch(after)
        yield Statement(
            text=_without_tail_hedge(text),
            words=sentence,
            certainty=HEDGED if doubtful else 1.0,
            corrects=corrects,
            greets=greets or greeted or bool(pieces[0] != piece and _led_in(pieces[0]).greets),
            asked=asked,
            plain=plain,
        )


def _gone_on(piece: str) -> list[str]:
    """The clause, and what goes on with the same subject, with the subject before it."""
    marks = list(GOES_ON.finditer(piece))
    if USED_TO.search(piece):  # "… and work at Acme" is over as well
        marks = [one for one in marks if STARTS.match(piece, one.start())]
    if not marks or not I_MYSELF.match(_led_in(piece).text) or NOT_SO.search(piece[: marks[-1].start()]):
        return [piece]
    ends = [*(mark.start() for mark in marks[1:]), len(piece)]
    parts = [piece[: marks[0].start()]]
    for mark, end in zip(marks, ends, strict=True):
        subject = "I'm" if mark["im"] else "ich" if mark["de"] else "je" if mark["fr"] else "I"
        parts.append(f"{subject} {piece[mark.end() : end]}")
    return parts


def _is_greeting(sentence: str) -> bool:
    """ "Hello!", "Hi Strata!"."""
    clause = _led_in(sentence)
    return clause.greets and clause.text.count(" ") == 0


def _without_tail_hedge(text: str) -> str:
    """Without ", I think" at its end."""
    head, comma, tail = text.rpartition(",")
    return head if comma and BARE_HEDGE.fullmatch(tail) else text.rstrip(" .!…,")


def _not_asked(sentence: str) -> tuple[str, bool]:
    """What of the sentence is no question; whether it is a request in the form of one."""
    if "?" not in sentence[-4:]:
        return sentence, False
    polite = POLITE.match(_led_in(sentence).text)
    if polite:
        return polite[1], True
    tails = list(TAIL.finditer(sentence))
    said = sentence[: tails[0].start()] if tails else ""
    return ("" if ASKING.match(_led_in(said).text) else said), False


def _led_in(piece: str) -> Clause:
    """The clause without "well,", "by the way", "no, I meant" and the like."""
    at, hedged, corrects, greets = 0, False, False, False
    for _ in range(6):
        lead = LEAD.match(piece, at)
        if lead is None or lead.end() == at:
            break
        greets, corrects = greets or bool(lead[1]), corrects or bool(lead[2])
        hedged, at = hedged or bool(lead[3]), lead.end()
    return Clause(piece[at:].strip(), hedged, corrects, greets)


def _is_shouted(sentence: str) -> bool:
    return sentence.isupper() and sum(map(str.isalpha, sentence)) > SHOUTED
