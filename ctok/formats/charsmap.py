"""SentencePiece's tables of replacements: by name, from rules, from a file of rules; and back to rules."""

from __future__ import annotations

import os
import sys
from array import array
from functools import cache

from .._native.charsmap import build_trie
from ..errors import SpecError, VocabularyFileError, VocabularyNotFoundError
from . import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike

__all__ = ["NAMES", "compile_rules", "decompile", "dump_rules", "load_rules", "named"]

NAMES = ("identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")
_FROZEN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "charsmaps.bin")
_MOST_NESTED = 31  # rules of which each begins with the one before; SentencePiece looks at no more
_DEEPEST = 1023    # bytes of an old text


# ---- by name ----


def named(name: str) -> bytes:
    """Return the table that SentencePiece calls `name`, byte for byte; for ``"identity"`` it is empty.

    ``"nfkc"`` is Unicode's form, ``"nmt_nfkc"`` also cleans control characters and blanks; with ``"_cf"`` letters are case-folded.
    `VocabularyNotFoundError` for another name. The first call for a name takes some 30 ms.
    """
    if name == "identity":
        return b""
    try:
        return _frozen(name)
    except KeyError:
        raise VocabularyNotFoundError(f"no table of rules is called {name!r}; there are {', '.join(NAMES)}") from None


@cache
def _frozen(name: str) -> bytes:
    """A table from the file that tools/gen_spm_maps.py writes."""
    import lzma

    with open(_FROZEN, "rb") as file:
        head, _, data = file.read().partition(b"\n")
    sizes = {entry.partition(":")[0]: int(entry.partition(":")[2]) for entry in head.decode().split()}
    at = 0
    for other, size in sizes.items():
        if other == name:
            return _turned_back(lzma.decompress(data[at : at + size]))
        at += size
    raise KeyError(name)


