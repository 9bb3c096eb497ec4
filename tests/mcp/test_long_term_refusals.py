"""What the tools of long-term records refuse: what may not be remembered, and an id of several records."""

from tests.mcp.test_long_term_tools import ask, create, fail
from tests.retention.test_expire_memory import decide

CARD = "My card number is 4111 1111 1111 1111"


def test_what_may_not_be_remembered_is_told_by_its_place_and_nothing_is_saved(acme, web):
    refused = fail(
        web, acme, "create_long_term_memories", memories=[{"text": "Ana likes tea"}, {"text": CARD}]
    )
    assert refused == "nothing was saved: memories.1: It holds what the policy does not let be remembered."
    assert ask(web, acme, "search_long_term_memory")["memories"] == []
    create(web, acme, {"id": "r", "text": "Ana likes tea"})
    refused = fail(web, acme, "edit_long_term_memory", memory_id="r", text=CARD)
    assert refused == "nothing was changed: It holds what the policy does not let be remembered."
    assert ask(web, acme, "get_long_term_memory", memory_id="r")["text"] == "Ana likes tea"


def test_what_waits_for_somebody_is_told_by_its_place(acme, web):
    decide(acme, {"sensitive": {"cards": "hold"}})
    answer = create(web, acme, {"id": "r", "text": "Ana likes tea"}, {"text": CARD})
    assert answer == {"status": "ok", "memory_ids": ["r"], "waiting_for_confirmation": ["memories.1"]}


def test_of_an_id_that_several_people_use_one_is_named_by_its_user(acme, web):
    create(web, acme, *({"id": "r", "text": f"Of {one}", "user_id": one} for one in ("ana", "bob")))
    assert "user_id and namespace" in fail(web, acme, "get_long_term_memory", memory_id="r")
    assert ask(web, acme, "get_long_term_memory", memory_id="r", of_user="bob")["text"] == "Of bob"
    edited = ask(web, acme, "edit_long_term_memory", memory_id="r", of_user="bob", text="Of Bob")
    assert (edited["text"], edited["user_id"]) == ("Of Bob", "bob")
    assert "Records of several" in fail(web, acme, "delete_long_term_memories", memory_ids=["r"])
    done = ask(web, acme, "delete_long_term_memories", memory_ids=["r"], of_user="bob")
    assert done == {"status": "ok, deleted 1 memories"}
    assert ask(web, acme, "get_long_term_memory", memory_id="r")["text"] == "Of ana"
