"""Codecs for text that arrives in chunks: the sans-IO core of ctok's streams.

All are plain objects that do no input or output: bytes, text or ids go in by one method, what is certain comes out. They follow the
conventions of Python's `codecs` module: ``final=True`` says that nothing follows, `reset` forgets, `getstate` and `setstate` carry a
state elsewhere; `copy` forks. A call that raises leaves the codec as it was.
"""

from ._native.counter import IncrementalCounter
from ._native.decode import Delta, IncrementalDecoder, step_many
from ._native.encoder import IncrementalEncoder

__all__ = ["Delta", "IncrementalCounter", "IncrementalDecoder", "IncrementalEncoder", "step_many"]