def _turned_back(data: bytes) -> bytes:
    """The first bytes of all units come first in the file, then the second ones, and so on."""
    size = int.from_bytes(data[:4], "little")
    trie = bytearray(size)
    for i in range(4):
        trie[i::4] = data[4 + i * size // 4 : 4 + (i + 1) * size // 4]
    return data[:4] + trie + data[4 + size :]


# ---- from rules ----


def compile_rules(rules: Mapping[str, str] | Iterable[tuple[str, str]]) -> bytes:
    """Return the table of rules, old text -> new text, in the form that model files hold.

    The longest rule that fits is applied. SentencePiece reads the table and gives equal results; its own has the same size or nearly so.
    An old text ends at a NUL, as does a new one. Of equal old texts the last counts. About 10 microseconds a rule.

    Raises
    ------
    SpecError
        No rule at all, an empty old text or one longer than 1023 bytes, a new text equal to the old one, more than 31 rules of which each
        begins with the one before, a lone surrogate, or too much of all.
    """
    pairs = dict(rules.items() if hasattr(rules, "items") else rules)
    if not pairs:
        raise SpecError("a table of rules needs a rule")
    places, texts = _texts(pairs.values())
    values = {_key(old, new): places[new] for old, new in sorted(pairs.items(), reverse=True)}
    keys = sorted(values)
    _check_nesting(keys)
    ends, at = array("I"), 0
    for key in keys:
        at += len(key)
        ends.append(at)
    try:
        units = array("I", build_trie(b"".join(keys), ends, array("I", [values[key] for key in keys])))
    except ValueError as error:
        raise SpecError(f"rules: {error}") from None
    if sys.byteorder == "big":
        units.byteswap()
    trie = units.tobytes()
    return len(trie).to_bytes(4, "little") + trie + texts


def _texts(new: Iterable[str]) -> tuple[dict[str, int], bytes]:
    """Where each new text starts, and all of them."""
    places, at, parts = {}, 0, []
    for text in sorted(set(new)):
        places[text] = at
        parts.append(_utf8(text) + b"\0")
        at += len(parts[-1])
    return places, b"".join(parts)


def _key(old: str, new: str) -> bytes:
    key = _utf8(old).partition(b"\0")[0]
    if not key or len(key) > _DEEPEST:
        raise SpecError(f"the old text of a rule must have 1 to {_DEEPEST} bytes, got {old[:40]!r}")
    if old == new:
        raise SpecError(f"a rule must change something: {old[:40]!r}")
    return key


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise SpecError(f"rules: {error.reason} in {text[:40]!r}") from None


def _check_nesting(keys: list[bytes]) -> None:
    open_keys: list[bytes] = []
    for key in keys:
        while open_keys and not key.startswith(open_keys[-1]):
            open_keys.pop()
        open_keys.append(key)
        if len(open_keys) > _MOST_NESTED:
            raise SpecError(f"more than {_MOST_NESTED} rules of which each begins with the one before: {key.decode()[:40]!r}")


# ---- back to rules ----


def decompile(charsmap: bytes) -> dict[str, str]:
    """Return the rules of a table, in the order of their old texts.

    `SpecError` when it is malformed. About 15 microseconds a rule.
    """
    units, texts = _parts(charsmap)
    children: dict[int, list[int]] = {}
    for place in range(1, len(units)):
        label = units[place] & 0x800000FF
        if 0 < label < 256:
            children.setdefault(place ^ label, []).append(place)
    try:
        rules = {key.decode(): _text_at(texts, value).decode() for key, value in _keys(units, children)}
    except UnicodeDecodeError:
        raise SpecError("a table of rules holds text that is not UTF-8") from None
    return dict(sorted(rules.items()))


def _parts(charsmap: bytes) -> tuple[array[int], bytes]:
    size = int.from_bytes(charsmap[:4], "little")
    if len(charsmap) < 4 or size > len(charsmap) - 4 or size % 4:
        raise SpecError("a table of rules is broken off")
    units = array("I", charsmap[4 : 4 + size])
    if sys.byteorder == "big":
        units.byteswap()
    return units, charsmap[4 + size :]


def _keys(units: array[int], children: dict[int, list[int]]) -> Iterator[tuple[bytes, int]]:
    """All keys with their values. Bytes of a key are walked in a loop: a table from outside may be deep."""
    if not units:
        return
    open_nodes = [(_children_of(units, 0), b"")]
    while open_nodes:
        base, prefix = open_nodes.pop()
        if len(prefix) >= _DEEPEST:
            raise SpecError(f"a table of rules has an old text of more than {_DEEPEST} bytes")
        for place in children.get(base, ()):
            key = prefix + bytes((units[place] & 0xFF,))
            below = _children_of(units, place)
            if units[place] >> 8 & 1 and below < len(units):
                yield key, units[below] & 0x7FFFFFFF
            if below in children:
                open_nodes.append((below, key))


def _children_of(units: array[int], place: int) -> int:
    unit = units[place]
    return place ^ (unit >> 10) << ((unit & 0x200) >> 6)


def _text_at(texts: bytes, place: int) -> bytes:
    if place >= len(texts):
        raise SpecError("a table of rules points outside of itself")
    stop = texts.find(b"\0", place)
    return texts[place:] if stop < 0 else texts[place:stop]


# ---- files of rules ----


def load_rules(path: str | PathLike[str]) -> dict[str, str]:
    """Return the rules of a file: a line each, code points in hexadecimal, ``old<TAB>new``; what follows another tab is a comment.

    Code points stand between blanks, with or without ``U+``. Without a new text the old one is dropped. Of equal old texts the last counts.

    Raises
    ------
    VocabularyFileError
        A line is malformed: the error names it.
    OSError
        The file cannot be read.
    """
    rules: dict[str, str] = {}
    lines = _disk.read(path).split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        fields = line.split(b"\t")
        try:
            old, new = (_characters(field) for field in (fields[0], fields[1] if len(fields) > 1 else b""))
        except ValueError as error:
            raise VocabularyFileError(str(error), path=path, line=number) from None
        if not old:
            raise VocabularyFileError("a rule without an old text", path=path, line=number)
        rules[old] = new
    return rules


def _characters(field: bytes) -> str:
    text = ""
    for item in field.split():
        digits = item.decode("ascii", "replace").removeprefix("U+")
        try:
            text += chr(int(digits, 16))
        except (ValueError, OverflowError):
            raise ValueError(f"not a code point in hexadecimal: {digits[:20]!r}") from None
    return text


def dump_rules(rules: Mapping[str, str], path: str | PathLike[str]) -> None:
    """Write a file of rules that `load_rules` and SentencePiece read, with what each says as a comment. `OSError` as `open` raises it."""
    lines = []
    for old, new in sorted(rules.items()):
        said = f"{old} => {new}".replace("\n", " ").replace("\r", " ")
        lines.append(f"{_codes(old)}\t{_codes(new)}\t# {said}\n")
    _disk.write(path, "".join(lines).encode("utf-8", "replace"))


def _codes(text: str) -> str:
    return " ".join(f"{ord(char):X}" for char in text)
