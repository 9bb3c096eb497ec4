"""What all answers have in common."""

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """An answer by its fields. What a newer server adds is kept, in `model_extra`."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, protected_namespaces=())
