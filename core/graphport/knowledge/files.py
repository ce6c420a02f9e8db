"""Which files of a folder are indexed: what git would track, that is text and not too large."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from graphport.errors import SourceError

MAX_FILE_BYTES = 2_000_000
"""Above it a file is a dump or a bundle and nobody's writing, unless it may be a whole book."""
_BOOK_SUFFIXES = frozenset(".md .markdown .txt .html .xhtml .epub .pdf".split())
_BOOK_FACTOR = 20
# Never anybody's text: what version control, package managers and caches keep beside it.
_SKIPPED_FOLDERS = frozenset(
    ".git .hg .svn .jj node_modules __pycache__ .venv .tox .nox .mypy_cache .ruff_cache .pytest_cache .idea "
    ".vscode".split()
)
_BINARY_SUFFIXES = frozenset(
    ".png .jpg .jpeg .gif .webp .ico .bmp .tiff .mp3 .mp4 .mov .avi .mkv .wav .ogg .flac .zip .gz .xz .bz2 .zst .7z "
    ".tar .rar .whl .jar .so .dll .dylib .o .a .exe .bin .class .pyc .pyd .wasm .npy .npz .pkl .parquet .sqlite .db "
    ".onnx .safetensors .pt .woff .woff2 .ttf .otf .eot .iso .dmg .deb .rpm".split()
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to index: where it is, its path as the knowledge base calls it, size in bytes, time in ns."""

    file: Path
    path: str
    size: int
    mtime_ns: int


@dataclass(slots=True)
class Skipped:
    """What was left out, by reason, and a few of the names."""

    counts: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, reason: str, path: str) -> None:
        self.counts[reason] += 1
        if len(names := self.examples.setdefault(reason, [])) < 5:
            names.append(path)


def find_files(source: Path, skipped: Skipped, *, max_bytes: int = MAX_FILE_BYTES) -> Iterator[SourceFile]:
    """Files of a folder (or the one file), sorted by path; ``.gitignore`` files are obeyed as git does.

    Symbolic links to folders are not followed. Raises `SourceError` if ``source`` cannot be read; a file
    or folder inside that cannot is counted in ``skipped`` as "unreadable".
    """
    if not source.exists():
        raise SourceError(f"{source} does not exist; give a file or a folder")
    if source.is_file():
        yield from _admit(source, source.name, skipped, max_bytes)
        return
    if not os.access(source, os.R_OK | os.X_OK):
        raise SourceError(f"folder {source} cannot be read; check its rights")
    yield from _walk(source, "", _outer_rules(source), skipped, max_bytes)


@dataclass(frozen=True, slots=True)
class _Rules:
    """One ``.gitignore``: ``drop`` characters of a path lead to its folder, or ``add`` is the way down from it."""

    spec: GitIgnoreSpec
    drop: int = 0
    add: str = ""

    def verdict(self, path: str) -> bool | None:
        return self.spec.check_file(self.add + path[self.drop :]).include


def _walk(folder: Path, prefix: str, rules: Sequence[_Rules], skipped: Skipped, max_bytes: int) -> Iterator[SourceFile]:
    own = _rules_of(folder / ".gitignore")
    rules = [*rules, _Rules(own, drop=len(prefix))] if own is not None else rules
    try:
        children = sorted(os.scandir(folder), key=lambda child: child.name)
    except OSError:
        skipped.add("unreadable", prefix or ".")
        return
    for child in children:
        path = f"{prefix}{child.name}"
        if not _is_text_name(child.name):
            skipped.add("unreadable", repr(path))
        elif child.is_dir(follow_symlinks=False):
            if child.name in _SKIPPED_FOLDERS or (Path(child.path) / "CACHEDIR.TAG").exists():
                continue
            if _ignored(f"{path}/", rules):
                skipped.add("ignored", f"{path}/")
                continue
            yield from _walk(Path(child.path), f"{path}/", rules, skipped, max_bytes)
        elif child.is_file():
            if _ignored(path, rules):
                skipped.add("ignored", path)
                continue
            yield from _admit(Path(child.path), path, skipped, max_bytes)


def _admit(file: Path, path: str, skipped: Skipped, max_bytes: int) -> Iterator[SourceFile]:
    suffix = file.suffix.lower()
    if suffix in _BINARY_SUFFIXES:
        skipped.add("binary", path)
        return
    try:
        info = file.stat()
    except OSError:
        skipped.add("unreadable", path)
        return
    if info.st_size > (_BOOK_FACTOR * max_bytes if suffix in _BOOK_SUFFIXES else max_bytes):
        skipped.add("oversized", path)
    elif info.st_size == 0:
        skipped.add("empty", path)
    else:
        yield SourceFile(file, path, info.st_size, info.st_mtime_ns)


def _ignored(path: str, rules: Sequence[_Rules]) -> bool:
    """Git's rule: the last matching pattern decides, and the deepest file goes last."""
    verdicts = (rule.verdict(path) for rule in reversed(rules))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _outer_rules(source: Path) -> list[_Rules]:
    """Rules of the repository around ``source``, where ``source`` lies inside one."""
    root = source.resolve()
    if (root / ".git").exists():
        return []
    above: list[Path] = []
    for folder in root.parents:
        above.append(folder)
        if (folder / ".git").exists():
            found = [(folder, _rules_of(folder / ".gitignore")) for folder in reversed(above)]
            return [_Rules(own, add=f"{root.relative_to(at).as_posix()}/") for at, own in found if own is not None]
    return []


def _rules_of(file: Path) -> GitIgnoreSpec | None:
    try:
        return GitIgnoreSpec.from_lines(file.read_text("utf-8", errors="replace").splitlines())
    except OSError:
        return None


def _is_text_name(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_text(data: bytes) -> str | None:
    """The text in ``data``: UTF-8 or UTF-16 by its mark, else UTF-8, else Latin-1; None if it is binary."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace").replace("\0", "")
    if b"\0" in data[:8192]:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        if sum(char < " " and char not in "\t\n\r\f" for char in text[:4096]) > 40:
            return None
    return text.replace("\0", "")


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
