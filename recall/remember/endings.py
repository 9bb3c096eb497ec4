"""What somebody says no longer holds, as they would have said that it does. Pure.

So whatever the rules know to be set, they know to end: "I no longer speak Spanish" ends what "I speak
Spanish" would have said.
"""

import re

NO_MORE = r"(?:any ?more|any longer)"
LIGHT = r"(?:(?:really|actually|sadly|now|also|just|finally|currently|recently) )*"
IM = r"(?P<who>i'm|i am|im|we're|we are)"
VERBS = r"(?:answer|reply|respond|write|speak|talk|use)"
# "I don't like it any more" says more than that liking has ended, and so does not eating.
OWN_RULES = r"(?:like|enjoy|eat|drink|care|want|know|need|think)"
TIERS = r"free|basic|pro|plus|premium|team|business|enterprise|starter"
ENDED = tuple(
    (re.compile(rf"(?i){pattern}\Z"), said)
    for pattern, said in (
        (
            rf"(?P<who>i|we) {LIGHT}no longer (?P<what>(?!(?:eat|drink)\b)\S.*?)(?: {NO_MORE})?",
            "{who} {what}",
        ),
        (rf"{IM} {LIGHT}(?:no longer|not) (?P<what>\S.*?) {NO_MORE}", "{who} {what}"),
        (rf"{IM} {LIGHT}no longer (?P<what>\S.*)", "{who} {what}"),
        (
            rf"(?P<who>i|we) {LIGHT}(?:don't|do not) {LIGHT}(?P<what>(?!{OWN_RULES}\b)\S.*?) {NO_MORE}",
            "{who} {what}",
        ),
        (r"(?P<who>(?:my|our) .{2,40}?) (?P<be>is|are) no longer (?P<what>\S.*)", "{who} {be} {what}"),
        (
            rf"(?P<who>(?:my|our) .{{2,40}}?) (?P<be>is|are)(?:n't| not) (?P<what>\S.*?) {NO_MORE}",
            "{who} {be} {what}",
        ),
        (r"i(?:'ve| have)? (?:stopped|quit|given up|gave up) being (?P<what>\S.*)", "i'm {what}"),
        (
            rf"i(?:'ve| have)? {LIGHT}(?:cancell?ed|ended|dropped|quit|terminated|left) (?:my|the) "
            rf"(?P<what>{TIERS}) (?:plan|tier|subscription|account)(?: {NO_MORE}| today| yesterday)?",
            "i'm on the {what} plan",
        ),
        (rf"(?:please )?(?:don't|do not) (?P<what>{VERBS} \S.*?) {NO_MORE}", "please {what}"),
        (
            rf"you (?:don't|do not|no longer) (?:have|need) to (?P<what>{VERBS} \S.*?)(?: {NO_MORE})?",
            "please {what}",
        ),
    )
)


def read_ended(text: str) -> str:
    """The clause as it was when it held; empty if it says of nothing that it has ended."""
    for pattern, said in ENDED:
        if found := pattern.match(text):
            return said.format(**found.groupdict())
    return ""
