"""The public surface of Hugging Face's tokenizers over ctok: ``import ctok.compat.tokenizers as tokenizers``.

Names, signatures, defaults, ids, places and the classes of errors are those of tokenizers 0.23. Specials in a text are matched, truncation
and padding are settings of the tokenizer, and components can be assigned and changed in place. The ctok tokenizer inside, with everything
that the reference lacks, is ``tok.tokenizer``; a `ctok.Spec` becomes such a tokenizer by ``Tokenizer.from_spec``.

Differences
-----------
- `Tokenizer.encode` works out ids alone. Tokens, places and words are worked out, from the text and the settings of that moment, when an
  `Encoding` is first asked for them.
- A change of a component other than the post-processor, or an added token, makes the next call build the tokenizer anew. Many such changes
  in a row cost one build.
- Where the reference panics, there is a `ValueError`: a stride that leaves nothing (when it is set, or for a pair when a text is cut), a
  template with a name that nothing stands for, a merge whose result is no token.
- An added token of which the normalizer leaves nothing is refused. (In the reference it matches between all characters.)
- What ctok cannot run is refused by `Tokenizer.from_file` and its like, or by the first call after a component was assigned: a
  pattern that ctok cannot read. Files that contradict themselves are refused (two tokens with one id).
- Components written in Python (`custom`), `NormalizedString`, `PreTokenizedString`, `ParityBpeTrainer` (see
  `ctok.train.train_languages`), `implementations` and `tools` are not here.
- Training gives the reference's merges and words. `UnigramTrainer` gives other pieces (see `trainers`), the same on every run. A corpus
  without text is an error, and so is a single str given as one. Malformed UTF-8 names file and place.
- `Unigram` does not sample: `alpha` and `nbest_size` are kept, and of no effect.
- `Tokenizer.from_pretrained` reads folders and downloads nothing.
- `async_*` methods work under asyncio and trio, and stop soon after they are cancelled. They return coroutines.
- A token that is added again with other flags is called as the last ones say; the reference keeps the name that the normalizer gave it.
- `DecodeStream` follows the reference's rule. ``tok.tokenizer.decoder()`` is exact, faster, and has an end.
- `Replace`, `Regex`, `Token` can be pickled; in the reference they cannot.
- Unknown keyword arguments that the reference prints a line about are a warning.
- The texts of errors are the reference's where programs may read them, and else ctok's own; what is raised is often a subclass from
  `ctok.errors`. A file that cannot be read is a `ctok.CtokError` that is an `OSError`, too.
"""

from __future__ import annotations

from . import decoders, models, normalizers, pre_tokenizers, processors, trainers
from ._encoding import Encoding
from ._tokenizer import Tokenizer
from ._tokens import AddedToken, Regex, Token

__version__ = "0.23.3"  # the one whose surface this is

__all__ = [
    "AddedToken",
    "Encoding",
    "Regex",
    "Token",
    "Tokenizer",
    "decoders",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
]
