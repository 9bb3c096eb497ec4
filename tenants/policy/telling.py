"""What holds, field by field, and which level decides it: for people. No database here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tenants.policy.document import TENANT_ONLY, policy_schema
from tenants.policy.overrides import SECTIONS, flatten
from tenants.policy.versions import LevelPolicy

Origin = Literal["agent", "tenant", "default"]
BOUNDS = (("minimum", "at least"), ("maximum", "at most"), ("maxItems", "names, at most"))


@dataclass(frozen=True, slots=True)
class FieldTold:
    """A field, dotted: its value, the level that says so, the value without this level, what it means and
    what it may be: one of `choices`, as JSON or as it is, where there are some, otherwise `allowed`; an
    `example` where it is a list or an object."""

    name: str
    value: Any
    origin: Origin
    default: Any
    about: str
    unit: str
    allowed: str
    choices: tuple[str, ...] = ()
    example: Any = None


@dataclass(frozen=True, slots=True)
class SectionTold:
    """A section, with what it is about in one paragraph."""

    name: str
    about: str
    fields: tuple[FieldTold, ...]


def tell_policy(policy: LevelPolicy) -> list[SectionTold]:
    """All that can be decided at the level, in the document's order."""
    schema = policy_schema()
    effective, defaults = (one.model_dump(mode="json") for one in (policy.effective, policy.defaults))
    own, above = flatten(policy.document), flatten(policy.above)
    is_agent = bool(policy.level.agent_id)
    told = []
    for section in SECTIONS:
        if is_agent and section in TENANT_ONLY:
            continue
        about = schema["$defs"][schema["properties"][section]["$ref"].rpartition("/")[2]]
        fields = tuple(
            FieldTold(
                name=f"{section}.{name}",
                value=effective[section][name],
                origin=_origin(f"{section}.{name}", own, above, is_agent=is_agent),
                default=defaults[section][name],
                about=field.get("description", ""),
                unit=field.get("unit", ""),
                allowed=_allowed(_of_value(field)),
                choices=_choices(_of_value(field)),
                example=field.get("examples", [None])[0],
            )
            for name, field in about["properties"].items()
        )
        told.append(SectionTold(section, " ".join(about.get("description", "").split()), fields))
    return told


def _origin(name: str, own: Mapping[str, Any], above: Mapping[str, Any], *, is_agent: bool) -> Origin:
    if name in own:
        return "agent" if is_agent else "tenant"
    return "tenant" if name in above else "default"


def _of_value(field: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said of a value, also where the field may be null as well."""
    return dict(field["anyOf"][0]) if "anyOf" in field else field


def _choices(field: Mapping[str, Any]) -> tuple[str, ...]:
    if field.get("type") == "boolean":
        return ("true", "false")
    return tuple(field.get("enum", ()))


def _allowed(field: Mapping[str, Any]) -> str:
    if choices := _choices(field):
        return ", ".join(choices)
    if names := field.get("propertyNames", {}).get("enum"):
        return f"names {', '.join(names)}, each {_allowed(field['additionalProperties'])}"
    return ", ".join(f"{word} {field[name]:,}" for name, word in BOUNDS if name in field)
