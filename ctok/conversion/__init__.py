"""A tokenizer said in the words of another file format, with equal ids, and what the format has no words for.

    >>> from ctok import conversion, formats
    >>> told = conversion.convert(formats.load("o200k_base.tiktoken"), "tokenizer_json")
    >>> formats.dump(told.spec, "tokenizer.json")

Nothing is ever changed silently: what would change ids is refused by name (or left out and named, where the caller says so), and what a
format never says is named, too.
"""

from __future__ import annotations

from ..errors import SpecError
from ..spec import BPE, Record, Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FORMATS", "Conversion", "convert"]

# Format -> what to call it.
FORMATS = {
    "tokenizer_json": "a tokenizer.json",
    "tiktoken": "a rank file",
    "merges_txt": "a vocab.json with its merges.txt",
    "vocab_txt": "a vocab.txt",
    "sentencepiece": "a SentencePiece model",
    "binary": "a binary vocabulary",
}


class Conversion(Record):
    """A specification as a format says it.

    Attributes
    ----------
    spec
        The `Spec` to write.
    lost
        What the format cannot say and what ids depend on, a sentence each; empty unless the caller let it be left out.
    unsaid
        What such files never say, a sentence each: the reader says it, or it has no part in ids.
    """

    __slots__ = ("spec", "lost", "unsaid")  # noqa: RUF023 - the order of the constructor
    spec: Spec
    lost: tuple[str, ...]
    unsaid: tuple[str, ...]

    def __init__(self, spec: Spec, lost: Iterable[str] = (), unsaid: Iterable[str] = ()) -> None:
        self._set(spec=spec, lost=tuple(lost), unsaid=tuple(unsaid))


def convert(spec: Spec, to: str, *, drop: bool = False) -> Conversion:
    """Return a specification as one that a format can say.

    Parameters
    ----------
    spec
        Any `Spec`.
    to
        One of `FORMATS`.
    drop
        True: stages for which the format has no words are left out, and named in the result.

    Raises
    ------
    SpecError
        The format cannot say it, so that ids would differ; the message names all of it. `drop` does not help where it is the model that
        cannot be said.
    ValueError
        `to` is none of `FORMATS`.

    Notes
    -----
    Reads only values; to run what it gives, build a tokenizer from it. Takes some seconds for 200 000 tokens. Between a SentencePiece model
    and a tokenizer.json both sides are also run on texts, since not all that they do can be proved equal.
    """
    if to not in FORMATS:
        raise ValueError(f"{to!r} is no format to write; formats are {', '.join(FORMATS)}")
    told = _told(spec, to)
    if told.lost and not drop:
        raise SpecError(f"{FORMATS[to]} cannot say all of {spec.name!r}: {'; '.join(told.lost)}")
    return told


def _told(spec: Spec, to: str) -> Conversion:
    if to == "binary":
        return Conversion(spec)
    by_rank = isinstance(spec.model, BPE) and spec.model.mode == "rank"
    if to == "tiktoken":
        if by_rank:
            from ._ranks import told_by_reader

            return Conversion(spec, (), told_by_reader(spec))
        from ._ranks import as_ranks

        return as_ranks(spec)
    pieces = type(spec.model).__name__ == "Pieces"
    if to == "sentencepiece":
        from ._to_pieces import as_pieces

        return Conversion(spec) if pieces else as_pieces(spec)
    told = Conversion(spec)
    if pieces:
        from ._from_pieces import as_stages

        told = as_stages(spec)
    if by_rank and to != "vocab_txt":
        from ._merges import as_merges

        told = as_merges(spec)
    if to == "tokenizer_json":
        return told
    from ._read_back import compared

    found = compared(told.spec, to)
    return Conversion(found.spec, told.lost + found.lost, told.unsaid + found.unsaid)
