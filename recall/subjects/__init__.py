"""A person's memory as the person, and whoever sees to their rights, looks at it: whatever its kind, and also
while it is restricted."""

from recall.subjects.changing import forget_memory, rectify_memory, remembered
from recall.subjects.memories import KINDS, Place, Remembered, list_memories
from recall.subjects.people import Person, SubjectSummary, list_subjects, summary_of
from recall.subjects.uses import Use, list_uses

__all__ = [
    "KINDS",
    "Person",
    "Place",
    "Remembered",
    "SubjectSummary",
    "Use",
    "forget_memory",
    "list_memories",
    "list_subjects",
    "list_uses",
    "rectify_memory",
    "remembered",
    "summary_of",
]
