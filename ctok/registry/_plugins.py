"""Encodings that installed packages add to the namespace package `tiktoken_ext`: modules with ``ENCODING_CONSTRUCTORS``.

tiktoken itself is not imported for this; a plug-in may do so. The module with tiktoken's own encodings is left out: ctok knows them,
and that module would go to the network.
"""

from __future__ import annotations

from ..errors import SpecError
from ..spec import BPE, AddedToken, Spec, Split, TokenTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_OWN = "openai_public"


def constructors(tried: list[str]) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return what plug-ins offer: name -> (module, constructor). A module that cannot be used is noted in `tried`.

    Raises
    ------
    SpecError
        Two modules define the same name.
    """
    try:
        import tiktoken_ext
    except ImportError:
        tried.append("tiktoken_ext: no plug-ins are installed")
        return {}
    from importlib import import_module
    from pkgutil import iter_modules

    found: dict[str, tuple[str, Callable[[], Any]]] = {}
    for _, module, _ in sorted(iter_modules(tiktoken_ext.__path__), key=lambda entry: entry[1]):
        if module == _OWN:
            continue
        try:
            offered = import_module(f"tiktoken_ext.{module}").ENCODING_CONSTRUCTORS
        except Exception as error:  # a foreign module may fail in any way; the other ones still count
            tried.append(f"tiktoken_ext.{module}: {type(error).__name__}: {error}")
            continue
        for name, constructor in offered.items():
            if name in found:
                raise SpecError(f"encoding {name!r} is defined by tiktoken_ext.{found[name][0]} and by tiktoken_ext.{module}; remove one")
            found[name] = module, constructor
    return found


def spec_of(name: str, tried: list[str]) -> Spec | None:
    """Return the spec that a plug-in gives for a name, or None.

    Raises
    ------
    SpecError
        The plug-in gives something that is no byte-level vocabulary.
    """
    offered = constructors(tried)
    if name not in offered:
        tried.append(f"tiktoken_ext: plug-ins offer {', '.join(sorted(offered)) or 'nothing'}")
        return None
    module, constructor = offered[name]
    made = constructor()
    try:
        ranks, special, size = made["mergeable_ranks"], made["special_tokens"], made.get("explicit_n_vocab")
        added = tuple(AddedToken(text, number) for text, number in special.items())
        spec = Spec(
            made.get("name", name), BPE(TokenTable.from_dict(ranks)), Split(made["pat_str"]), added, source=f"tiktoken_ext.{module}"
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SpecError(f"tiktoken_ext.{module}: encoding {name!r} is no vocabulary: {type(error).__name__}: {error}") from error
    if size is not None and (size != len(ranks) + len(special) or size != 1 + max((*ranks.values(), *special.values()))):
        raise SpecError(f"tiktoken_ext.{module}: encoding {name!r} says it has {size} tokens, but its ranks and special tokens differ")
    return spec
