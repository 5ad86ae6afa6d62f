"""From `spec.Split` to what cuts text into pretokens."""

from .._native.split import Splitter

__all__ = ["build_splitter"]


def build_splitter(split):
    """Return the splitter of a `spec.Split`.

    Known patterns are recognised by their text and cost nothing; the usual subset of all others is compiled (milliseconds). Both give a
    `Splitter`, which lets pretokens go while the text arrives.

    Raises
    ------
    PatternError
        The pattern can match the empty text, or is malformed.
    """
    known = Splitter.known(split.pattern)
    if known is not None:
        return known
    from ._pattern import compile_pattern

    return Splitter(split.pattern, compile_pattern(split.pattern))
