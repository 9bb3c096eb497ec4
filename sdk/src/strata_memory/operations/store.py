# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `store`."""

from ..calls import Operation
from ..models.store import FoundStoreItems, StoreBatch, StoreItem, StoreNamespaces

PUT: Operation[None] = Operation("PUT", "/api/v1/store/items", is_write=True, is_kept=True)
GET: Operation[StoreItem] = Operation("GET", "/api/v1/store/items", answer=StoreItem)
DELETE: Operation[None] = Operation("DELETE", "/api/v1/store/items", is_write=True, is_kept=True)
SEARCH: Operation[FoundStoreItems] = Operation("POST", "/api/v1/store/items/search", answer=FoundStoreItems)
NAMESPACES: Operation[StoreNamespaces] = Operation("POST", "/api/v1/store/namespaces", answer=StoreNamespaces)
BATCH: Operation[StoreBatch] = Operation("POST", "/api/v1/store/batch", answer=StoreBatch, is_write=True)
