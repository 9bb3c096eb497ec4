"""Passwords, PINs and access codes that a person tells, in several languages; not talk about them. Pure."""

import re
from collections.abc import Iterator

from screening.findings import Finding
from screening.patterns import Haystack, Hit, any_of, compile_pattern, words_of
from screening.secrets import is_placeholder

PHRASES = any_of("(?:pass|seed|recovery|mnemonic) ?phrase, mnemonic")
WORDS = any_of(
    "passwords?, passwd, (?:pass|seed|recovery|mnemonic) ?phrase, mnemonic, pass ?code, pwd, pw, psw, "
    "pass(?:wort|wörter), kennwort, losung, "
    "contraseña, contrasena, clave(?: secreta)?, palabra clave, "
    "mot de passe, mdp, senha, palavra-passe, parola d'ordine, wachtwoord, hasło, lösenord, salasana, пароль"
)
PINS = any_of(
    "pin, pin[ _-]?code, pin[ _-]number, geheimzahl, código pin, code pin, "
    "(?:verification|security|access|one-time|2fa|otp|unlock|door|gate|alarm|safe|garage|entry|login|backup|"
    "recovery|voicemail|sperr|tür|zugangs)[ -]?code, otp, (?:safe|lock|locker|padlock) combination"
)
# What a password may be for, between its name and its value.
ABOUT = (
    r"(?:\s{1,3}(?:for|to|of|on|at|in|für|zum|zur|vom|von|im|de|del|para|pour|du|al)"
    r"(?:\s{1,3}[^\s.,;:!?=]{1,30}){1,5}?)?"
)
SIGN = r"\s{0,3}(?::=|=>|->|=|:)\s{0,3}"
SAYS = (
    r"(?:(?:\s{1,3}|[,;.]\s{1,3}(?:it|which|that)\s{1,3})"
    r"(?:is|was|are|now is|should be|will be|ist|war|lautet|heißt|es|era|será|est|était|é|è)|"
    r"[,;.]\s{1,3}it's|'s)"
    r"(?:\s{1,3}(?:now|still|currently|just|simply|always|jetzt|noch|immer|ahora|siempre|maintenant|"
    r"toujours))?"
    r"\s{0,2}:?\s{1,3}"
)
# "Changed my password to …", or a dash: only before what can be nothing else.
TURNED = (
    r"\s{1,3}(?:(?:is|was|has been|got|been|gets)\s{1,3}(?:changed|set|reset|updated|rotated)\s{1,3})?"
    r"(?:to|auf|a|en|-{1,2})\s{1,3}"
)
VALUE = r"(\"[^\"\n]{1,128}\"|'[^'\n]{1,128}'|`[^`\n]{1,128}`|\S{1,128})"
# Something that is spelt like no word, or quoted.
SPELT = r"(\"[^\"\n]{1,128}\"|'[^'\n]{1,128}'|`[^`\n]{1,128}`|\S{0,64}[\d!@#$%^&*~+=]\S{0,64})"
# The word begins a word, or ends a name such as `DB_PASSWORD`, `dbPassword` or `mysql-password`.
LEFT = r"(?:^|[^\pL\pN])"
RIGHT = r"[\"'`)\]]{0,2}"
TOLD = compile_pattern(rf"{LEFT}{WORDS}{RIGHT}{ABOUT}(?:({SIGN})|({TURNED})|({SAYS})){VALUE}")
BARE = compile_pattern(rf"{LEFT}{WORDS}{RIGHT}()(\s{{1,3}})(){SPELT}")
PASS = compile_pattern(rf"{LEFT}pass{RIGHT}()({SIGN})(){SPELT}")
NAMED = compile_pattern(rf"(?-i:[a-z0-9](?:Password|Passwd|Pwd|Passphrase)){RIGHT}({SIGN})()(){VALUE}")
PIN = compile_pattern(
    rf"{LEFT}{PINS}{RIGHT}{ABOUT}(?:{SIGN}|{SAYS}|{TURNED}|\s{{1,3}})[\"'`#]?(\d(?:[ -]?\d){{2,9}})(?:\W|$)"
)
# "Pass" is a password behind "my", if it is spelt like none else, and of what people log in to.
MY_PASS = compile_pattern(rf"{LEFT}(?:my|mein|mi)\s{{1,3}}pass{RIGHT}{ABOUT}()({SAYS})(){SPELT}")
PASS_FOR = compile_pattern(
    rf"{LEFT}(?:wi-?fi|wlan|router|e-?mail|gmail|laptop|computer|pc|account|login|user|admin|root|server|db|"
    rf"database|ssh|vpn|netflix|network|facebook|instagram|bank|app)[\s_-]{{1,3}}pass{RIGHT}{ABOUT}"
    rf"(?:({SIGN})|({TURNED})|({SAYS})){VALUE}"
)
# The value before its name.
BEFORE = compile_pattern(
    r"(?:^|[\s\"'(:,])([^\s\"'(]{3,128})[\"'`]?\s{1,3}(?:is|was|ist|war|es|est)\s{1,3}"
    r"(?:my|our|the|his|her|their|your|mein|unser|das|die|mi|la|mon|le)\s{1,3}(?:[^\s.,;:!?]{1,20}\s{1,3}){0,2}?"
    rf"(?:({PINS})|(?:{WORDS}|pass))([^\pL\pN_-]|$)"
)
# Social security numbers of the USA: named, or in their three groups.
SSN = compile_pattern(
    r"\b(?:ssn|ss#|socials?|social[ _-]?security)(?:[ _-]?(?:numbers?|no\.?|nr\.?|#))?[\"'`]?"
    r"(?:[\s:=#,-]|\b(?:is|was|it's|it|are|my|the)\b){1,6}[\"'`]?(\d{3}[ -]?\d{2}[ -]?\d{4})(?:\D|$)"
)
SSN_PART = compile_pattern(
    r"\blast (?:4|four)(?: digits)? of (?:my|his|her|their|the) (?:ssn|social(?: security(?: number)?)?)\b"
    r"(?:[\s:=#,]|\b(?:is|are|was|were)\b){1,6}(\d{4})(?:\D|$)"
)
SSN_GROUPS = compile_pattern(r"(?:^|[^\pL\pN_.+/-])(\d{3}-\d{2}-\d{4})(?:[^\pL\pN_/-]|$)")
NUMBERED = re.compile(
    r"(?i)(?:order|invoice|tracking|ticket|serial|part|case|reference|ref|sku|model|item|phone|tel|call|fax|isbn)"
    r"(?:[ -]?(?:number|no\.?|nr\.?|id|#|code))?(?: is)?[ :=#]{0,3}$"
)
LABELLED = 32  # characters before a number that may say what it is
LOGIN = compile_pattern(
    r"\b(?:credentials|creds|login|log in|logon|anmeldung|zugangsdaten|credenciales|identifiants)\b"
    r"[^\n:=]{0,20}?[:= ]\s{0,2}[^\s/|:]{2,60}\s?[/|:]\s?(\S{4,128})"
)
CURL = compile_pattern(
    r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]{0,2}[\"']?[^\s:\"']{1,60}:([^\s\"']{1,128})"
)
PHRASE = compile_pattern(rf"{LEFT}{PHRASES}{RIGHT}{ABOUT}(?:{SIGN}|{SAYS})(\S)")

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
QUOTES = "\"'`"
TRAILING = f".,;:)]}}>{QUOTES}"
NEXT = 24  # characters behind a value that say what it is
LONGEST_PHRASE = 200


