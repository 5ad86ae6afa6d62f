"""From `spec.Split` to what cuts text into pretokens."""

from .._native.split import Splitter
from ..errors import PatternError
from ..spec import Split

__all__ = ["RegexSplitter", "build_splitter"]


def build_splitter(split: Split) -> "Splitter | RegexSplitter":
    """Return the splitter of a `spec.Split`.

    Known patterns are recognised by their text and cost nothing; the usual subset of all others is compiled (milliseconds). Both give a
    `Splitter`, which lets pretokens go while the text arrives. What no machine can express (back-references, look-behind, word boundaries,
    look-ahead of more than a character, ...) gives a `RegexSplitter`. Which one it is says `streams`.

    Raises
    ------
    PatternError
        The pattern can match the empty text, or is malformed.
    """
    known = Splitter.known(split.pattern)
    if known is not None:
        return known
    from ._pattern import NotExpressible, compile_pattern

    try:
        return Splitter(split.pattern, compile_pattern(split.pattern))
    except NotExpressible:
        return RegexSplitter(split.pattern)


class RegexSplitter:
    """A split pattern run by the `regex` module, with the character classes of Unicode 16.0 written out.

    It needs the complete text, so a tokenizer with such a pattern streams nothing before the end (`streams` is False). It is slow
    (microseconds for each character), and like every backtracking matcher it can take exponential time on patterns with nested
    loops: a pattern from an untrusted source is the caller's risk.

    Attributes
    ----------
    pattern
        The pattern as given.
    streams
        False.

    Raises
    ------
    PatternError
        The pattern is malformed, or matches the empty text.
    """

    streams = False

    def __init__(self, pattern: str) -> None:
        import regex

        from ._pattern.rewrite import rewrite

        self.pattern = pattern
        text, nested = rewrite(pattern)
        try:
            self._compiled = regex.compile(text, regex.V1 if nested else regex.V0)
        except (regex.error, RecursionError) as error:
            raise PatternError(f"split pattern {pattern!r}: {error}", pattern=pattern) from None
        if self._compiled.fullmatch(""):
            raise PatternError(f"split pattern {pattern!r}: the pattern can match nothing, so it does not say how to cut", pattern=pattern)

    def __repr__(self) -> str:
        return f"RegexSplitter({self.pattern!r})"

    def __reduce__(self) -> tuple[type["RegexSplitter"], tuple[str]]:
        return RegexSplitter, (self.pattern,)

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Return the pretokens of a complete str as (start, stop) in characters. What matches nothing is left out, as are empty matches."""
        return [span for match in self._compiled.finditer(text) if (span := match.span())[0] < span[1]]
