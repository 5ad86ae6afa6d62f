"""Formats that say a model and leave the stages to the reader: what reading the file again would give, compared with what there was."""

from __future__ import annotations

from ..formats import merges_txt, vocab_txt
from ..spec import BPE, Record, Spec
from ..stagespecs import decoders, postprocessors, pretokenizers
from . import Conversion
from ._ranks import limits, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_TABLES = ("tokens", "merges", "joined", "by_bytes", "used", "mode")  # of a model; the files have their own


def compared(spec: Spec, to: str) -> Conversion:
    """Return a specification with what its file in a format would lose.

    Raises
    ------
    SpecError
        The format has no place for the model.
    """
    if to == "vocab_txt":
        again = vocab_txt.loads(vocab_txt.dumps(spec), path=spec.name)
    else:
        again = merges_txt.loads(*merges_txt.dumps(spec), path=spec.name)
    lost = [
        f"the {part.replace('_', '-')} {shown(getattr(spec, part))} (read again it is {shown(getattr(again, part))})"
        for part in _STAGES
        if _plain(getattr(spec, part), part) != _plain(getattr(again, part), part)
    ]
    for option in spec.model.__slots__:
        mine, theirs = getattr(spec.model, option), getattr(again.model, option)
        if option not in _TABLES and (mine or None) != (theirs or None) and not _is_idle(spec.model, option):
            lost.append(f"the model's {option} {mine!r} (read again it is {theirs!r})")
    lost += [f"the added token {shown(token)}" for token in spec.added_tokens if token not in again.added_tokens]
    lost += [f"nothing of {shown(token)}, which the file would add" for token in again.added_tokens if token not in spec.added_tokens]
    return Conversion(spec, lost, limits(spec))


def _is_idle(model: Any, option: str) -> bool:
    """Whether an option does nothing for this model: nothing is unknown where each byte has a token."""
    if not isinstance(model, BPE) or option not in ("unk_token", "fuse_unk", "byte_fallback"):
        return False
    from ..stagespecs.spelling import spell

    known = {token for token, _ in model.tokens if len(token) <= 2}
    return all(spell(bytes([byte])).encode() in known for byte in range(256))


def _plain(record: Any, part: str) -> Any:
    """Return a stage without what has no part in ids, in one of several spellings of the same."""
    if part == "decoder" and isinstance(record, decoders.ByteLevel):
        return decoders.ByteLevel()
    if part == "post_processor":
        if isinstance(record, postprocessors.ByteLevel):
            return None
        if isinstance(record, postprocessors.RobertaProcessing):
            return record.replace(trim_offsets=True, add_prefix_space=True)
        if isinstance(record, postprocessors.BertProcessing):
            return vocab_txt.bert_template(dict([record.cls, record.sep]), record.cls[0], record.sep[0])
    if isinstance(record, pretokenizers.ByteLevel):
        return record.replace(trim_offsets=True)
    steps = getattr(record, "steps", None)
    if isinstance(record, Record) and steps is not None:
        plain = [known for step in steps if (known := _plain(step, part)) is not None]
        return plain[0] if len(plain) == 1 else record.replace(steps=plain) if plain else None
    return record
