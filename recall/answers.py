"""What language models are asked to answer with. Pure."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

PROMPTS = Path(__file__).parent / "prompts"


class SessionSummary(BaseModel):
    """Answer to the prompt `session_summary`."""

    summary: str = Field(min_length=1, max_length=4_000)
    topics: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(max_length=10)
    outcome: str = Field(max_length=500)
