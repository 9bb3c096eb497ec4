"""A server that speaks the OpenAI API without a model, for trying out and for tests.

    with FakeProvider() as fake:
        fake.control(rate_limited=2)
        ...  # fake.base_url is the address

`manage.py fake_llm` runs it by hand. It is deterministic, and misbehaves on request: see `Behaviour`.
"""

from providers.fake.behaviour import Behaviour
from providers.fake.server import FakeProvider

__all__ = ["Behaviour", "FakeProvider"]
