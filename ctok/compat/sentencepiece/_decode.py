"""The half of the processor that decodes."""

from __future__ import annotations

from ._encode import IN_LIST, Encoder
from ._engine import raw_of
from ._errors import ArgumentError, PieceIndexError
from ._forms import form_of, offset_mapping, unknown_form
from ._ids import ids_of, is_sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Decoder"]

FORMS: tuple[Any, ...] = (str, bytes, "serialized_proto", "proto", "offset_mapping")


class Decoder(Encoder):
    """Ids and pieces to texts, in every form."""

    def decode(
        self,
        input: Any,
        return_type: Any = None,
        out_type: Any = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Return the text of ids or pieces, or of each of several rows of them.

        Parameters
        ----------
        input
            An int, a str or bytes; a sequence of one of these, or a buffer of integers; or several rows of them.
        return_type, out_type
            str, bytes (the text in UTF-8), ``"proto"``, ``"serialized_proto"`` or ``"offset_mapping"``. None: str.
        num_threads, thread_pool
            Checked and not used.
        return_bytes
            Of ``"offset_mapping"``: count bytes instead of characters.
        """
        form = form_of(return_type, out_type, str)
        if return_bytes is not None and form != "offset_mapping":
            raise ArgumentError("return_bytes is only supported when return_type='offset_mapping'")
        self._threads(num_threads, thread_pool)
        if form in FORMS and type(input) is list and input and type(input[0]) is int:  # one row of ids: what is asked for most
            return self._decode_row(input, form, bool(return_bytes), False, False)
        given = [] if input is None or (isinstance(input, (str, bytes)) and not input) else input
        given = given if is_sequence(given) else [given]
        is_batch = given.ndim > 1 if hasattr(given, "ndim") else len(given) > 0 and is_sequence(given[0])
        if form not in FORMS:
            raise unknown_form(form, " or input type")
        if not is_batch:
            return self._decode_row(given, form, bool(return_bytes), _are_pieces(given), _are_bytes(given))
        filled = [row for row in given if is_sequence(row) and len(row)]
        pieces, as_bytes = (_are_pieces(filled[0]), _are_bytes(filled[0])) if filled else (False, False)
        return [self._decode_row(row, form, bool(return_bytes), pieces, as_bytes) for row in given]

    def _decode_row(self, row: Any, form: Any, return_bytes: bool, are_pieces: bool, are_bytes: bool) -> Any:
        if not are_pieces:
            ids = ids_of(row)
            self._check(ids)
            engine = self._loaded()
            raws = None
        else:
            engine = self._loaded()
            raws = [raw_of(piece, IN_LIST) for piece in row]
            ids = list(map(engine.number, raws))
        if (form is str or form is bytes) and (raws is None or engine.record.unk_id not in ids):  # an unknown piece is its own text
            text = engine.tokenizer.decode(ids)
            return text.encode() if form is bytes or are_bytes else text
        found = engine.decoded(list(zip(map(engine.piece, ids) if raws is None else raws, ids, strict=True)))
        if form is str or form is bytes:
            return found.raw_text if form is bytes or are_bytes else found.raw_text.decode()
        if form == "offset_mapping":
            return offset_mapping(found, return_bytes or are_bytes, with_text=True)
        return found if form == "proto" else found.SerializeToString()

    def _check(self, ids: list[int]) -> None:
        """Refuse ids that the model does not have."""
        size = 0 if self._engine is None else len(self._engine.types)
        if not ids or (min(ids) >= 0 and max(ids) < size):
            return
        for i, number in enumerate(ids):
            if not 0 <= number < size:
                raise PieceIndexError("OUT_OF_RANGE: piece id is out of range.", id=number, index=i)

    def decode_pieces(self, input: Any, return_type: Any = None, **kwargs: Any) -> Any:
        """Return the text of pieces."""
        return self.decode(input=input, return_type=return_type, **kwargs)

    def decode_ids(self, input: Any, return_type: Any = None, **kwargs: Any) -> Any:
        """Return the text of ids."""
        return self.decode(input=input, return_type=return_type, **kwargs)

    def decode_pieces_as_proto(self, input: Any, **kwargs: Any) -> Any:
        """Return a `SentencePieceText` of pieces."""
        return self.decode(input=input, return_type="proto", **kwargs)

    def decode_ids_as_proto(self, input: Any, **kwargs: Any) -> Any:
        """Return a `SentencePieceText` of ids."""
        return self.decode(input=input, return_type="proto", **kwargs)


def _are_pieces(row: Any) -> bool:
    return len(row) > 0 and not hasattr(row, "dtype") and isinstance(row[0], (str, bytes))


def _are_bytes(row: Any) -> bool:
    return len(row) > 0 and not hasattr(row, "dtype") and isinstance(row[0], bytes)
