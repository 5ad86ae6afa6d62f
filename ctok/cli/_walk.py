"""The files below a directory, in a stable order."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def walk(
    top: str, include: Sequence[str], exclude: Sequence[str], hidden: bool, on_error: Callable[[OSError], object]
) -> Iterator[str]:
    """Yield the paths of regular files below `top`, by name, each folder's files before its folders.

    Parameters
    ----------
    include
        Glob patterns; a file must match one of them, if there are any. A pattern with a slash is matched with the path below `top`, any
        other with the name alone.
    exclude
        Likewise; what matches is left out, a folder with all that it holds.
    hidden
        Whether names that begin with a dot are taken.
    on_error
        Called with what goes wrong in listing a folder.

    Notes
    -----
    Symbolic links are not followed: what they point to is counted where it is.
    """
    pending = [""]
    while pending:
        below = pending.pop()
        try:
            with os.scandir(os.path.join(top, below) if below else top) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            on_error(error)
            continue
        folders = []
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if (entry.name.startswith(".") and not hidden) or matches(path, exclude):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.is_file(follow_symlinks=False) and (not include or matches(path, include)):
                yield path if top == os.curdir else os.path.join(top, path)
        pending += reversed(folders)


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Return whether one of the glob patterns fits a path with forward slashes."""
    from fnmatch import fnmatchcase

    name = path.rpartition("/")[2]
    return any(fnmatchcase(path if "/" in pattern else name, pattern.strip("/") or pattern) for pattern in patterns)
