"""What tenants spend at outside providers: one row per tenant, day, provider, model and purpose."""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DataError, Error, connection
from django.utils import timezone
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from providers.metering import Usage, metering
from providers.openai.prices import DEFAULT_FILE, Price, PricesUnreadable, load_prices, price_of
from tenants.models import ProviderUsage
from tenants.scope import scope, undecided, unscoped
from tenants.till import Till, Undecided

log = logging.getLogger(__name__)

# The cost is that of the row's sums: a query's ten tokens cost less than the millionth of a dollar, and would
# be rounded to nothing each time.
ADD = """
INSERT INTO tenants_providerusage AS day
    (id, tenant_id, day, provider, model, purpose, calls, failures, input_tokens, output_tokens, cost_micros)
SELECT new.id, %(tenant)s, %(day)s, new.provider, new.model, new.purpose, new.calls, new.failures,
       new.input_tokens, new.output_tokens,
       round(new.input_tokens * new.input_price + new.output_tokens * new.output_price)
FROM jsonb_to_recordset(%(rows)s) AS new (
    id uuid, provider text, model text, purpose text, calls bigint, failures bigint,
    input_tokens bigint, output_tokens bigint, input_price numeric, output_price numeric
)
ON CONFLICT (tenant_id, day, provider, model, purpose) DO UPDATE SET
    calls = day.calls + excluded.calls,
    failures = day.failures + excluded.failures,
    input_tokens = day.input_tokens + excluded.input_tokens,
    output_tokens = day.output_tokens + excluded.output_tokens,
    cost_micros = round(
        (day.input_tokens + excluded.input_tokens)
            * coalesce((%(prices)s::jsonb -> excluded.model ->> 'input')::numeric, 0)
        + (day.output_tokens + excluded.output_tokens)
            * coalesce((%(prices)s::jsonb -> excluded.model ->> 'output')::numeric, 0)
    )
"""


@dataclass(frozen=True, slots=True)
class DayOfUsage:
    """What one model was used for on one day. `cost_micros` is None when its price is not known."""

    day: date
    provider: str
    model: str
    purpose: str
    calls: int
    failures: int
    input_tokens: int
    output_tokens: int
    cost_micros: int | None


@contextmanager
def metered(tenant_id: UUID) -> Iterator[None]:
    """Counts what the block uses of outside providers as the tenant's, also when it raises.

    Nothing is written here: the till does it within seconds.
    """
    with metering() as meter:
        try:
            yield
        finally:
            if used := meter.totals():
                _till.add(tenant_id, timezone.now().date(), used)


def flush() -> None:
    """Writes what this process has counted, at once. Raises Error or Undecided, and keeps what is left."""
    _till.flush()


def usage_of(*, tenant_id: UUID, since: date, until: date) -> list[DayOfUsage]:
    """The tenant's usage from day `since` to day `until`, both included (UTC); newest day first."""
    with scope(tenant_id):
        rows = list(
            ProviderUsage.objects.filter(tenant_id=tenant_id, day__gte=since, day__lte=until).order_by(
                "-day", "provider", "model", "purpose"
            )
        )
    return [
        DayOfUsage(
            row.day, row.provider, row.model, row.purpose, row.calls, row.failures, row.input_tokens,
            row.output_tokens, row.cost_micros if is_priced(row.model) else None,
        )
        for row in rows
    ]  # fmt: skip


def is_priced(model: str) -> bool:
    """Whether the price file knows the model."""
    return price_of(model, prices()) is not None


def prices() -> dict[str, Price]:
    """The price list of `PROVIDER_PRICES_FILE`. Raises ImproperlyConfigured."""
    return _prices(Path(settings.PROVIDER_PRICES_FILE or DEFAULT_FILE))


@cache
def _prices(path: Path) -> dict[str, Price]:
    try:
        return load_prices(path)
    except PricesUnreadable as error:
        raise ImproperlyConfigured(f"PROVIDER_PRICES_FILE: {error}") from error


def _write(tenant_id: UUID, day: date, used: Sequence[Usage]) -> None:
    """Adds it to the account in one statement. Raises Undecided, or Error when nothing was written."""
    known = {one.model: _price(one.model) for one in used}
    rows = [
        {
            "id": str(uuid7()),
            "provider": one.provider,
            "model": one.model[:100],
            "purpose": one.purpose[:64],
            "calls": one.calls,
            "failures": one.failures,
            "input_tokens": one.input_tokens,
            "output_tokens": one.output_tokens,
            "input_price": known[one.model].input,
            "output_price": known[one.model].output,
        }
        for one in used  # in the order of `totals`: writers that met in another order would deadlock
    ]
    by_model = {model[:100]: {"input": price.input, "output": price.output} for model, price in known.items()}
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "day": day,
        "rows": Jsonb(rows),
        "prices": Jsonb(by_model),
    }
    transaction = ""
    try:
        with scope(tenant_id), connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()::text")
            number = cursor.fetchone()[0]
            cursor.execute(ADD, params)
            transaction = number  # from here on, only the commit can fail
    except Error as error:
        if transaction and undecided(error):
            raise Undecided(transaction) from error
        raise


def _is_committed(transaction: str) -> bool | None:
    """Whether the transaction was committed; None while it is open."""
    with unscoped(), connection.cursor() as cursor:
        try:
            cursor.execute("SELECT pg_xact_status(%s::text::xid8)", [transaction])
        except DataError:  # a server that took over has never got that far
            return False
        status = cursor.fetchone()[0]
    return None if status == "in progress" else bool(status != "aborted")  # NULL: too long ago to know


class _Warned:
    """Models of which was told already that nobody knows their price."""

    models: set[str] = set()
    lock = threading.Lock()


def _price(model: str) -> Price:
    price = price_of(model, prices())
    if price is None:
        with _Warned.lock:
            if model not in _Warned.models:
                _Warned.models.add(model)
                log.warning("provider_price_unknown model=%s: its usage is counted at no cost", model)
        return Price(0, 0)
    return price


_till = Till(_write, _is_committed)
_till.register()
