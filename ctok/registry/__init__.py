"""Named vocabularies: where they are found, how they are verified, which model uses which.

A name is looked for in this order; the first place that has it decides:

1. the folder ``CTOK_VOCAB_DIR``: ``NAME.bin`` or ``NAME.tiktoken``, so a user's own file wins over all that follow;
2. the vocabulary that comes with ctok (o200k_base, and with it o200k_harmony);
3. ctok's cache (``CTOK_CACHE_DIR``, or the system's place for caches), same names;
4. tiktoken's cache (``TIKTOKEN_CACHE_DIR``, ``DATA_GYM_CACHE_DIR``, or its default): its hashed names, and plain names;
5. plug-ins in the namespace package ``tiktoken_ext``;
6. a download into ctok's cache, unless ``CTOK_OFFLINE=1``.

A public encoding is only ever built from the published content: a file is verified by SHA-256, and one that differs is an error, whichever
place it is in. Other names (from 1, 3 and 5) are what their file or plug-in says.
"""

from __future__ import annotations

import os
from _thread import allocate_lock  # threading itself costs 2 ms to import

from ..errors import VocabularyNotFoundError
from ..spec import Split
from ._cache import CacheEntry
from ._models import ModelInfo
from ._search import list_vocabularies, own_spec, spec_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from ..spec import AddedToken, Spec
    from ..tokenizer import Tokenizer

__all__ = [
    "CacheEntry",
    "ModelInfo",
    "cache_add",
    "cache_list",
    "cache_verify",
    "for_model",
    "list_vocabularies",
    "load",
    "model_info",
    "spec_for",
    "takes_for_name",
]

_tokenizers: dict[str, Tokenizer] = {}
_locks: dict[str, LockType] = {}
_guard = allocate_lock()


def _fresh_locks() -> None:
    """In a forked child nobody holds a lock that another thread of the parent held."""
    global _guard
    _guard = allocate_lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fresh_locks)


def load(
    source: str | PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | Iterable[AddedToken] | None = None,
) -> Tokenizer:
    """Return the tokenizer of a name, a vocabulary file, or a directory that holds one.

    Parameters
    ----------
    source
        The name of an encoding (gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony; or one that was added to the
        cache, or that a plug-in brings), or a path. A name beats a path of the same spelling; a `PathLike`, or a str with a separator
        in it, is a path.
    pattern
        The split pattern; needed for a rank file that is not one of the public encodings. It overrules.
    special_tokens
        Text -> id, or `AddedToken` objects; they overrule likewise.

    Returns
    -------
    Tokenizer
        For a name without `pattern` and `special_tokens`: the same object every time; it pickles as its name. Otherwise a new one, which
        pickles with its content.

    Raises
    ------
    VocabularyNotFoundError
        No place has this name; the error lists the places, and says how to supply the file.
    VocabularyFileError
        A file is malformed, damaged, or not the published one. It is left as it is.
    SpecError
        The vocabulary is read but cannot be run.

    Notes
    -----
    Any number of threads may call this: a name is loaded once. o200k_base takes about 10 ms, without a network or a cache.
    """
    from ..tokenizer import Tokenizer

    if not takes_for_name(source):
        from ..formats import load as load_file

        return Tokenizer.from_spec(load_file(source, pattern=pattern, special_tokens=special_tokens))
    name = os.fspath(source)
    if pattern is None and special_tokens is None:
        found = _tokenizers.get(name)
        return found if found is not None else _load_once(name)
    spec = spec_for(name)
    if pattern is not None:
        spec = spec.replace(pre_tokenizer=Split(pattern))
    if special_tokens is not None:
        from ..formats.tiktoken import added_tokens

        spec = spec.replace(added_tokens=added_tokens(special_tokens))
    return Tokenizer.from_spec(spec)


def for_model(name: str) -> Tokenizer:
    """Return the tokenizer that a model uses; see `model_info`.

    Raises
    ------
    VocabularyNotFoundError
        It is not known which vocabulary this model uses; the error says what to do instead. Or the vocabulary cannot be found.
    """
    info = model_info(name)
    if info.encoding is None:
        if name in list_vocabularies():
            raise VocabularyNotFoundError(f"{name!r} is the name of a vocabulary, not of a model; use ctok.load for it", name=name)
        raise VocabularyNotFoundError(f"it is not known which vocabulary the model {name!r} uses: {info.source}", name=name)
    return load(info.encoding)


