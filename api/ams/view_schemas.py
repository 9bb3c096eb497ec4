"""The shape of what summary views and tasks answer, for the OpenAPI document alone."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, RootModel

from api.ams.view_bodies import GroupField


class View(BaseModel):
    id: str
    name: str | None
    source: str
    group_by: list[GroupField]
    filters: dict[str, Any]
    time_window_days: int | None
    continuous: bool
    prompt: str | None
    model_name: str | None


class Views(RootModel[list[View]]):
    pass


class Partition(BaseModel):
    view_id: str
    group: dict[str, str]
    summary: str
    memory_count: int
    empty: bool
    empty_reason: str | None
    computed_at: datetime


class Partitions(RootModel[list[Partition]]):
    pass


class Task(BaseModel):
    id: str
    type: Literal["summary_view_full_run"]
    status: Literal["pending", "running", "success", "failed"]
    view_id: str
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    error_message: str | None
