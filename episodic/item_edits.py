"""What another door does to the episode that says an item: the item says the same, or it is refused."""

from datetime import datetime

from episodic.item_text import only_text, replaced, text_of
from episodic.item_types import ID_PREFIX
from episodic.models import ITEM, ITEMS_NAMESPACE, Episode, Item, ItemVector
from tenants.errors import Conflict

ELSEWHERE = "It is an item of the store: put it there anew."
OF_ITEM = ("namespace", "key")  # of the metadata of an episode that says one: its name
MOVED = "It is an item of the store, and stands where its name says: put it elsewhere, and delete this one."


def is_item(episode: Episode) -> bool:
    """Whether it says what an item says."""
    return (episode.extraction or {}).get("strategy") == ITEM


def refuse_record(episode: Episode) -> None:
    """Raises Conflict for an unsaved record that would stand in the place of an item, or pass for one."""
    is_named_so = episode.namespace == ITEMS_NAMESPACE and episode.external_id.startswith(ID_PREFIX)
    if is_named_so or is_item(episode):
        raise Conflict(ELSEWHERE)


def refuse_move(episode: Episode) -> None:
    """Raises Conflict for an item: its name says whose it is."""
    if is_item(episode):
        raise Conflict(MOVED)


def follow_edit(episode: Episode, *, former: str, now: datetime) -> None:
    """Has the item say what its locked episode says since its text is no longer `former`, in the open scope:
    the one text of its value that was indexed is another then. Vectors that the client had made of it go.
    Raises Conflict where the text is made of more than that."""
    if not is_item(episode):
        return
    item = Item.objects.select_for_update().filter(tenant_id=episode.tenant_id, id=episode.id).first()
    if item is None:
        return
    place = only_text(item.value, item.fields)
    if place is None or text_of(item.value, item.fields) != former:
        raise Conflict(ELSEWHERE)
    item.value, item.updated_at = replaced(item.value, place, episode.text), now
    item.save(update_fields=["value", "updated_at"])
    ItemVector.objects.filter(tenant_id=episode.tenant_id, item_id=episode.id).delete()
