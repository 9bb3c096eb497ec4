"""The project's own files, as its tests of style and documentation read them."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_OURS = {"staticfiles", "node_modules", "artifacts", "vendor", "__pycache__", "build"}


def files(*suffixes: str) -> list[Path]:
    """Every file of the checkout with one of the suffixes, outside hidden folders and what is generated."""
    return sorted(
        path
        for path in _walk(ROOT)
        if path.suffix in suffixes and not path.name.startswith(".") and path.is_file()
    )


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            if not path.name.startswith(".") and path.name not in NOT_OURS:
                yield from _walk(path)
        else:
            yield path


def python_files() -> list[Path]:
    return files(".py")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=str(path))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
