"""From the records of `ctok.stagespecs.normalizers` to the chain that runs them."""

from __future__ import annotations

from .._native.normalize import Normalizer
from .._native.split import Splitter
from ..errors import PatternError, SpecError
from ..stagespecs import normalizers as records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..spec import Record

__all__ = ["build_normalizer"]

_SIMPLE = {
    records.NFC: "nfc",
    records.NFD: "nfd",
    records.NFKC: "nfkc",
    records.NFKD: "nfkd",
    records.Lowercase: "lowercase",
    records.StripAccents: "strip_accents",
    records.Nmt: "nmt",
    records.ByteLevel: "byte_level",
}
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_PLAIN = frozenset(" 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-,:;'\"!@#%&=~`<>/\n\t")


def build_normalizer(record: Record | None) -> Normalizer | None:
    """Return the chain of a normalizer's record; None when it leaves every text as it is (no record, an empty sequence).

    A chain whose `streams` is False has a pattern that only the `regex` module can run: it lets nothing go before the text ends.

    Raises
    ------
    SpecError
        Not a normalizer's record, or one whose data cannot be used (a malformed charsmap).
    PatternError
        A pattern is malformed.
    """
    if record is None:
        return None
    steps = tuple(_steps(record))
    if not steps:
        return None
    try:
        return Normalizer(steps)
    except ValueError as error:
        raise SpecError(f"normalizer {type(record).__name__}: {error}") from None


def _steps(record: Record) -> Iterator[tuple[Any, ...]]:
    kind = type(record)
    if kind in _SIMPLE:
        yield (_SIMPLE[kind],)
    elif isinstance(record, records.Sequence):
        for step in record.steps:
            yield from _steps(step)
    elif isinstance(record, records.Strip):
        if record.left or record.right:
            yield "strip", record.left, record.right
    elif isinstance(record, records.Prepend):
        yield "prepend", record.prepend
    elif isinstance(record, records.Replace):
        yield _replace(record)
    elif isinstance(record, records.BertNormalizer):
        yield from _bert(record)
    elif isinstance(record, records.Precompiled):
        yield "charsmap", record.charsmap
    else:
        from .sentencepiece import normalizer_step

        yield normalizer_step(record)


def _bert(record: records.BertNormalizer) -> Iterator[tuple[str]]:
    if record.clean_text:
        yield ("bert_clean",)
    if record.handle_chinese_chars:
        yield ("bert_cjk",)
    if record.lowercase if record.strip_accents is None else record.strip_accents:
        yield ("nfd",)
        yield ("bert_accents",)
    if record.lowercase:
        yield ("lowercase",)


# ---- Replace ----


def _replace(record: records.Replace) -> tuple[Any, ...]:
    if isinstance(record.pattern, records.String):
        if record.pattern.text:
            return "literal", record.pattern.text, record.content
        return "matches", _regex_matches(""), record.content
    pattern = record.pattern.text
    run = _run(pattern)
    if run is not None:
        return ("run", *run, record.content)
    from ._pattern.oniguruma import translate

    pattern = translate(pattern)
    machine = _machine(pattern)
    if machine is not None:
        return "pattern", machine, record.content
    return "matches", _regex_matches(pattern), record.content


def _run(pattern: str) -> tuple[str, int] | None:
    """What a pattern asks for that is so many or more of one ASCII character, as " {2,}", "-+", "\\\\n{3,}": the character, how many."""
    escaped = pattern[:1] == "\\"
    character, rest = pattern[escaped : escaped + 1], pattern[escaped + 1 :]
    if escaped and character.isalnum():
        character = _NAMED.get(character, "")
    elif not escaped and character not in _PLAIN:
        return None
    if not character or character > "\x7f":
        return None
    if rest == "+":
        return character, 1
    least = rest[1:-2]
    if rest != f"{{{least},}}" or not (1 <= len(least) <= 6 and least.isascii() and least.isdigit() and int(least)):
        return None
    return character, int(least)


def _machine(pattern: str) -> Splitter | None:
    """The pattern as a machine, or None when there is none for it (as when it can match nothing at all)."""
    from ._pattern import NotExpressible, compile_pattern

    try:
        return Splitter(pattern, compile_pattern(pattern))
    except (NotExpressible, PatternError):
        return None


def _regex_matches(pattern: str) -> Callable[[str], list[tuple[int, int]]]:
    """Return what finds all matches in a text as the reference does: an empty match just behind another match does not count."""
    import regex

    from ._pattern.rewrite import rewrite

    text, nested = rewrite(pattern)
    try:
        compiled = regex.compile(text, regex.V1 if nested else regex.V0)
    except (regex.error, RecursionError) as error:
        raise PatternError(f"pattern {pattern!r} of a normalizer: {error}", pattern=pattern) from None

    def matches(whole: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for match in compiled.finditer(whole):
            start, stop = match.span()
            if start < stop or not found or found[-1][1] < start:
                found.append((start, stop))
        return found

    return matches
