"""The pattern compiler: from the text of a split pattern to tables for csrc/ctok_dfa.h.

It runs when a tokenizer with a pattern that ctok does not know is built, and at development time for the known ones
(tools/gen_split.py); it may be slow. `syntax` reads the pattern, `charset` gives sets of characters a meaning, `automaton`
builds the machine, `tables` lays it out.
"""

from .charset import NotExpressible
from .tables import compile_pattern

__all__ = ["NotExpressible", "compile_pattern"]
