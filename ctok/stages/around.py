"""What a post-processor puts around a single text, told from its record alone where that is plain to see."""

from __future__ import annotations

from ..stagespecs import postprocessors as records
from ..stagespecs.sequences import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..spec import Record

    Ids = tuple[int, ...]

__all__ = ["around"]


def around(record: Record | None) -> tuple[Ids, Ids]:
    """Return the ids before and behind a single text.

    Raises
    ------
    SpecError
        ctok cannot run the post-processor, it contradicts itself, or the text does not come exactly once.
    """
    steps = [] if record is None else [step for step in flat(record, records.Sequence) if type(step) is not records.ByteLevel]
    if not steps:
        return (), ()
    found = _template(steps[0]) if len(steps) == 1 else None
    if found is None:
        from .postprocessors import build_post_processor

        return build_post_processor(record).around()
    return found


def _template(record: Record) -> tuple[Ids, Ids] | None:
    """What a template says that has the first text once and knows all its tokens; None for anything else."""
    if type(record) is not records.TemplateProcessing:
        return None
    ids = {token.id: token.ids for token in record.special_tokens}
    places = [i for i, piece in enumerate(record.single) if isinstance(piece, records.SequencePiece)]
    if len(places) != 1 or record.single[places[0]].id != "A":
        return None
    for piece in (*record.single, *record.pair):
        if not isinstance(piece, records.SequencePiece) and not (isinstance(piece, records.SpecialPiece) and piece.id in ids):
            return None
    before, behind = record.single[: places[0]], record.single[places[0] + 1 :]
    return tuple(n for piece in before for n in ids[piece.id]), tuple(n for piece in behind for n in ids[piece.id])
