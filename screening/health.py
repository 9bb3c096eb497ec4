"""What is said of a person's health: conditions, diagnoses, medicines, treatments. Not figures of speech, not
the trade of those who treat. Pure."""

import re
from collections.abc import Iterator

from screening.findings import Finding
from screening.health_words import (
    ALLERGENS,
    BODY,
    CONDITIONS,
    FRENCH,
    GERMAN,
    MEDICINES,
    NO_NAMES,
    SPANISH,
    SPECIALISTS,
    STATES,
    TECHNICAL,
    TRADE,
    TREATMENTS,
)
from screening.patterns import Haystack, Hit, any_of, compile_pattern

KIN = any_of("""
    wife, husband, partner, spouse, mother, mom, mum, mama, father, dad, papa, parents?, son, daughter,
    kids?, child(?:ren)?, brother, sister, siblings?, grand(?:ma|pa|mother|father|son|daughter|parents?),
    uncle, aunt, niece, nephew, cousin, friend, girlfriend, boyfriend, fianc[ée]e?, boss, colleague,
    co-?worker, neighbou?r, roommate, flatmate, baby, toddler, twins?, ex, mother-in-law, father-in-law,
    teammate, manager, teacher, student
""")
W = r"[^\s.,;:!?()\"]{1,20}"  # a word, in any language
OTHERS = r"user|customer|patient|caller|employee|man|woman|boy|girl|child|person"
# With one group, a name: a word with a capital letter.
PERSON = (
    r"(?:\b(?:I|we|he|she|they|who|user)\b|"
    rf"\b(?:my|his|her|our|their|the users?'?s?)\s(?:{W}\s){{0,2}}?{KIN}(?:'s)?\b|"
    rf"\b(?:the|this|a)\s(?:{OTHERS})\b|\b((?-i:[A-Z][a-z]{{1,20}}))\b)"
)
ADVERBS = (
    r"(?:\s(?:also|still|both|just|recently|already|now|probably|once|even|actually|always|currently|finally|"
    r"never)){0,2}"
)
IS = r"(?:\s|')(?:am|m|is|s|are|re|was|were|been)"
HAS = r"(?:\s|')" + any_of("""
    have, has, had, having, ve, s, d, m, re, got, gets?, am, is, are, was, were, been, be, suffers?,
    suffered, lives?, lived, develops?, developed, caught, contracted, battles, battled, battling, fights,
    fought, fighting, beat, survived, recovered, recovering, deals?, struggles?, struggled, tested
    positive for, died of, died from, needs?, needed, don't have, doesn't have, didn't have, takes?, took,
    uses?, used, injects?, injected, went, goes, starts?, started, stopped, underwent, undergoes, undergo,
    might have, may have, could have, think i have, will have
""")
FILLER = any_of(r"""
    an?, the, some, got, type, stage, \d, one, two, i+, iv, severe, severely, mild, chronic, acute, early,
    late, onset, early-onset, late-stage, very, really, been, diagnosed, with, from, my, his, her, their,
    was, also, still, already, just, recently, newly, now, currently, gestational, breast, lung, prostate,
    skin, ovarian, colon, brain, bone, blood, liver, pancreatic, cervical, thyroid, clinical, major,
    postpartum, post-natal, generali[sz]ed, social, seasonal, recurring, bad, terrible, bit of, form,
    kind, case, history, of, family, living, suffering, fighting, battling, struggling, dealing,
    recovering, treated, for, in, both, always, weeks?, months?, \d\d, deathly, highly, mildly, not, n't,
    never, long, undergoing, having, scheduled, taking, starting, getting, going, through, another, daily,
    new, low-dose, high-dose, \d+ ?(?:mg|mcg|ml|units|iu), prescribed, me, him, her, us, them, up, to,
    put, on, off, back, therapy, treatment, rehab, hospital, surgery, and, uses?, or, \[health\]
""")
FILL = rf"(?:\s{FILLER}){{0,6}}?\s"
NAMED = rf"({W}(?:\s{W}){{0,2}})"  # what a diagnosis names
SAID = compile_pattern(
    rf"{PERSON}{ADVERBS}{HAS}{FILL}({CONDITIONS}|{STATES}|{MEDICINES}|{TREATMENTS})(?:\s([a-z-]{{1,20}})|\b)"
)
ALLERGIC = compile_pattern(rf"{PERSON}{ADVERBS}{IS}{FILL}(allergic\sto\s{ALLERGENS})\b")
SEES = compile_pattern(
    rf"{PERSON}{ADVERBS}(?:\s|')(?:(?:m|am|re|are|s|is)\s)?(?:sees?|saw|seeing|visits?)\s({SPECIALISTS})\b"
)
INJURED = compile_pattern(
    rf"{PERSON}{ADVERBS}\s(?:(?:have|has|had)\s)?((?:broke|broken|fractured|sprained|tore|dislocated)\s"
    rf"(?:my|his|her|their|an?|the|both)\s(?:left\s|right\s)?{BODY})\b"
)
DIAGNOSED = compile_pattern(
    rf"{PERSON}{ADVERBS}(?:\s|')(?:am|m|is|s|are|re|was|were|been|ve|has|have|had|got|"
    rf"gets?)(?:\s[a-z]{{1,12}}){{0,3}}?"
    rf"\sdiagnosed(?:\s(?:in|at|last|this|recently|age|year|month|week|\d{{1,4}}|by|a|the|my|doctors?|"
    rf"{W}day)){{0,4}}?"
    rf"\s(?:with|as)\s{NAMED}"
)
DOCTORS = compile_pattern(
    rf"\bdiagnosed\s(?:(?:me|him|her|us|them)|(?:my|his|her|our)\s{KIN})\s(?:with|as)\s{NAMED}"
)
DIAGNOSIS = compile_pattern(
    rf"\b(?:my|his|her|their|{KIN}'s)\s(?:{W}\s)?diagnosis\s?(?:is|was|of|:|came back as)\s{NAMED}"
)
TESTED = compile_pattern(
    rf"(?:\b(?:my|his|her|our|their)\s|\b(?:my|his|her|our|their)\s(?:{W}\s){{0,2}}?{KIN}'s\s|"
    r"\b((?-i:[A-Z][a-z]{1,20}))'s\s|\b(?:the\s)?(?:patient's\s|\b)(?:the\s)?)"
    r"(?:(?:last|latest|recent|new|brain|chest|pet|ct|blood|annual)\s){0,2}"
    r"(?:mri|ct|pet|scans?|biops(?:y|ies)|x-rays?|blood\s(?:tests?|work)|ultrasound|mammogram|colonoscopy|ecg|ekg|"
    r"endoscopy|pap\ssmear|lab\sresults|mri\sscan|ct\sscan)(?:\s(?:scan|results?|report))?"
    r"\s(?:has\s|have\s)?(?:showed|shows?|shown|revealed|reveals?|found|confirmed|confirms?|indicated|indicates?|"
    rf"detected|suggests?|suggested|picked\sup)(?:\s{FILLER}){{0,4}}?\s({CONDITIONS})\b"
)
PRESCRIBED = compile_pattern(
    rf"\b(?:prescribe[sd]?)(?:\s(?:me|him|her|us|them|my\s{KIN}))?{FILL}({MEDICINES})\b"
)
MEASURED = compile_pattern(
    rf"\b(?:my|his|her|patient's|{KIN}'s)\s(?:(?:resting|fasting|average|last|latest)\s)?"
    r"((?:blood pressure|blood sugar|glucose|cholesterol|(?:hb)?a1c|bmi|cd4|viral load|psa|tsh|sperm count|"
    r"t-cell)"
    r"(?:\s(?:level|levels|reading|readings|count|score))?\s(?:is|was|are|were|at|"
    r"of)(?:\s[a-z]{1,10}){0,3}?\s"
    r"(?:\d{1,4}(?:[./,]\d{1,3})?(?:\sover\s\d{2,3})?|high|low|elevated|too high|too low))"
)
DOSE = compile_pattern(
    r"\b(?:takes?|took|taking|prescribed|inject(?:s|ed|ing)?|on)(?:\s[a-z]{1,12}){0,3}?\s"
    r"(\d{1,4}(?:\.\d{1,2})? ?(?:mg|mcg|\x{b5}g|\x{3bc}g|iu)(?:\s(?:of\s)?[a-z]{3,20})?)\b"
)
ABROAD = (
    rf"\b(?:ich|er|sie|wir|mein{W}\s{W}|seine?\s{W}|ihre?\s{W})\s(?:habe|hat|haben|hatte|leide[nt]?|nehme|"
    rf"nimmt|bin|"
    rf"ist|war|bekomme|bekommt|brauche|braucht|spritze)(?:\s{W}){{0,3}}?\s({GERMAN})",
    rf"\b(?:bei\s(?:mir|ihm|ihr|uns|mein{W}\s{W})\swurden?|(?:dass|weil)\s(?:ich|er|"
    rf"sie))(?:\s{W}){{0,3}}?\s({GERMAN})",
    rf"\b(?:tengo|tiene|tuvo|padezco|padece|sufro|sufre|tomo|toma|estoy|está|soy|es|(?:me|le|"
    rf"nos) diagnosticaron|"
    rf"diagnosticad[oa])(?:\s{W}){{0,3}}?\s({SPANISH})",
    rf"\b(?:j'ai|je\s(?:souffre|prends|suis|fais)|(?:il|elle|m[ao]n?\s{W})\s(?:a|est|souffre|prend|fait)|"
    rf"m'a\sdiagnostiqué)"
    rf"(?:\s{W}){{0,3}}?\s(?:d'|l')?({FRENCH})",
)
# What is called one's own, and what it does.
OWN = compile_pattern(
    rf"\b(?:my|his|her|our|their|(?:my|his|her|our)\s{KIN}'s)\s(?:(?:own|old|new|really|bad|chronic|severe|mild|acute|"
    r"seasonal|postpartum|clinical|childhood|type|1|2|late-onset|social|recurring|undiagnosed)\s){0,2}"
    rf"({CONDITIONS}|{MEDICINES}|{TREATMENTS})"
    r"(?:\s(?:is|isn't|was|wasn't|are|were|has|have|had|will|makes?|made|gets?|got|keeps?|kept|comes?|came|acts?|acting|"
    r"flares?|flared|starts?|started|returned|returns|means?|causes?|caused|prevents?|stops?|went|worsened|worsens|"
    r"improved|symptoms?|meds?|medications?|medicines?|diagnosis|treatments?|attacks?|episodes?|flare-?ups?|again|and|"
    r"but|when|since|because|so|for|in|after|before|really|always|sometimes|often|still|never|can|could|does|doesn't|i|we|he|she|it)\b"
    r"|\s?[.,;!?)]|\s?$|\s?\n)"
)
# With one group, which is all that is to be found.
PLAIN = (
    ("medicine", PRESCRIBED),
    ("measure", MEASURED),
    ("dose", DOSE),
    *(("condition", compile_pattern(pattern)) for pattern in ABROAD),
)
FIGURATIVE = frozenset(("impostor", "imposter", "stockholm", "peter", "nih"))
OF_MACHINES = frozenset(("malware", "spyware", "ransomware", "virus", "trojan", "computer"))
BEHIND = re.compile(
    r"\s(?:last|in|at|on|when|and|but|this|by|after|before|two|three|a|the|since|as|so|which|who|is|was|if|"
    r"because|"
    r"yesterday|today|recently|ago|\d+)(?=\s|$).*",
    re.IGNORECASE,
)
SIGN_OF_STARS = re.compile(r"(?i)(?:\b|')(?:am|m|is|s|are|re|was|be)\s+an?\s+cancer\b")


