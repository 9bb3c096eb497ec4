"""The words by which statements are compared. Pure; English."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What says nothing about the matter itself.
FILLERS = _set("now currently actually presently already really still just instead anymore do does")
# A statement with one of these adds to what was said.
ADDITIONS = _set("also too another additionally both besides plus")
# With one of these, nothing is stated.
HEDGES = _set(
    "if might may maybe perhaps could would should probably possibly unless whether hopes plans considers"
    " thinks wonders"
)
# With one of these, something happened, or will: nothing holds.
PAST = _set(
    "was were did had will yesterday ago went met saw bought said told came gave took made got left sent"
    " ate drank wrote spoke ran paid sold found thought knew felt kept lost won broke built began chose"
    " fell flew forgot grew held meant rode sang sat slept spent stood swam taught threw understood woke"
    " wore asked called"
)
NEGATIONS = _set("not never")
COPULAS = _set("is are am equals")
# Verbs that say of their subject how it is, in the present; with any of them a number can change.
STATE_VERBS = COPULAS | _set(
    "has have prefers prefer uses use owns own needs need wants want supports support requires require"
    " runs run contains contain holds hold covers cover allows allow keeps keep retains retain serves"
    " serve employs employ drinks drink eats eat speaks speak includes include offers offer pays pay earns"
    " earn"
)
# Verbs of which a thing has one object at a time, whatever it is.
_SINGLE = (
    "lives in, live in, lives at, live at, resides in, works at, work at, works for, work for, works "
    "as, work as, works from, work from, works in, work in, reports to, report to, listens on, costs, "
    "cost, weighs, lasts, last, expires, expire, starts, start, begins, ends, end, closes, opens, "
    "departs, arrives, takes, stays at, is based in, are based in, is located in, is located at, is "
    "called, is named, is scheduled for, is due, are due, is set to, is configured to, is hosted on, is "
    "hosted at, is hosted by, is stored in, is limited to, is capped at, is owned by, is led by, is "
    "managed by, is assigned to, is run by, is maintained by, is written in, is married to, goes by, "
    "belongs to, points to, points at, defaults to, depends on version, is pinned to, am based in, runs "
    "at, run at, runs every, run every, is kept for, are kept for, identifies as, majors in"
)
SINGLE = tuple(tuple(phrase.split()) for phrase in _SINGLE.split(", "))
# A subject that is one of these has one: `the owner is …`, `my favourite colour is …`.
ATTRIBUTES = _set(
    "name nickname surname username email e-mail address number title role job position colour color"
    " language timezone zone currency status owner lead manager boss contact reviewer assignee venue"
    " capital employer hometown nationality birthday diet spouse wife husband theme codename slogan"
    " deadline window region branch editor provider supplier landlord favourite favorite tier gender"
    " pronouns"
)
# Of these, somebody may have several.
SEVERAL = _set(
    "brother sister friend colleague child son daughter cousin client customer member user hobby teammate"
    " project customer guest neighbour"
)
CHOSEN = _set("favourite favorite preferred default primary main current")
ROLES = _set("lead owner manager ceo cto cfo director head president chair boss captain contact")
OPPOSITE_VERBS = (
    ({"likes", "like", "loves", "love", "enjoys", "enjoy"}, {"dislikes", "dislike", "hates", "hate"}),
    ({"accepts", "accept"}, {"rejects", "reject", "refuses", "refuse"}),
    ({"allows", "allow", "permits"}, {"forbids", "forbid", "prohibits"}),
    ({"includes", "include"}, {"excludes", "exclude"}),
)
REASONS = _set("for when as during over")
MONEY = _set("eur usd gbp chf euro euros dollar dollars pound pounds cents")
DURATION = _set(
    "ms millisecond milliseconds second seconds minute minutes min hour hours day days week weeks month"
    " months year years"
)
MEASURES = _set(
    "percent % kg g km m cm miles gb mb tb kb degrees people users seats requests gigabytes megabytes"
    " euros years-old stars points pages"
)
PREPOSITIONS = _set("on at in for to by from around about every until of with via as into within after")
_NUMBERS = "zero one two three four five six seven eight nine ten"
NUMBER_WORDS = {word: str(number) for number, word in enumerate(_NUMBERS.split())}
# Kinds of which a thing has one value.
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
MONTHS = "january february march april may june july august september october november december"
KINDS: dict[str, str] = {
    "weekday": f"{WEEKDAYS} {' '.join(day + 's' for day in WEEKDAYS.split())} weekdays weekends",
    "month": MONTHS,
    "part of the day": "morning mornings afternoon afternoons evening evenings night nights noon midnight",
    "season": "spring summer autumn fall winter",
    "frequency": "hourly daily weekly fortnightly biweekly monthly quarterly yearly annually",
    "colour": "red green blue yellow orange purple violet pink brown black white grey gray teal navy beige",
    "brightness": "dark light",
    "language": "english german french spanish italian portuguese dutch polish russian ukrainian turkish"
    " arabic hindi chinese mandarin japanese korean swedish danish norwegian finnish czech greek hebrew",
    "channel": "email e-mail mail phone telephone call calls sms text texts chat slack teams whatsapp signal"
    " telegram letter letters post fax video",
    "transport": "train trains plane planes flight flights car cars bus buses bike bikes bicycle ferry",
    "seat": "window aisle",
    "hot drink": "tea coffee cocoa",
    "diet": "vegan vegetarian pescatarian omnivore carnivore",
    "size": "tiny small medium large huge",
    "priority": "low high critical urgent",
    "hand": "left right left-handed right-handed",
    "units": "metric imperial celsius fahrenheit",
    "marital status": "single engaged married divorced widowed",
    "level": "junior senior beginner intermediate advanced",
    "traffic light": "amber",
}
# Of these, a sentence says one or the other of its subject.
STATES: tuple[str, ...] = (
    "enabled disabled", "on off", "open closed", "active inactive deactivated", "public private internal",
    "available unavailable", "optional required mandatory", "true false", "up down", "online offline",
    "allowed forbidden banned", "approved rejected pending", "free paid", "locked unlocked", "paused running",
    "full-time part-time", "remote on-site onsite hybrid", "done open blocked", "valid invalid expired",
    "alive dead", "employed unemployed retired", "single engaged married divorced widowed",
    "possible impossible", "safe unsafe", "healthy sick", "hot cold", "vegan vegetarian pescatarian",
    "encrypted unencrypted", "subscribed unsubscribed", "supported unsupported deprecated",
)  # fmt: skip
