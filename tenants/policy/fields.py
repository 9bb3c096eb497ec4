"""How a field of the policy is declared."""

from typing import Any

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """Values that cannot be changed once read; unknown names, other types, NaN and infinity are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, validate_default=True, allow_inf_nan=False
    )


def chosen(default: Any, description: str, *, unit: str = "", **bounds: Any) -> Any:
    """A field whose default is part of the product."""
    return Field(
        default_factory=lambda: default, description=description, json_schema_extra={"unit": unit}, **bounds
    )


def deployed(
    setting: str, description: str, *, unit: str = "", is_ceiling: bool = False, **bounds: Any
) -> Any:
    """A field whose default is the deployment's setting of that name; a ceiling may not be exceeded."""
    extra: dict[str, Any] = {"unit": unit, "setting": setting}
    if is_ceiling:
        extra["ceiling"] = setting
    return Field(
        default_factory=lambda: getattr(settings, setting),
        description=description,
        json_schema_extra=extra,
        **bounds,
    )
