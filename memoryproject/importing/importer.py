"""Reads a source to its end and writes what may come in, a batch at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field

from memoryproject.importing.errors import ImportFailed
from memoryproject.importing.fields import sample_of
from memoryproject.importing.rows import Exported, Junk, Log, Memory, Row, Source, StoreItem
from memoryproject.importing.run import Run
from memoryproject.importing.writing_events import write_log
from memoryproject.importing.writing_exports import write_exported
from memoryproject.importing.writing_items import write_store_items
from memoryproject.importing.writing_memories import write_memories

# Entries of one commit. Of many memories the vectors are made later, so that no import waits for them.
MEMORIES, EXPORTED, ITEMS = 500, 100, 100
MOST_CHARACTERS = 4_000_000  # of the memories of one commit


def _nothing(_position: int, _total: int | None) -> None:
    """Progress that nobody watches."""


@dataclass(slots=True)
class Importer:
    """One import. Cut short anywhere, it is gone on with by running it again: what is here is unchanged."""

    run: Run
    advance: Callable[[int, int | None], None] = _nothing  # told how far the source was read, and of how much
    _memories: list[Memory] = field(default_factory=list)
    _exported: list[Exported] = field(default_factory=list)
    _items: list[StoreItem] = field(default_factory=list)
    _characters: int = 0

    def read(self, source: Source) -> None:
        """Imports everything in it. Where it cannot be read further, what came before is written, and the
        report says so. Raises what a store raises that is away."""
        try:
            for row in source.rows():
                self._take(row)
                self.advance(source.position, source.total)
        except ImportFailed as error:
            self.run.report.failed = str(error)
        self._flush_memories()
        self._flush_exported()
        self._flush_items()
        self.advance(source.position, source.total)

    def _take(self, row: Row) -> None:
        if isinstance(row, Junk):
            self.run.report.leave(
                "entries", "junk", row.reason, place=row.place, sample=sample_of(row.sample)
            )
        elif isinstance(row, Log):
            write_log(self.run, row)
        elif isinstance(row, Memory):
            self._memories.append(row)
            self._characters += len(row.record.text)
            if len(self._memories) >= MEMORIES or self._characters >= MOST_CHARACTERS:
                self._flush_memories()
        elif isinstance(row, Exported):
            self._exported.append(row)
            if len(self._exported) >= EXPORTED:
                self._flush_exported()
        else:
            self._items.append(row)
            if len(self._items) >= ITEMS:
                self._flush_items()

    def _flush_memories(self) -> None:
        write_memories(self.run, self._memories)
        self._memories, self._characters = [], 0

    def _flush_exported(self) -> None:
        write_exported(self.run, self._exported)
        self._exported = []

    def _flush_items(self) -> None:
        write_store_items(self.run, self._items)
        self._items = []
