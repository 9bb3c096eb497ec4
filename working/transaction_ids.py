"""The ids of PostgreSQL's own transactions, as a column: they tell which rows can still be joined by older
ones."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Func

if TYPE_CHECKING:
    NumberField = models.Field[int, int]
else:
    NumberField = models.Field  # Django's own takes no types when it runs


class CurrentTransaction(Func):
    """The id of the transaction that asks; it is given one, if it had none."""

    function = "pg_current_xact_id"
    arity = 0


class TransactionIdField(NumberField):
    """A number of 64 bits that grows with each transaction of the whole PostgreSQL server (`xid8`). It means
    nothing to another server: a backup leaves it out."""

    def db_type(self, connection: Any) -> str:
        return "xid8"

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> int | None:
        return None if value is None else int(value)

    def get_prep_value(self, value: Any) -> Any:
        return str(value) if isinstance(value, int) else super().get_prep_value(value)
