"""What an assembly tells counts as accessed; what it only looked at does not."""

from django.utils import timezone

from episodic import access
from episodic.episodes import store_episode
from episodic.types import NewEpisode
from recall.assembly.assemble import assemble
from recall.assembly.types import AssembleQuery
from working.types import SessionAddress

TEXTS = ["The heron stands in the pond at dawn.", "A bicycle without a chain leans on the wall. " * 20]


def test_only_what_was_told_is_counted(acme):
    caller, now = acme.caller, timezone.now()
    stored = [store_episode(caller=caller, new=NewEpisode(text, user_id="u1"), now=now).id for text in TEXTS]
    query = AssembleQuery(SessionAddress("s", "u1"), "Where is the heron?", token_budget=120)
    done = assemble(caller=caller, query=query, now=now)
    told = {one.id for one in done.items if one.kind == "episode" and one.included}
    assert told == {str(stored[0])}
    access.flush()
    used = access.access_of(caller=caller, ids=stored)
    assert [used[one].access_count for one in stored] == [1, 0]
