"""What may be a password and what only is said of passwords. Pure."""

import re

from screening.patterns import words_of

# What is said of passwords without telling one.
TALK = words_of("""
    a an the my your our his her its their this that these those it they what which who where when why how
    if not never no none nothing anything something everything someone anyone always also already again
    almost about above after all any as at because before being below between both but by can could did do
    does done each either enough even for from get got had has have here in into just kept like long
    longer made many may more most much must need needed needs new now of off ok okay on one only or other
    out over own per please same set shall should short so some still strong such than then there through
    to too twice under unknown until up us used useful using usually valid very via was we weak well were
    while will with within without would wrong yes yet you able accepted active admin-only ascii asked
    auto available awful bad based blank broken case changed clear complex complicated compromised
    confidential correct critical different difficult due easy empty encrypted enforced entered essential
    expired exposed fine forgotten forgot good guessable hard hashed hidden important impossible inactive
    incorrect inside insecure invalid key known leaked left locked lost managed mandatory masked mine
    minimum missing mixed null nil undefined obsolete obvious old older optional outdated plain private
    protected public ready real recommended redacted rejected required reset right rotated safe salted
    saved secret secure sensitive sent shared similar simple stale stored strong string str bool int stuck
    stupid sufficient suspicious temporary terrible text tied tight too-short true false unchanged unclear
    unencrypted unique unsafe unsecured updated visible vital working worthless written include includes
    contain contains match matches expire expires change changes work works fail fails manager managers
    policy policies field reset resets reminder rules rule requirement requirements hash input prompt page
    form generator strength length owner manager authentication auth login hint hints protection recovery
    rotation expiry less free change-me sein nicht falsch richtig abgelaufen vergessen geheim sicher
    unsicher zu kurz lang länger gut schlecht mein dein ihr unser das der die ein eine einen neu alt
    geändert gesperrt leer wichtig ungültig gültig incorrecta incorrecto correcta segura seguro insegura
    larga corta demasiado muy mi tu su nuestra la el un una olvidada caducada débil fuerte secreta
    yesterday today tomorrow pending both ask
    importante inválida válida obligatoria requerida incorrect faux bon oublié expiré trop court sécurisé
    très mon ton son notre le une perdu secret requis obligatoire invalide valide important sûr dans
""")
MADE_OF = words_of(
    "base64 sha1 sha256 sha-256 sha512 md5 oauth2 2fa mfa pbkdf2 argon2 argon2id "
    "bcrypt utf-8 1password ed25519"
)
MEASURES = re.compile(
    r"(?i)[\s-]{1,3}(?:char|letter|digit|symbol|word|bit|byte|day|week|month|year|hour|minute|second|time|"
    r"attempt|tries|percent|or more|zeichen|stellen|tage|mal|caracter|carácter|días|jours|caractères|"
    r"x\b|of\b)"
)
MEASURED = re.compile(r"(?i)^\d+[-+]?(?:char|digit|letter|symbol|bit|day|word|fa\b|x$|%$|\+$)")
TALKING = re.compile(r"(?i)^[a-z'-]+(?:ed|ing|ly|able|ible|ful|less|ous|ive)$")
PLAIN = re.compile(r"^[^\W\d_]+(?:['-][^\W\d_]+)*$")
CALL = re.compile(r"^[\w.]+[(\[]")
ADDRESS = re.compile(r"^(?:https?://|[\w.+-]+@[\w-]+\.\w)")
PHRASE_END = re.compile(r"[.;!?\n]")
CLAUSE_END = re.compile(r"\s*(?:$|[.,;!?)\n]|(?:and|but|so|or|und|aber|y|pero|et|mais)\b)", re.IGNORECASE)
LONGEST_PHRASE = 200
SEVERAL_WORDS = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){3,11}(?=\s*(?:[.;!?\n]|\Z))")


def is_password(value: str, after: str, *, by_sign: bool, is_said: bool) -> bool:
    """Whether an unquoted value is one. After a sign it is unless it talks of passwords; in a sentence an
    ordinary word must be the last; elsewhere it must look made up."""
    if value.isdecimal():
        return len(value) >= (4 if by_sign or is_said else 5) and not MEASURES.match(after)
    if CALL.match(value) or ADDRESS.match(value) or TALKING.match(value):
        return False
    if by_sign or looks_made_up(value):
        return True
    return is_said and bool(PLAIN.match(value) and CLAUSE_END.match(after))


def looks_made_up(value: str) -> bool:
    """Whether no word is spelt like that."""
    if len(value) < 4 or value.lower() in MADE_OF or MEASURED.match(value) or ADDRESS.match(value):
        return False
    kinds = (
        any(map(str.isalpha, value)),
        any(map(str.isdigit, value)),
        any(one in "!@#$%^&*~+=" for one in value),
    )
    return sum(kinds) >= 2


def is_silent(value: str) -> bool:
    """Whether a word says nothing of passwords in general, so that it may be one."""
    return value.lower() not in TALK and not TALKING.match(value)


def length_of_phrase(text: str, start: int, *, most: int) -> int:
    """How long the several plain words up to the end of the sentence are, if at most `most` of them talk of
    passwords; else 0."""
    found = SEVERAL_WORDS.match(text, start, start + LONGEST_PHRASE)
    if found is None or not found[0].islower():
        return 0
    talking = [word for word in found[0].split() if word != "correct" and not is_silent(word)]
    return len(found[0]) if len(talking) <= most else 0
