"""What is searched for in the place of a query that says nothing by itself."""

from datetime import datetime

from recall.masking import mask_turn
from recall.types import RecallQuery
from recall.vague import expand, is_vague
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, NotFound
from working.turns import read_window
from working.types import SessionAddress


def text_searched_for(*, caller: Caller, query: RecallQuery, now: datetime) -> str:
    """The query's text; of a vague one that names its session, with what the user said last there, without
    what is sensitive in it. A session that the key does not reach, or whose words the caller is not shown, is
    as if it were not there. Raises Conflict where the session's id alone does not tell which one is meant, to
    a key that reaches them all."""
    session_id = query.where.session_id
    if not session_id or not caller.may_read_conversations or not is_vague(query.text):
        return query.text
    address = SessionAddress(session_id, query.where.user_id, query.where.namespace)
    try:
        window = read_window(caller=caller, address=address, now=now)
    except (NotFound, Forbidden):  # memories may outlive the session
        return query.text
    except Conflict:
        if caller.agent_id or caller.project:  # it may be about sessions of others
            return query.text
        raise
    return expand(query.text, [mask_turn(turn) for turn in window.window.turns])
