"""Passwords, PINs and access codes that a person tells, in several languages; not talk about them. Pure."""

import re
from collections.abc import Iterator

from screening.findings import Finding
from screening.further_passwords import NEXT, QUOTES, find_further
from screening.password_values import (
    ADDRESS,
    CALL,
    CLAUSE_END,
    LONGEST_PHRASE,
    MEASURES,
    PHRASE_END,
    PLAIN,
    TALK,
    is_password,
    is_silent,
    length_of_phrase,
    looks_made_up,
)
from screening.patterns import Haystack, Hit, any_of, compile_pattern, words_of
from screening.secrets import is_placeholder
from screening.social_security import find_social_security

PHRASES = any_of("(?:pass|seed|recovery|mnemonic) ?phrase, mnemonic")
WORDS = any_of(
    "(?:pg)?passwords?, passwd, (?:pass|seed|recovery|mnemonic) ?phrase, mnemonic, pass ?code, pwd, pw, psw, "
    "pass(?:wort|wörter), kennwort, losung, "
    "contraseña, contrasena, clave(?: secreta)?, palabra clave, "
    "mot de passe, mdp, senha, palavra-passe, parola d'ordine, wachtwoord, hasło, lösenord, salasana, пароль"
)
PINS = any_of(
    "pins?, pin[ _-]?codes?, pin[ _-]numbers?, geheimzahl, código pin, code pin, "
    "(?:verification|security|access|one-time|2fa|otp|unlock|door|gate|alarm|safe|garage|entry|login|backup|"
    "recovery|voicemail|sperr|tür|zugangs)[ -]?code, otp, (?:safe|lock|locker|padlock) combination"
)
# What a password may be for, between its name and its value.
ABOUT = (
    r"(?:\s{1,3}(?:for|to|of|on|at|in|für|zum|zur|vom|von|im|de|del|para|pour|du|al)"
    r"(?:\s{1,3}[^\s.,;:!?=]{1,30}){1,5}?)?"
)
SIGN = r"\s{0,3}(?::=|=>|->|=|:)\s{0,3}(?:[-*\x{2022}]\s{1,3})?"
SAYS = (
    r"(?:(?:\s{1,3}|[,;.?]\s{1,3}(?:it|which|that)\s{1,3})"
    r"(?:is|was|are|were|now is|should be|will be|used to be|ist|war|lautet|heißt|es|era|será|est|était|é|è)|"
    r"[,;.?]\s{1,3}it's|'s)"
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
# Beside its name, denied, given by somebody, in brackets: only what is spelt like no word.
NEAR = (
    rf"{ABOUT}\s{{1,3}}(?:is|was|are)(?:n't|\s{{1,3}}not|\s{{1,3}}no\s{{1,3}}longer)\s{{1,3}}|"
    r"\s{1,3}(?:(?:that|which)\s{1,3})?(?:you|i|we|they|he|she)(?:\s{1,3}[^\s.,;:!?()]{1,15}){1,4}?"
    r"(?:\s{0,3}[,(:]\s{0,3}|\s{1,3}(?:is|was|-)\s{1,3})|\s{0,3}\(\s{0,3}"
)
BARE = compile_pattern(rf"{LEFT}{WORDS}{RIGHT}()({NEAR}|\s{{1,3}})(){SPELT}")
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
FROM_TO = compile_pattern(
    rf"\b(?:chang|switch|updat|rotat|reset)\w{{0,3}}\s{{1,3}}(?:[^\s.,;:!?]{{1,20}}\s{{1,3}}){{0,3}}?{WORDS}{ABOUT}"
    rf"\s{{1,3}}from\s{{1,3}}{VALUE}\s{{1,3}}to\s{{1,3}}{VALUE}"
)
# The value before its name.
BEFORE = compile_pattern(
    r"(?:^|[\s\"'(:,])([^\s\"'(]{3,128})[\"'`]?\s{1,3}(?:is|was|ist|war|es|est)\s{1,3}"
    r"(?:my|our|the|his|her|their|your|mein|unser|das|die|mi|la|mon|le)\s{1,3}(?:[^\s.,;:!?]{1,20}\s{1,3}){0,2}?"
    rf"(?:({PINS})|(?:{WORDS}|pass))([^\pL\pN_-]|$)"
)
AS = compile_pattern(
    r"\s(?:as|als|como|comme)\s{1,3}(?:(?:my|our|the|a|his|her|their|your|mein|das|mi|la|mon|le)\s{1,3})?"
    rf"(?:[^\s.,;:!?]{{1,20}}\s{{1,3}}){{0,2}}?(?:{PINS}|{WORDS}|pass)([^\pL\pN_-]|$)"
)
LOGIN = compile_pattern(
    r"\b(?:credentials|creds|login|log in|logon|anmeldung|zugangsdaten|credenciales|identifiants)\b"
    r"[^\n:=]{0,20}?[:= ]\s{0,2}[^\s/|:]{2,60}\s?[/|:]\s?(\S{4,128})"
)
CURL = compile_pattern(
    r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]{0,2}[\"']?[^\s:\"']{1,60}:([^\s\"']{1,128})"
)
PHRASE = compile_pattern(rf"{LEFT}{PHRASES}{RIGHT}{ABOUT}(?:{SIGN}|{SAYS})(\S)")

PAIR = compile_pattern(
    r"\b(?:user(?:[ _-]?name)?|login|e-?mail|id|usr|account)\s?(?:[/|:&+]|and)\s?(?:pass(?:word|wd)?|pw|pwd)"
    rf"{ABOUT}(?:{SIGN}|{SAYS}|\s{{1,3}})[^\s/|:]{{1,60}}\s?[/|:]\s?(\S{{3,128}})"
)
COMMAND = compile_pattern(
    r"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|mariadb-admin)\s(?:[^\n]{0,200}?\s)?(?-i:-p)([^\s\"']{3,128})"
    r"|\bsshpass\s{1,3}(?-i:-p)\s{0,3}([^\s]{3,128})"
)
# A number that opens something; the word before the code may say that it is another one.
OPENED = any_of("""
    safe, vault, doors?, front door, back door, gate, garage, garage door, alarm, alarm system, house, home,
    flat, apartment, building, lobby, office, locker, lock, padlock, bike lock, suitcase, phone, tablet,
    key ?box
""")
OPENING = compile_pattern(
    rf"(?:([\pL-]{{1,20}})\s{{1,3}})?(?:code|combination|combo)\s{{1,3}}(?:to|for|of)\s{{1,3}}"
    rf"(?:(?:unlock|open|enter|disarm|get into)\s{{1,3}})?"
    rf"(?:(?:my|our|the|his|her|their|your)\s{{1,3}})?{OPENED}"
    rf"(?:{SIGN}|{SAYS})[\"'`#]?(\d(?:[ -]?\d){{2,9}})(?:\W|$)"
)
OTHER_CODES = words_of("""
    zip postal post area dialing dialling country error product promo discount coupon tracking color colour
    item part model serial bar qr swift sort status exit source article order booking building dress
""")
LONGEST = 64  # characters of a value before its name
LAST = re.compile(r"(?:\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`|[^\s\"'`(,:]{3,})\Z")
TRAILING = f".,;:)]}}>{QUOTES}"
PLURAL = re.compile(r"(?i)(?:words|wörter|codes|pins|contraseñas|claves|mots de passe)\W")


def find_passwords(text: Haystack) -> Iterator[Finding]:
    """Passwords, PINs and codes in a folded text."""
    for pattern in (TOLD, BARE, PASS, NAMED, MY_PASS, PASS_FOR):
        for hit in text.find(pattern):
            yield from _told(hit, text.text)
    for hit in text.find(FROM_TO):
        yield from _turned(hit, text.text)
    for hit in text.find(PHRASE):
        yield from _phrase(text.text, hit.span(1)[0])
    yield from _codes(text)
    for hit in text.find(BEFORE):
        yield from _told_before(hit, text.text)
    for hit in text.find(AS):
        yield from _used_as(hit, text.text)
    yield from find_social_security(text)
    yield from _logins(text)


def _logins(text: Haystack) -> Iterator[Finding]:
    for pattern in (LOGIN, CURL, PAIR, COMMAND):
        for hit in text.find(pattern):
            number = 1 if hit.group(1) else 2
            value = hit.group(number)
            if is_placeholder(value) or (pattern is LOGIN and not looks_made_up(value)):
                continue
            if pattern is not PAIR or is_silent(value.rstrip(TRAILING)):
                yield Finding("secret", "password", *hit.span(number))


def _codes(text: Haystack) -> Iterator[Finding]:
    for pattern, number in ((PIN, 1), (OPENING, 2)):
        for hit in text.find(pattern):
            start, end = hit.span(number)
            if MEASURES.match(text.text, end, end + NEXT):
                continue
            if pattern is PIN or hit.group(1).lower() not in OTHER_CODES:
                yield Finding("secret", "pin", start, end)
                yield from find_further(text.text, end, kind="pin")


def _told(hit: Hit, text: str) -> Iterator[Finding]:
    value = hit.group(4)
    is_quoted = len(value) > 2 and value[0] == value[-1] and value[0] in QUOTES
    core = value[1:-1] if is_quoted else value.rstrip(TRAILING).lstrip(QUOTES)
    bare = core.rstrip("!?")
    by_sign, is_said = bool(hit.group(1)), bool(hit.group(3))
    start, end = hit.span(4)
    if (by_sign or is_said) and (length := length_of_phrase(text, start, most=1 if by_sign else 0)):
        yield Finding("secret", "passphrase", start, start + length)
        return
    plural = PLURAL.search(hit.group()) is not None
    if value.startswith("[secret]"):  # somebody has masked the first
        yield from find_further(text, start + len("[secret]"), kind="password", plural=plural)
        return
    if len(bare) < 3 or bare.lower() in TALK or is_placeholder(value) or is_placeholder(core):
        return
    if not is_quoted:
        end -= len(value) - len(value.rstrip(TRAILING))
        if not is_password(bare, text[end : end + NEXT], by_sign=by_sign, is_said=is_said):
            return
    yield Finding("secret", "password", start, end)
    yield from find_further(text, end, kind="password", plural=plural)


def _turned(hit: Hit, text: str) -> Iterator[Finding]:
    """ "From X to Y", if neither only says how passwords are."""
    for number in (1, 2):
        bare = hit.group(number).rstrip(TRAILING)
        if is_placeholder(hit.group(number)) or len(bare) < 3 or not is_silent(bare) or ADDRESS.match(bare):
            return
    if hit.group(1).lower() == hit.group(2).rstrip(TRAILING + "!?").lower():  # from time to time
        return
    for number in (1, 2):
        start, end = hit.span(number)
        value = hit.group(number)
        yield Finding("secret", "password", start, end - (len(value) - len(value.rstrip(TRAILING))))


def _used_as(hit: Hit, text: str) -> Iterator[Finding]:
    """ "tulip88 as my password": made up or quoted, and no more than that."""
    end, behind = hit.span()[0], hit.span(1)[0]
    found = LAST.search(text, max(end - LONGEST, 0), end)
    if found is None or is_placeholder(found[0]) or not CLAUSE_END.match(text, behind):
        return
    value = found[0]
    if value[0] in QUOTES or looks_made_up(value) or (value.isdecimal() and len(value) >= 4):
        yield Finding("secret", "password", *found.span())


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
    if not is_silent(bare) or is_placeholder(value) or CALL.match(value):
        return
    is_whole = not text[max(start - 2, 0) : start].strip(" \"'(") and CLAUSE_END.match(text, hit.span(3)[0])
    if (len(bare) >= 4 and bare.isdecimal()) or looks_made_up(bare) or (is_whole and PLAIN.match(bare)):
        yield Finding("secret", "password", start, end)


def _phrase(text: str, start: int) -> Iterator[Finding]:
    """Several words up to the end of the sentence, if they are not about passphrases."""
    ended = PHRASE_END.search(text, start, start + LONGEST_PHRASE)
    end = ended.start() if ended else min(start + LONGEST_PHRASE, len(text))
    words = text[start:end].lower().split()
    if len(words) > 2 and sum(word.strip(",") in TALK for word in words) < 2:
        yield Finding("secret", "passphrase", start, end)
