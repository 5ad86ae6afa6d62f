"""SentencePiece's public surface over ctok: ``import ctok.compat.sentencepiece as sentencepiece``.

Names, defaults, ids, pieces, places and the classes of errors are those of sentencepiece 0.2.3. The ctok tokenizer inside a processor, with
everything that sentencepiece lacks (streams above all), is ``processor.tokenizer``.

Differences
-----------
- What is drawn at random follows the same distribution, but is not what sentencepiece draws for the same seed.
- ``return_type="proto"`` gives plain immutable objects with the same attributes, whose `SerializeToString` writes the same bytes; the
  protobuf package is not needed. Their `text`, `piece` and `surface` show ill-formed UTF-8 as U+FFFD.
- A lone surrogate in a text is a `ValueError` that names its place; in sentencepiece a `RuntimeError`, in lists a `TypeError`.
- `parallel_encode` gives exactly what `encode` does: the text is not cut, so no result depends on `chunk_len`.
- Of n-best results with equal scores the order may differ.
- Errors are also those of `ctok.errors`. Their texts begin as the reference's where programs read them; else they are ctok's own.
- `SentencePieceTrainer` trains with ctok's trainers; what it does not do it refuses by name (see there).
- `SetMinLogLevel`, `SetNBestTimeout` and `SetDataDir` take their argument and have no effect. `ConvertToFlatbuffer` is missing.
- A path may be an `os.PathLike`, also where sentencepiece takes only a str.
"""

from __future__ import annotations

from ._processor import SentencePieceProcessor
from ._settings import SetDataDir, SetMinLogLevel, SetNBestTimeout, SetRandomGeneratorSeed, ThreadPool
from ._trainer import SentencePieceTrainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ._normalizer import SentencePieceNormalizer

__version__ = "0.2.3"

__all__ = [
    "ConvertToFlatbuffer",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceTrainer",
    "SetDataDir",
    "SetMinLogLevel",
    "SetNBestTimeout",
    "SetRandomGeneratorSeed",
    "ThreadPool",
    "convert_to_flatbuffer",
    "set_data_dir",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
]


def ConvertToFlatbuffer(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise `NotImplementedError`: ctok neither reads nor writes that form of a model."""
    raise NotImplementedError("ctok does not write models as FlatBuffers; sentencepiece's own ConvertToFlatbuffer does")


convert_to_flatbuffer = ConvertToFlatbuffer
set_data_dir = SetDataDir
set_min_log_level = SetMinLogLevel
set_nbest_timeout = SetNBestTimeout
set_random_generator_seed = SetRandomGeneratorSeed


def __getattr__(name: str) -> Any:
    if name == "SentencePieceNormalizer":
        from ._normalizer import SentencePieceNormalizer

        return SentencePieceNormalizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
