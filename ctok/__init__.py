"""Exact, fast tokenizers that encode, decode and count, whole and while the text arrives.

    >>> import ctok
    >>> tok = ctok.load("o200k_base")
    >>> tok.encode("hello world")
    [24912, 2375]

This module is the front door: the public names and nothing else. `streams`, `compat`, `formats`, `integrations`, `train`, `Encoding` and
`Batch` are loaded on first use, so that importing ctok costs only what every use of it needs.
"""

from ._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _explain(problem: str) -> str:
    """Return what to tell somebody whose compiled part is missing, stale or another project's."""
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    if os.path.exists(os.path.join(here, "_native", "buildinfo.pyx")):
        return (
            f"{problem}: {here} is a source tree, and its compiled part is not built for this Python. Build it in place with "
            "'pip install --no-build-isolation -e .' (needs Cython and setuptools), or install it with 'pip install .' and start "
            "Python in another folder (or with 'python -P'), so that the tree does not hide the installed package."
        )
    owners: Sequence[str] = ()
    try:
        from importlib.metadata import packages_distributions

        owners = sorted(set(packages_distributions().get("ctok", ())))
    except Exception:  # the metadata of foreign packages can be broken in any way; the advice below holds without it
        pass
    who = f" (installed here: {', '.join(owners)})" if owners else ""
    return (
        f"{problem}: the files in {here} are not all from the same build of ctok-stream{who}. Another distribution provides a package "
        "of the same name, 'ctok'; only one of them can be installed. Run 'pip uninstall ctok ctok-stream' and install ctok-stream again."
    )


try:
    from ._native.buildinfo import version as _built
except ImportError as error:
    raise ImportError(_explain(f"ctok's compiled part cannot be imported ({error})"), name="ctok") from error
if _built != __version__:
    raise ImportError(_explain(f"ctok is version {__version__}, its compiled part version {_built}"), name="ctok")
del _built

from . import errors, spec
from ._native.ids import Ids
from .errors import (
    CorpusError,
    CtokError,
    DecodeError,
    DisallowedSpecialTokenError,
    EncodeError,
    MemoryLimitError,
    PatternError,
    SpecError,
    StateError,
    TrainingError,
    UnknownIdError,
    UnknownSpecialTokenError,
    UnknownTokenError,
    VocabularyFileError,
    VocabularyNotFoundError,
)
from .incremental import Delta, IncrementalCounter, IncrementalDecoder, IncrementalEncoder, step_many
from .registry import ModelInfo, for_model, load, model_info
from .spec import BPE, AddedToken, Spec, Split, TokenTable
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from . import compat, formats, integrations, streams, train
    from ._native.padded import Batch
    from .encoding import Encoding

__all__ = [
    "BPE",
    "AddedToken",
    "Batch",
    "CorpusError",
    "CtokError",
    "DecodeError",
    "Delta",
    "DisallowedSpecialTokenError",
    "EncodeError",
    "Encoding",
    "Ids",
    "IncrementalCounter",
    "IncrementalDecoder",
    "IncrementalEncoder",
    "MemoryLimitError",
    "ModelInfo",
    "PatternError",
    "Spec",
    "SpecError",
    "Split",
    "StateError",
    "TokenTable",
    "Tokenizer",
    "TrainingError",
    "UnknownIdError",
    "UnknownSpecialTokenError",
    "UnknownTokenError",
    "VocabularyFileError",
    "VocabularyNotFoundError",
    "__version__",
    "compat",
    "errors",
    "for_model",
    "formats",
    "integrations",
    "load",
    "model_info",
    "spec",
    "step_many",
    "streams",
    "train",
]

# Name -> the module that it is, or is in.
_ON_FIRST_USE = {
    "Batch": "._native.padded",
    "Encoding": ".encoding",
    "compat": ".compat",
    "formats": ".formats",
    "integrations": ".integrations",
    "streams": ".streams",
    "train": ".train",
}


def __getattr__(name: str) -> object:
    if name in _ON_FIRST_USE:
        from importlib import import_module

        module = import_module(_ON_FIRST_USE[name], __name__)
        return getattr(module, name) if name[0].isupper() else module
    raise AttributeError(f"module 'ctok' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_FIRST_USE})
