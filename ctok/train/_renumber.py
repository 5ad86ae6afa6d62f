"""A specification with other ids: fewer tokens, or more."""

from __future__ import annotations

from array import array
from itertools import accumulate
from struct import iter_unpack

from ..spec import BPE, TokenTable
from ..stagespecs import postprocessors
from ..stagespecs.models import Unigram, table_of_texts
from ..stagespecs.sentencepiece import Pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..spec import Record, Spec
    from ._view import View

__all__ = ["listed", "little", "renumbered"]


def renumbered(view: View, new_ids: Mapping[int, int]) -> Spec:
    """Return the specification with the tokens that have new ids, under those. New ids are in the order of the old."""
    spec = view.spec
    changes: dict[str, Any] = {
        "model": _model(view, new_ids),
        "added_tokens": [token.replace(id=new_ids[token.id]) for token in spec.added_tokens],
        "post_processor": _post_processor(spec.post_processor, new_ids),
        "document": None,
    }
    if spec.padding is not None and spec.padding.pad_id in new_ids:  # type: ignore[attr-defined]
        changes["padding"] = spec.padding.replace(pad_id=new_ids[spec.padding.pad_id])  # type: ignore[attr-defined]
    return spec.replace(**changes)


def _model(view: View, new_ids: Mapping[int, int]) -> Record:
    model = view.model
    kept = [(text, new_ids[number]) for text, number in model.tokens if number in new_ids]
    if isinstance(model, Unigram | Pieces):
        return _with_places(model, kept, new_ids)
    if isinstance(model, BPE) and model.mode == "rank":
        return BPE(TokenTable.from_dict(kept))
    changes: dict[str, Any] = {"tokens": table_of_texts((text.decode(), number) for text, number in kept)}
    if isinstance(model, BPE):
        changes["merges"] = _merges(view, new_ids)
    return model.replace(**changes)  # type: ignore[no-any-return]


def _merges(view: View, new_ids: Mapping[int, int]) -> bytes:
    """The merges whose parts and result stay."""
    prefix = len((view.model.continuing_subword_prefix or "").encode())
    merges = array("I")
    for left, right in iter_unpack("<II", view.model.merges):
        joined = view.ids.get(view.texts[left] + view.texts[right][prefix:])
        if left in new_ids and right in new_ids and joined in new_ids:
            merges.extend((new_ids[left], new_ids[right]))
    return little(merges)


def little(numbers: array[Any]) -> bytes:
    """Return numbers as files have them, whatever the machine."""
    from sys import byteorder

    if byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _with_places(model: Any, kept: list[tuple[bytes, int]], new_ids: Mapping[int, int]) -> Record:
    """A model whose ids are places in a list: scores, and types if it has them, go with the pieces."""
    width = 8 if isinstance(model, Unigram) else 4
    old = sorted((new, number) for number, new in new_ids.items() if number * width < len(model.scores))
    changes: dict[str, Any] = {
        "tokens": listed(kept),
        "scores": b"".join(bytes(model.scores[number * width : number * width + width]) for _, number in old),
    }
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        if getattr(model, name, None) is not None:
            changes[name] = new_ids[getattr(model, name)]
    if isinstance(model, Pieces):
        changes["types"] = bytes(model.types[number] for _, number in old)
    return model.replace(**changes)  # type: ignore[no-any-return]


def listed(tokens: list[tuple[bytes, int]]) -> TokenTable:
    """Return the table of tokens in ascending order; a text may be there twice."""
    data = b"".join(text for text, _ in tokens)
    ends = array("I", accumulate(len(text) for text, _ in tokens))
    return TokenTable(data, little(ends), little(array("I", (number for _, number in tokens))))


def _post_processor(record: Record | None, new_ids: Mapping[int, int]) -> Record | None:
    if isinstance(record, postprocessors.Sequence):
        return record.replace(steps=[_post_processor(step, new_ids) for step in record.steps])
    if isinstance(record, postprocessors.BertProcessing | postprocessors.RobertaProcessing):
        return record.replace(**{part: (text, new_ids[number]) for part in ("sep", "cls") for text, number in [getattr(record, part)]})
    if isinstance(record, postprocessors.TemplateProcessing):
        tokens = [token.replace(ids=[new_ids[number] for number in token.ids]) for token in record.special_tokens]
        return record.replace(special_tokens=tokens)
    return record
