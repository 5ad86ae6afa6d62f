"""The pattern compiler: from the text of a split pattern to tables for csrc/ctok_dfa.h.

It runs when a tokenizer with a pattern that ctok does not know is built, and at development time for the known ones
(tools/gen_split.py); it may be slow. `syntax` reads the pattern, `charset` gives sets of characters a meaning, `automaton`
builds the machine, `tables` lays it out. They are imported when one of the names here is first asked for: a known pattern needs none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .charset import NotExpressible
    from .tables import compile_pattern

__all__ = ["NotExpressible", "compile_pattern"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .charset import NotExpressible
    from .tables import compile_pattern

    globals().update(NotExpressible=NotExpressible, compile_pattern=compile_pattern)
    return globals()[name]
