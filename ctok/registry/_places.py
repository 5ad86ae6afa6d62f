"""Where vocabularies lie on this machine, and the reading of one that is found: verified, or refused with both hashes."""

from __future__ import annotations

import os
import sys

from ..errors import VocabularyFileError
from ..formats import _disk
from ..spec import TokenTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

    from ..formats._known import Encoding

# The merge list that gpt2 is published as; its content is that of the rank file r50k_base.
GPT2_MERGES = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/vocab.bpe"
GPT2_MERGES_SHA256 = "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"

SUFFIXES = (".bin", ".tiktoken")


def vocab_dir() -> str | None:
    """The user's own folder of vocabularies, ``CTOK_VOCAB_DIR``."""
    return os.environ.get("CTOK_VOCAB_DIR") or None


def cache_dir() -> str | None:
    """ctok's cache: ``CTOK_CACHE_DIR`` (empty: none), else the place for caches of this system."""
    own = os.environ.get("CTOK_CACHE_DIR")
    if own is not None:
        return own or None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(os.path.expanduser("~"), "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(os.path.expanduser("~"), "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or ""
        base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "ctok") if os.path.isabs(base) else None


def tiktoken_cache_dir() -> str | None:
    """tiktoken's cache, found as tiktoken finds it; None when an empty variable switches it off."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return os.environ[variable] or None
    from tempfile import gettempdir

    return os.path.join(gettempdir(), "data-gym-cache")


def named_files(folder: str | None, stems: tuple[str, ...]) -> Iterator[str]:
    """The paths that plain names may have in a folder, whether there are files or not."""
    for stem in stems if folder else ():
        for suffix in SUFFIXES:
            yield os.path.join(folder or "", stem + suffix)


def url_file(folder: str, url: str) -> str:
    """The path that tiktoken's cache gives what was downloaded from a URL."""
    from hashlib import sha1

    return os.path.join(folder, sha1(url.encode(), usedforsecurity=False).hexdigest())


def stems_of(encoding: Encoding) -> tuple[str, ...]:
    """The plain names under which an encoding's table may lie: its own and its file's."""
    return (encoding.name,) if encoding.name == encoding.file.name else (encoding.name, encoding.file.name)


def read_verified(path: str, encoding: Encoding) -> TokenTable:
    """Return the table of a file that should be a known encoding's.

    Raises
    ------
    VocabularyFileError
        It is another file than the published one (both hashes are named), or damaged. The file is left as it is.
    OSError
        It cannot be read, or is not there.
    """
    from ..formats import binary, sniff

    with open(path, "rb", buffering=0) as file:
        head = file.read(64)
    if sniff(head) == "binary":
        spec, digest = binary.load_with_sha256(path)
        _check(path, digest, encoding.file.sha256)
        table: TokenTable = spec.model.tokens
        return table
    data = _disk.read(path)
    digest = _disk.sha256(data)
    if digest == GPT2_MERGES_SHA256 and encoding.name == "gpt2":
        return TokenTable.from_dict(ranks_of_merges(data))
    _check(path, digest, encoding.file.sha256)
    return rank_table(data, path)


def rank_table(data: bytes, path: str) -> TokenTable:
    """Return the table of a rank file's bytes."""
    from .._native.files import read_ranks

    return TokenTable(*read_ranks(data, path))


def _check(path: str, digest: str, wanted: str) -> None:
    if digest != wanted:
        raise VocabularyFileError(
            f"this is not the published file: its sha256 is {digest or 'not known'}, expected {wanted}",
            path=path,
            cure="The file was kept. Replace or remove it, then try again.",
        )


def ranks_of_merges(data: bytes) -> dict[bytes, int]:
    """Return the ranks that GPT-2's merge list stands for: first the 256 bytes, printable ones before the others, then one a merge."""
    order = [b for b in range(256) if chr(b).isprintable() and chr(b) != " "]
    hidden = [b for b in range(256) if b not in order]
    byte_of = {chr(b): b for b in order} | {chr(256 + i): b for i, b in enumerate(hidden)}
    ranks = {bytes((b,)): rank for rank, b in enumerate(order + hidden)}
    for line in data.decode().split("\n")[1:-1]:
        ranks[bytes(byte_of[char] for char in line if char != " ")] = len(ranks)
    return ranks


def built_in(name: str) -> Buffer | None:
    """Return the packed vocabulary of this name that comes with ctok, or None."""
    if name != "o200k_base":
        return None
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.path.join(package, "data", name + ".bin")
    try:
        with open(path, "rb", buffering=0) as file:
            return _disk.contents(file)
    except OSError:  # imported from something else than a folder
        loader = getattr(sys.modules[__package__ or ""].__spec__, "loader", None)
        get_data = getattr(loader, "get_data", None)
        if get_data is None:
            raise
        data: bytes = get_data(path)
        return data
