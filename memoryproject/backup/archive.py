"""The file: a zip whose last members are the manifest, with the SHA-256 of all others, and its signature."""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkstemp
from typing import IO, Any

from memoryproject.backup.errors import BackupError
from memoryproject.backup.signing import fingerprint, is_signed, sign

FORMAT = 1
MANIFEST, SIGNATURE = "manifest.json", "manifest.hmac"
BLOCK = 1 << 20
LEVEL = 1  # of deflate: vectors hardly become smaller, whatever it costs

Advance = Callable[[int], object]  # told how many bytes more are done


@contextmanager
def created(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """A file that only its owner can read, and that has its name when the block has ended well, not before.

    Raises BackupError when there is one already, unless `force`, and when it cannot be written.
    """
    if path.exists() and not force:
        raise BackupError(f"{path} exists already; --force writes over it.")
    try:
        fd, name = mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.absolute().parent)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror}.") from error
    try:
        with os.fdopen(fd, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        Path(name).unlink(missing_ok=True)


@dataclass
class Member:
    """What is written into one member, gathered into blocks."""

    file: IO[bytes]
    advance: Advance
    digest: Any = field(default_factory=hashlib.sha256)
    size: int = 0
    _waiting: list[bytes] = field(default_factory=list)
    _length: int = 0

    def write(self, data: bytes) -> None:
        self._waiting.append(data)
        self._length += len(data)
        self.size += len(data)
        if self._length >= BLOCK:
            self.flush()

    def flush(self) -> None:
        block = b"".join(self._waiting)
        self.digest.update(block)
        self.file.write(block)
        self.advance(len(block))
        self._waiting, self._length = [], 0


class Writer:
    """Takes members in, one after the other."""

    def __init__(self, file: IO[bytes], advance: Advance) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL)
        self._advance = advance
        self._members: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *exception: object) -> None:
        self._zip.close()

    @contextmanager
    def member(self, name: str) -> Iterator[Member]:
        with self._zip.open(name, "w", force_zip64=True) as file:
            member = Member(file, self._advance)
            yield member
            member.flush()
        self._members[name] = {"bytes": member.size, "sha256": member.digest.hexdigest()}

    def finish(self, manifest: dict[str, Any]) -> None:
        """Adds the manifest: without it, it is no backup."""
        whole = {"format": FORMAT, "secret_key": fingerprint(), **manifest, "members": self._members}
        text = json.dumps(whole, indent=1).encode()
        self._zip.writestr(MANIFEST, text)
        self._zip.writestr(SIGNATURE, sign(text))


class Reader:
    """A file that is whole and ours."""

    def __init__(self, archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
        self._zip, self.manifest = archive, manifest

    @property
    def size(self) -> int:
        """Of all members, in bytes, unpacked."""
        return sum(int(one["bytes"]) for one in self.manifest["members"].values())

    def blocks(self, name: str) -> Iterator[bytes]:
        with self._zip.open(name) as member:
            while block := member.read(BLOCK):
                yield block

    def lines(self, name: str) -> Iterator[Any]:
        """The records of a member of JSON Lines."""
        with self._zip.open(name) as member:
            yield from map(json.loads, member)

    def check(self, advance: Advance) -> None:
        """Reads every member once. Raises BackupError for one that is not as the manifest says."""
        members = self.manifest["members"]
        if {*self._zip.namelist()} != {*members, MANIFEST, SIGNATURE}:
            raise BackupError("The backup is damaged: its members are not those of its manifest.")
        for name, expected in members.items():
            digest = hashlib.sha256()
            try:
                for block in self.blocks(name):
                    digest.update(block)
                    advance(len(block))
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                raise BackupError(f"The backup is damaged: {name} cannot be read.") from error
            if digest.hexdigest() != expected["sha256"]:
                raise BackupError(f"The backup is damaged: {name} is not what was written.")


@contextmanager
def opened(path: Path, *, other_secret_key: bool) -> Iterator[Reader]:
    """Raises BackupError for what is no whole backup, was changed, or was made under another `SECRET_KEY`,
    unless that is allowed: then nothing tells whether it was changed."""
    try:
        with zipfile.ZipFile(path) as archive:
            text, signature = archive.read(MANIFEST), archive.read(SIGNATURE).decode("ascii", "replace")
            yield Reader(archive, _checked(text, signature, other_secret_key))
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise BackupError(f"{path} is not a whole backup: {error}.") from error


def _checked(text: bytes, signature: str, other_secret_key: bool) -> dict[str, Any]:
    try:
        manifest = json.loads(text)
        made_under, version = manifest["secret_key"], manifest["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise BackupError("The backup's manifest cannot be read.") from error
    if version != FORMAT:
        raise BackupError(f"The backup has format {version}; this version reads {FORMAT}.")
    if made_under != fingerprint():
        if not other_secret_key:
            raise BackupError(
                "The backup was made under another SECRET_KEY: whether it was changed cannot be told, and "
                "its erasures match nobody here. --other-secret-key restores it all the same."
            )
    elif not is_signed(text, signature):
        raise BackupError("The backup was changed since it was made: its signature does not match.")
    return dict(manifest)
