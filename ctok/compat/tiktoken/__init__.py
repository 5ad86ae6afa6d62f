"""tiktoken's public surface over ctok: ``import ctok.compat.tiktoken as tiktoken``.

Names, defaults, ids and the classes of errors are those of tiktoken 0.14; its submodules `core`, `load`, `model` and `registry` are here,
too. The public encodings are found as `ctok.registry` says (o200k_base needs neither a network nor a cache) and share their tables with
`ctok.load`. The ctok tokenizer inside an encoding, with everything that tiktoken lacks, is ``enc.tokenizer``.

Differences
-----------
Where tiktoken stops the process, loops, or leaves the answer to chance, ctok does not:

- Of special tokens that start at the same place the longest allowed one is matched, and the longest disallowed one reported; in tiktoken
  this depends on the order of a hash table. Of special tokens that share an id the first declared one is what the id decodes to.
- An empty special token and a pattern that can match the empty text are a `ValueError` when the encoding is made. So are two tokens with
  one rank, and ranks of 2**31 or more. Memory grows with the largest id.
- A byte that the ranks have no token for is a `ValueError` when a text holds it.
- Lone surrogates become U+FFFD and pairs are joined in every method; `encode_to_numpy` and `encode_with_unstable` of tiktoken raise.
- ``_encode_single_piece("")`` is ``[]``. `encode_with_unstable` returns its completions sorted.
- A special token with the id of an ordinary one is what that id decodes to; in tiktoken the ordinary one is.
- A pattern is read with Unicode 16.0. One that can neither be compiled nor run by the `regex` package is a `ValueError`; no text makes
  matching fail.
- An iterator without items as `disallowed_special` forbids nothing.
- `encode_batch` and `decode_batch` use at most as many threads as there are processors, and none for little text. Of several errors in a
  batch a text of a wrong type is reported first.
- The errors of tiktoken are kept as classes and, where programs read them, as texts: ``Encountered text corresponding to disallowed special
  token '...'.`` is still the first line. Other texts are ctok's own, and what is raised is often a subclass from `ctok.errors`.
- An encoding whose vocabulary cannot be found raises `ctok.errors.VocabularyNotFoundError`, which lists where it was looked for.
- `load.load_tiktoken_bpe` refuses malformed lines, repeated tokens or ranks, and empty files, naming the line. `load.dump_tiktoken_bpe`
  needs no other package for a path, and writes the file whole or not at all. A file in the cache that has the wrong hash is replaced only
  by one that has the right one. ``CTOK_OFFLINE=1`` forbids the network here as well.
- Plug-ins of the namespace package `tiktoken_ext` are used, except tiktoken's own module. Names in ctok's cache and in
  ``CTOK_VOCAB_DIR`` are found, too.

There is no `_educational` module, and no `_core_bpe`.
"""

from __future__ import annotations

from .core import Encoding
from .model import encoding_for_model, encoding_name_for_model
from .registry import TIKTOKEN_VERSION, get_encoding, list_encoding_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import core, load, model, registry

__version__ = TIKTOKEN_VERSION

__all__ = [
    "Encoding",
    "core",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
    "load",
    "model",
    "registry",
]


def __getattr__(name: str) -> object:
    if name == "load":
        from importlib import import_module

        return import_module(".load", __name__)
    raise AttributeError(f"module 'ctok.compat.tiktoken' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "load"})
