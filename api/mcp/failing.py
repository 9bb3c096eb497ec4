"""What a model is told when a tool could not do what it was asked."""

from collections.abc import Iterator
from contextlib import contextmanager

from api.errors import problem_of
from api.mcp.tool import ToolError


@contextmanager
def failing_as(what: str) -> Iterator[None]:
    """Tells the model of refusals and of stores that are away; faults of ours pass."""
    try:
        yield
    except Exception as error:  # only to sort them: what is no refusal is raised again
        problem = problem_of(error)
        if problem is None:
            raise
        raise ToolError(f"{what}: {problem.detail}") from error
