"""ctok's cache as the user sees it: put a vocabulary in, list what is there, check that it is whole.

Nothing else writes the cache, except a download. Entries are binary vocabularies, which are mapped when they are loaded.
"""

from __future__ import annotations

import os

from ..errors import CtokError, SpecError, VocabularyNotFoundError
from ..spec import Record
from . import _places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..spec import Spec


class CacheEntry(Record):
    """A vocabulary in ctok's cache: its name, its path, its size in bytes."""

    __slots__ = ("name", "path", "size")
    name: str
    path: str
    size: int

    def __init__(self, name: str, path: str, size: int) -> None:
        self._set(name=name, path=path, size=size)


def add(spec: Spec, digest: str) -> str:
    """Write a spec into the cache under its name; returns the path."""
    from ..formats import binary
    from ..formats._known import ENCODINGS

    folder = _places.cache_dir()
    if folder is None:
        raise VocabularyNotFoundError("there is no cache folder: CTOK_CACHE_DIR is empty", name=spec.name)
    if not spec.name.strip(".") or not spec.name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise SpecError(f"{spec.name!r} cannot be the name of a cached vocabulary; use letters, digits, '-', '_' and '.'")
    if spec.name in ENCODINGS and digest != ENCODINGS[spec.name].file.sha256:
        raise SpecError(f"{spec.name!r} is the name of a public encoding, and this is another vocabulary; give it a name of its own")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, spec.name + ".bin")
    binary.dump(spec, path, packed=False, sha256=digest)
    return path


def entries() -> list[CacheEntry]:
    """Return what the cache holds, by name."""
    folder = _places.cache_dir()
    try:
        names = sorted(os.listdir(folder)) if folder else []
    except OSError:
        names = []
    paths = [(name, os.path.join(folder or "", name)) for name in names if name.endswith(_places.SUFFIXES) and not name.startswith(".")]
    return [CacheEntry(os.path.splitext(name)[0], path, os.path.getsize(path)) for name, path in paths]


def fault_of(entry: CacheEntry) -> str | None:
    """Return what is wrong with a cached vocabulary, or None."""
    from ..formats import load
    from ..formats._known import ENCODINGS

    try:
        if entry.name in ENCODINGS:
            _places.read_verified(entry.path, ENCODINGS[entry.name])
        else:
            load(entry.path)
    except (CtokError, OSError) as error:
        return str(error)
    return None
