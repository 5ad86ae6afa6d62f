"""Sequences of stages, which may hold sequences: every kind of stage has a record for them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..spec import Record

__all__ = ["flat"]


def flat(record: Record, sequence: type[Record]) -> list[Record]:
    """Return the stages of a record in their order: one, or those of a `sequence` of its kind, also of one that holds others."""
    steps: Any = getattr(record, "steps", ())
    return [step for part in steps for step in flat(part, sequence)] if isinstance(record, sequence) else [record]