def find_passwords(text: Haystack) -> Iterator[Finding]:
    """Passwords, PINs and codes in a folded text."""
    for pattern in (TOLD, BARE, PASS, NAMED, MY_PASS, PASS_FOR):
        for hit in text.find(pattern):
            yield from _told(hit, text.text)
    for hit in text.find(PHRASE):
        yield from _phrase(text.text, hit.span(1)[0])
    for hit in text.find(PIN):
        start, end = hit.span(1)
        if not MEASURES.match(text.text, end, end + NEXT):
            yield Finding("secret", "pin", start, end)
    for hit in text.find(BEFORE):
        yield from _told_before(hit, text.text)
    yield from _social_security(text)
    for pattern in (LOGIN, CURL):
        for hit in text.find(pattern):
            value = hit.group(1)
            if not is_placeholder(value) and (pattern is CURL or _looks_made_up(value)):
                yield Finding("secret", "password", *hit.span(1))


def _told(hit: Hit, text: str) -> Iterator[Finding]:
    value = hit.group(4)
    is_quoted = len(value) > 2 and value[0] == value[-1] and value[0] in QUOTES
    core = value[1:-1] if is_quoted else value.rstrip(TRAILING).lstrip(QUOTES)
    bare = core.rstrip("!?")
    if len(bare) < 3 or bare.lower() in TALK or is_placeholder(value) or is_placeholder(core):
        return
    by_sign, is_said = bool(hit.group(1)), bool(hit.group(3))
    start, end = hit.span(4)
    if not is_quoted:
        end -= len(value) - len(value.rstrip(TRAILING))
        if not _is_password(bare, text[end : end + NEXT], by_sign=by_sign, is_said=is_said):
            return
    yield Finding("secret", "password", start, end)


