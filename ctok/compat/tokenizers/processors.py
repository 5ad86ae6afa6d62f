"""Post-processors: what is put around the ids of a text, and of two."""

from __future__ import annotations

from functools import lru_cache

from ...stages.postprocessors import PostProcessor as Runner
from ...stages.postprocessors import build_post_processor
from ...stagespecs import postprocessors as records
from ._checks import flag, instance, list_of, one_id, text
from ._component import Component, Steps, field
from ._template import pieces, shown
from ._template import special_tokens as special_tokens_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...spec import Record
    from ._encoding import Encoding

__all__ = ["BertProcessing", "ByteLevel", "PostProcessor", "RobertaProcessing", "Sequence", "TemplateProcessing"]


@lru_cache(maxsize=32)
def runner(record: Record | None) -> Runner:
    """Return what runs a post-processor's record."""
    return build_post_processor(record)


def _token(value: object) -> tuple[str, int]:
    content, number = instance(value, tuple)
    return text(content), one_id(number)


class PostProcessor(Component):
    """Base of the post-processors; cannot be made."""

    __slots__ = ()
    stage = "post_processor"

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many ids are added to a text, or to a pair."""
        return runner(self._cell.record).n_added(flag(is_pair))

    def process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Return one text or two with what belongs around them."""
        from ._encoding import Encoding, whole_of

        first = whole_of(instance(encoding, Encoding))
        second = None if pair is None else whole_of(instance(pair, Encoding))
        return Encoding.of(runner(self._cell.record).process(first, second, flag(add_special_tokens)))


class BertProcessing(PostProcessor):
    """``[CLS] A [SEP]`` and ``[CLS] A [SEP] B [SEP]``, the second part of a pair with type id 1."""

    __slots__ = ()

    def __init__(self, sep: tuple[str, int], cls_token: tuple[str, int]) -> None:
        self._make(sep=_token(sep), cls=_token(cls_token))

    sep = field("sep", _token)
    cls = field("cls", _token)


class RobertaProcessing(PostProcessor):
    """``<s> A </s>`` and ``<s> A </s> </s> B </s>``, all with type id 0."""

    __slots__ = ()

    def __init__(self, sep: tuple[str, int], cls_token: tuple[str, int], trim_offsets: bool = True, add_prefix_space: bool = True) -> None:
        self._make(sep=_token(sep), cls=_token(cls_token), trim_offsets=flag(trim_offsets), add_prefix_space=flag(add_prefix_space))

    sep = field("sep", _token)
    cls = field("cls", _token)
    trim_offsets = field("trim_offsets", flag)
    add_prefix_space = field("add_prefix_space", flag)


class ByteLevel(PostProcessor):
    """Leaves the white space of byte-level tokens out of their places, if `trim_offsets`."""

    __slots__ = ()

    def __init__(
        self, add_prefix_space: bool | None = None, trim_offsets: bool | None = None, use_regex: bool | None = None, **_kwargs: Any
    ) -> None:
        options = {"add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": use_regex}
        self._make(**{name: True if option is None else flag(option) for name, option in options.items()})

    add_prefix_space = field("add_prefix_space", flag)
    trim_offsets = field("trim_offsets", flag)
    use_regex = field("use_regex", flag)


class TemplateProcessing(PostProcessor):
    """Puts special tokens around a text, and around two, as templates say.

    Parameters
    ----------
    single, pair
        A template: pieces with blanks between them, or a list of pieces. ``$A`` is the text, ``$B`` the second one, anything else the name
        of a special token; ``:1`` behind a piece is its type id.
    special_tokens
        What the names stand for: (token, id), (id, token), or a dict with "id" (the name), "ids" and "tokens".

    Raises
    ------
    ValueError
        A name is not among `special_tokens`, the template for a pair lacks one of the texts, a piece is malformed.
    """

    __slots__ = ()

    def __init__(
        self,
        single: str | list[str] | None = None,
        pair: str | list[str] | None = None,
        special_tokens: list[tuple[str, int] | tuple[int, str] | dict[str, Any]] | None = None,
    ) -> None:
        one = pieces("$0" if single is None else single)
        two = pieces("$A:0 $B:1" if pair is None else pair)
        tokens = special_tokens_([] if special_tokens is None else special_tokens)
        if {piece.id for piece in two if isinstance(piece, records.SequencePiece)} != {"A", "B"}:
            raise ValueError("Template for `pair` must use both sequences")
        known = {token.id for token in tokens}
        used = (piece.id for piece in (*one, *two) if isinstance(piece, records.SpecialPiece))
        missing = [name for name in dict.fromkeys(used) if name not in known]
        if missing:
            raise ValueError(f"Missing SpecialToken(s) with id(s) `{', '.join(missing)}`")
        self._make(single=one, pair=two, special_tokens=tokens)

    single = field("single", pieces, shown)


class Sequence(Steps, PostProcessor):
    """Several post-processors, one after the other."""

    __slots__ = ()

    def __init__(self, processors: list[PostProcessor]) -> None:
        self._set_steps(list_of(processors, PostProcessor))

    def __getitem__(self, index: int) -> Any:
        return PostProcessor.of(self._cell.steps[self._at(index)])

    def __setitem__(self, index: int, value: PostProcessor) -> None:
        self._cell.put_step(self._at(index), instance(value, PostProcessor)._cell)
