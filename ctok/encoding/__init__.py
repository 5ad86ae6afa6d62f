"""What a text became: ids with their tokens, spans, words, masks, and the look-ups between them; cut to a length and filled up to one.

`Encoding` is immutable. `merge`, `truncate`, `truncate_pair`, `pad` and `pad_all` are plain functions that return new ones.
"""

from __future__ import annotations

from ._edit import merge, pad, pad_all, pad_length, truncate, truncate_pair
from ._record import NO_WORD, Encoding

__all__ = ["NO_WORD", "Encoding", "merge", "pad", "pad_all", "pad_length", "truncate", "truncate_pair"]