def _told_before(hit: Hit, text: str) -> Iterator[Finding]:
    """Of a value that comes first: a number for a PIN; what is made up; a word that says nothing else, if the
    sentence is no more than that."""
    start, end = hit.span(1)
    value = hit.group(1)
    if hit.group(2):
        if value.isdecimal():
            yield Finding("secret", "pin", start, end)
        return
    bare = value.rstrip("!?,")
    if bare.lower() in TALK or is_placeholder(value) or CALL.match(value) or TALKING.match(bare):
        return
    is_whole = not text[max(start - 2, 0) : start].strip(" \"'(") and CLAUSE_END.match(text, hit.span(3)[0])
    if (len(bare) >= 4 and bare.isdecimal()) or _looks_made_up(bare) or (is_whole and PLAIN.match(bare)):
        yield Finding("secret", "password", start, end)


def _social_security(text: Haystack) -> Iterator[Finding]:
    for pattern in (SSN, SSN_PART):
        for hit in text.find(pattern):
            if len(hit.group(1)) == len("0000") or _is_issued(hit.group(1)):
                yield Finding("secret", "ssn", *hit.span(1))
    for hit in text.find(SSN_GROUPS):
        start, end = hit.span(1)
        if _is_issued(hit.group(1)) and not NUMBERED.search(text.text[max(start - LABELLED, 0) : start]):
            yield Finding("secret", "ssn", start, end)


def _is_issued(number: str) -> bool:
    digits = "".join(filter(str.isdecimal, number))
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and area[0] != "9" and group != "00" and serial != "0000"


def _phrase(text: str, start: int) -> Iterator[Finding]:
    """Several words up to the end of the sentence, if they are not about passphrases."""
    ended = PHRASE_END.search(text, start, start + LONGEST_PHRASE)
    end = ended.start() if ended else min(start + LONGEST_PHRASE, len(text))
    words = text[start:end].lower().split()
    if len(words) > 2 and sum(word.strip(",") in TALK for word in words) < 2:
        yield Finding("secret", "passphrase", start, end)


def _is_password(value: str, after: str, *, by_sign: bool, is_said: bool) -> bool:
    """Whether an unquoted value is one. After a sign it is unless it talks of passwords; in a sentence an
    ordinary word must be the last; elsewhere it must look made up."""
    if value.isdecimal():
        return len(value) >= (4 if by_sign or is_said else 5) and not MEASURES.match(after)
    if CALL.match(value) or ADDRESS.match(value) or TALKING.match(value):
        return False
    if by_sign or _looks_made_up(value):
        return True
    return is_said and bool(PLAIN.match(value) and CLAUSE_END.match(after))


def _looks_made_up(value: str) -> bool:
    """Whether no word is spelt like that."""
    if len(value) < 4 or value.lower() in MADE_OF or MEASURED.match(value) or ADDRESS.match(value):
        return False
    kinds = (
        any(map(str.isalpha, value)),
        any(map(str.isdigit, value)),
        any(one in "!@#$%^&*~+=" for one in value),
    )
    return sum(kinds) >= 2
