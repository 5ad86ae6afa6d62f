"""From the record of a pre-tokenizer to the `Cutter` that runs it."""

from collections.abc import Callable

from .._native.cut import Cutter
from .._native.split import Splitter
from ..errors import PatternError, SpecError
from ..spec import Record
from ..spec import Split as MatchesOnly
from ..stagespecs import pretokenizers as records
from ..stagespecs import sequences

__all__ = ["build_cutter", "flat"]

Step = tuple[object, ...]

# The enums of csrc/ctok_cut.h.
BEHAVIORS = {name: i for i, name in enumerate(("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"))}
PREPEND = {"always": 0, "never": 1, "first": 2}
WHITE, PUNCTUATION, NUMBERS, CHARACTER, BERT, WORDS = range(6)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def build_cutter(record: Record | None) -> Cutter:
    """Return what cuts as a record says; None leaves the text in one piece.

    Patterns come in the syntax of Oniguruma. One that no machine can express is run by the `regex` module on whole pieces, so such a
    cutter streams nothing before the end of a piece (`Cutter.streams`). A last step ByteLevel leaves the bytes as they are: its model is
    given a vocabulary of bytes. One that others follow spells them, for what follows sees them so.

    Raises
    ------
    PatternError
        A pattern is malformed, or uses what is not supported.
    SpecError
        The record is no pre-tokenizer, or one that cannot run.
    """
    parts = flat(_fuse(record)) if record is not None else []
    steps: list[Step] = []
    for i, part in enumerate(parts, 1):
        steps += _steps(part)
        if isinstance(part, records.ByteLevel) and i < len(parts):
            steps.append(("spell",))
    return Cutter(steps)


def flat(record: Record) -> list[Record]:
    """Return the pre-tokenizers of a sequence, also of one that holds others."""
    return sequences.flat(record, records.Sequence)


def _fuse(record: Record) -> Record:
    """The record with a chain of patterns that one pattern says (stages/_pattern/fused.py) replaced by that one."""
    parts = record.steps if isinstance(record, records.Sequence) else ()
    for first in range(len(parts) - 2):
        splits = [part for part in parts[first : first + 3] if isinstance(part, records.Split) and isinstance(part.pattern, records.Regex)]
        if len(splits) < 3 or any(part.behavior != "isolated" or part.invert for part in splits):
            continue
        from ._pattern.fused import fused

        one = fused(tuple(part.pattern.text for part in splits))
        if one is not None:
            return records.Sequence([*parts[:first], _Fused(one), *parts[first + 3 :]])
    return record


class _Fused(Record):
    """A pattern of this package's own dialect whose matches are isolated."""

    __slots__ = ("pattern",)
    pattern: str

    def __init__(self, pattern: str) -> None:
        self._set(pattern=pattern)


def _steps(record: Record) -> list[Step]:
    makers: dict[type, Callable[..., list[Step]]] = {
        records.ByteLevel: _byte_level,
        records.Whitespace: lambda _: [_classes(WORDS)],
        records.WhitespaceSplit: lambda _: [_classes(WHITE, "removed")],
        records.BertPreTokenizer: lambda _: [_classes(BERT)],
        records.Metaspace: lambda r: [("metaspace", ord(r.replacement), PREPEND[r.prepend_scheme], r.split)],
        records.CharDelimiterSplit: lambda r: [_classes(CHARACTER, "removed", ord(r.delimiter))],
        records.Punctuation: lambda r: [_classes(PUNCTUATION, r.behavior)],
        records.Digits: lambda r: [_classes(NUMBERS, "isolated" if r.individual_digits else "contiguous")],
        records.Split: _split,
        records.UnicodeScripts: lambda _: [("scripts",)],
        records.FixedLength: _fixed,
        MatchesOnly: _matches_only,
        _Fused: lambda r: [_around(r.pattern, BEHAVIORS["isolated"], False)],
    }
    make = makers.get(type(record))
    if make is None:
        raise SpecError(f"no pre-tokenizer is called {type(record).__name__}")
    return make(record)


def _classes(rule: int, behavior: str = "isolated", character: int = 0, invert: bool = False) -> Step:
    return ("classes", rule, character, BEHAVIORS[behavior], invert)


def _byte_level(record: records.ByteLevel) -> list[Step]:
    prefix: list[Step] = [("prefix",)] if record.add_prefix_space else []
    split: list[Step] = [("split", Splitter.known(GPT2), BEHAVIORS["isolated"], False)] if record.use_regex else []
    return prefix + split


def _fixed(record: records.FixedLength) -> list[Step]:
    if record.length < 1:
        raise SpecError("FixedLength: pieces of length 0")
    return [("fixed", record.length)]


def _matches_only(record: MatchesOnly) -> list[Step]:
    from .pretokenizers import build_splitter

    splitter = build_splitter(record)
    if isinstance(splitter, Splitter):
        return [("split", splitter, BEHAVIORS["removed"], True)]
    return [("call", PieceMatcher(record.pattern), BEHAVIORS["removed"], True)]


def _split(record: records.Split) -> list[Step]:
    text = record.pattern.text
    if isinstance(record.pattern, records.String):
        if len(text) == 1:
            return [_classes(CHARACTER, record.behavior, ord(text), record.invert)]
        text = "".join("\\" + c if c in "\\.+*?()|[]{}^$" else c for c in text)
    elif "$" in text or Splitter.known(text) is None:  # any other known pattern is written alike in both dialects
        from ._pattern.oniguruma import translate

        text = translate(text)
    return [_around(text, BEHAVIORS[record.behavior], record.invert)]


def _around(pattern: str, behavior: int, invert: bool) -> Step:
    known = Splitter.known(pattern)
    if known is not None:
        return ("split", known, behavior, invert)
    from ._pattern import NotExpressible, compile_pattern

    try:
        return ("split", Splitter(pattern, compile_pattern(pattern)), behavior, invert)
    except NotExpressible:
        pass
    except PatternError:  # it matches the empty text, which a machine cannot
        pass
    return ("call", PieceMatcher(pattern), behavior, invert)


class PieceMatcher:
    """Finds the matches of a pattern in a piece of text by the `regex` module; called by the cutter."""

    def __init__(self, pattern: str) -> None:
        import regex

        from ._pattern.rewrite import rewrite

        self.pattern = pattern
        text, nested = rewrite(pattern)
        try:
            self._search = regex.compile(text, regex.V1 if nested else regex.V0).search
        except (regex.error, RecursionError) as error:
            raise PatternError(f"split pattern {pattern!r}: {error}", pattern=pattern) from None

    def __repr__(self) -> str:
        return f"PieceMatcher({self.pattern!r})"

    def __call__(self, text: str) -> list[int]:
        """Return the matches, start and stop in turn, in bytes of UTF-8. An empty match right behind a match is none."""
        found: list[int] = []
        at, last = 0, -1
        while at <= len(text) and (match := self._search(text, at)) is not None:
            start, stop = match.span()
            if start == stop == last:
                at += 1
                continue
            found += (start, stop)
            at = last = stop
        if text.isascii():
            return found
        places = [0]
        for char in text:
            places.append(places[-1] + len(char.encode()))
        return [places[i] for i in found]
