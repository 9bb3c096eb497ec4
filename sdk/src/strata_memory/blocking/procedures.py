# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `procedures`."""

from collections.abc import Iterator

from ..group import Group
from ..models.procedures import DeployedProcedure, ProcedurePage
from ..operations import procedures as does
from ..paging import iterate


class ProceduresGroup(Group):
    """Prompts and guardrails that are deployed for agents."""

    def list(
        self, *, cursor: str | None = None, environment: str | None = None, limit: int | None = None
    ) -> ProcedurePage:
        """What an environment runs, by name.

        cursor: Only those behind this name: `next` of the answer before.
        environment: Which one's; by default the server's own.
        limit: The most results in one answer.
        """
        return self._client.call(
            does.LIST, query={"cursor": cursor, "environment": environment, "limit": limit}
        )

    def iterate(
        self, *, environment: str | None = None, limit: int | None = None
    ) -> Iterator[DeployedProcedure]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return iterate(lambda cursor: self.list(environment=environment, limit=limit, cursor=cursor))

    def get(
        self, name: str, *, environment: str | None = None, version: str | None = None
    ) -> DeployedProcedure:
        """A procedure: what the environment runs, or a version of it.

        environment: Which one's; by default the server's own.
        version: This one; by default the one that the environment runs.
        """
        return self._client.call(
            does.GET, path=(name,), query={"environment": environment, "version": version}
        )