def model_info(name: str) -> ModelInfo:
    """Return which encoding a model uses, and how sure that is: a `ModelInfo`. Nothing is loaded.

    Parameters
    ----------
    name
        A model's name, also of a fine-tuned one (``ft:...``), with or without a provider before it (``openai/...``).

    Raises
    ------
    TypeError
        `name` is not a str.
    """
    if not isinstance(name, str):
        raise TypeError(f"a model's name must be a str, got {type(name).__name__}")
    from ._models import look_up

    return look_up(name)


def cache_add(
    source: str | PathLike[str],
    *,
    name: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | Iterable[AddedToken] | None = None,
) -> str:
    """Put a vocabulary into ctok's cache, ready to be mapped, and return the path of the new file.

    Parameters
    ----------
    source
        A name, which is looked for as `load` does (a download included), or the path of a file of any format that ctok reads.
    name
        What to call it; by default the encoding's name, or the file's without its suffix.
    pattern, special_tokens
        As for `load`.

    Raises
    ------
    SpecError
        The name cannot be a file's name, or is that of a public encoding and the content is not.
    CtokError, OSError
        As `load`; or the cache cannot be written.
    """
    from ..formats._known import ENCODINGS
    from ._cache import add

    if takes_for_name(source):
        spec = spec_for(os.fspath(source))
        digest = ENCODINGS[spec.name].file.sha256 if spec.name in ENCODINGS else ""
    else:
        spec, digest = _file_with_sha256(source, pattern, special_tokens)
    return add(spec if name is None else spec.replace(name=name), digest)


def cache_list() -> list[CacheEntry]:
    """Return what ctok's cache holds: `CacheEntry` objects (name, path, size in bytes) by name."""
    from ._cache import entries

    return entries()


def cache_verify() -> list[tuple[CacheEntry, str | None]]:
    """Return each entry of ctok's cache with what is wrong with it, or None: checksums, and the SHA-256 of public encodings."""
    from ._cache import entries, fault_of

    return [(entry, fault_of(entry)) for entry in entries()]


# ---- one load a name ----


def takes_for_name(source: str | PathLike[str]) -> bool:
    """Return whether `load` looks a source up as a name first: a str without a separator that is no file, or is a name all the same."""
    if not isinstance(source, str):
        if isinstance(source, os.PathLike):
            return False
        raise TypeError(f"expected a name or a path, got {type(source).__name__}")
    if os.sep in source or (os.altsep and os.altsep in source) or "/" in source:
        return False
    if source in _tokenizers or not os.path.exists(source):
        return True
    from ..formats._known import ENCODINGS

    if source in ENCODINGS:
        return True
    if source.endswith((".tiktoken", ".bin", ".model", ".json", ".txt")):
        return False
    return own_spec(source, []) is not None


def _load_once(name: str) -> Tokenizer:
    from ..tokenizer import Tokenizer

    with _guard:
        lock = _locks.setdefault(name, allocate_lock())
    with lock:
        found = _tokenizers.get(name)
        if found is None:
            found = _tokenizers[name] = Tokenizer.from_spec(spec_for(name), origin=(_restore, (name,)))
        return found


def _restore(name: str) -> Tokenizer:
    """What a tokenizer that was loaded by name is pickled as."""
    return load(name)


def _file_with_sha256(
    path: str | PathLike[str], pattern: str | None, special_tokens: Mapping[str, int] | Iterable[AddedToken] | None
) -> tuple[Spec, str]:
    from ..formats import _disk, binary, sniff
    from ..formats import load as load_file

    spec = load_file(path, pattern=pattern, special_tokens=special_tokens)
    if os.path.isdir(path):
        return spec, ""
    data = _disk.read(path)
    if sniff(data) == "binary":
        return spec, binary.read(data)[1]
    return spec, _disk.sha256(data)