def find_health(text: Haystack) -> Iterator[Finding]:
    """What a folded text says about somebody's health."""
    for hit in text.find(SAID):
        if not (_is_no_name(hit.group(1)) or _is_trade(hit)):
            yield Finding("health", "condition", *hit.span(2))
    for kind, pattern in (("allergy", ALLERGIC), ("treatment", SEES), ("condition", INJURED)):
        for hit in text.find(pattern):
            if not _is_no_name(hit.group(1)):
                yield Finding("health", kind, *hit.span(2))
    for hit in text.find(TESTED):
        if not (
            _is_no_name(hit.group(1)) or (TECHNICAL | OF_MACHINES).intersection(hit.group(2).lower().split())
        ):
            yield Finding("health", "diagnosis", *hit.span(2))
    yield from _own(text)
    yield from _diagnoses(text)
    for kind, pattern in PLAIN:
        yield from (Finding("health", kind, *hit.span(1)) for hit in text.find(pattern))


def _own(text: Haystack) -> Iterator[Finding]:
    for hit in text.find(OWN):
        if not (FIGURATIVE | OF_MACHINES | TECHNICAL).intersection(hit.group(1).lower().split()):
            yield Finding("health", "condition", *hit.span(1))


def _diagnoses(text: Haystack) -> Iterator[Finding]:
    for pattern, number in ((DIAGNOSED, 2), (DOCTORS, 1), (DIAGNOSIS, 1)):
        for hit in text.find(pattern):
            said = hit.group(number).lower().split()
            if not said[0].startswith("[") and not TECHNICAL.intersection(said):
                start, _ = hit.span(number)
                yield Finding("health", "diagnosis", start, start + _length(hit.group(number)))


def _length(diagnosis: str) -> int:
    """Up to the first word that no longer names it."""
    ended = BEHIND.search(diagnosis)
    return ended.start() if ended else len(diagnosis)


def _is_no_name(word: str) -> bool:
    return word.lower() in NO_NAMES


def _is_trade(hit: Hit) -> bool:
    """Whether it is the subject of somebody's work, a sign of the zodiac, or a figure of speech."""
    condition, follows = hit.group(2).lower(), hit.group(3).lower()
    if condition == "cancer":
        return follows in TRADE or SIGN_OF_STARS.search(hit.group()) is not None
    return follows in TRADE or follows == "of"
