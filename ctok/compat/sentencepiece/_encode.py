"""The half of the processor that encodes."""

from __future__ import annotations

from operator import index

from ._engine import raw_of
from ._errors import ArgumentError, ModelError
from ._forms import form_of, numpy_of, offset_mapping, unknown_form
from ._texts import NBestSentencePieceText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._engine import Engine, Path
    from ._texts import SentencePieceText

__all__ = ["Encoder"]

IN_LIST = "List elements must be str or bytes"
PLACED = ("proto", "serialized_proto", "offset_mapping")


def _whole(nbest_size: Any) -> int | None:
    return None if nbest_size is None else index(nbest_size)


def _real(alpha: Any) -> float | None:
    if isinstance(alpha, (str, bytes)):
        raise TypeError(f"alpha must be a number, not {type(alpha).__name__}")
    return None if alpha is None else float(alpha)


class How:
    """The options of one call."""

    __slots__ = ("add_bos", "add_eos", "alpha", "emit_unk_piece", "form", "nbest_size", "reverse", "sampling", "threads")

    form: Any
    add_bos: Any
    add_eos: Any
    reverse: Any
    emit_unk_piece: Any
    sampling: Any
    nbest_size: Any
    alpha: Any
    threads: int

    def check_plain(self) -> None:
        """Refuse what results with places cannot have."""
        if self.add_bos or self.add_eos or self.reverse or self.emit_unk_piece:
            raise ModelError("UNIMPLEMENTED: add_bos, add_eos, reverse, and emit_unk_piece is not supported in proto API")


class Encoder:
    """Texts to ids and pieces, in every form."""

    _engine: Engine | None
    _return_type: Any
    _add_bos: Any
    _add_eos: Any
    _reverse: Any
    _emit_unk_piece: Any
    _enable_sampling: Any
    _nbest_size: Any
    _alpha: Any
    _num_threads: Any

    def _loaded(self) -> Engine:
        if self._engine is None:
            raise ModelError("INTERNAL: Model is not initialized.")
        return self._engine

    def _how(self, form: Any, add_bos: Any, add_eos: Any, reverse: Any, emit_unk_piece: Any) -> How:
        how = How()
        how.form = form
        how.add_bos = self._add_bos if add_bos is None else add_bos
        how.add_eos = self._add_eos if add_eos is None else add_eos
        how.reverse = self._reverse if reverse is None else reverse
        how.emit_unk_piece = self._emit_unk_piece if emit_unk_piece is None else emit_unk_piece
        how.sampling = False
        how.threads = 1
        return how

    def _threads(self, num_threads: Any, thread_pool: Any) -> int:
        number = self._num_threads if num_threads is None else num_threads
        if not isinstance(number, int):
            raise TypeError("num_threads must be int")
        return int(thread_pool.num_threads()) if thread_pool is not None else number

    # ---- encode ----

    def encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        enable_sampling: bool | None = None,
        nbest_size: int | None = None,
        alpha: float | None = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_type: Any = None,
        out_type: Any = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Return the ids of a text, or its pieces in another form; of each text of a list.

        Parameters
        ----------
        input
            A str, or bytes, in which ill-formed UTF-8 counts as U+FFFD; or a list of these.
        add_bos, add_eos, reverse, emit_unk_piece
            Ids around the text, the order of the text's, and whether an unknown piece is shown as that or as its text. None, here and
            below: as the processor was made.
        enable_sampling, nbest_size, alpha
            Whether a result is drawn at random, from the `nbest_size` best or (-1) from all, and how: see `Tokenizer.sample`.
        num_threads, thread_pool
            For a list of texts to ids: how many threads may work; -1: as many as there are processors.
        return_type, out_type
            int, str (pieces), bytes (pieces in UTF-8), ``"proto"``, ``"serialized_proto"``, ``"numpy"`` or ``"offset_mapping"``.
        return_bytes
            Of ``"offset_mapping"``: count bytes instead of characters. None: as the input is.
        """
        form = form_of(return_type, out_type, self._return_type)
        if return_bytes is not None and form != "offset_mapping":
            raise ArgumentError("return_bytes is only supported when return_type='offset_mapping'")
        how = self._how(form, add_bos, add_eos, reverse, emit_unk_piece)
        how.sampling = self._enable_sampling if enable_sampling is None else enable_sampling
        how.nbest_size = self._nbest_size if nbest_size is None else nbest_size
        how.alpha = self._alpha if alpha is None else alpha
        if how.sampling is True and (how.nbest_size in (None, 0, 1) or how.alpha is None):
            raise ArgumentError('enable_sampling needs alpha, and "nbest_size > 1" or "nbest_size = -1": all there are')
        how.nbest_size, how.alpha = _whole(how.nbest_size), _real(how.alpha)
        how.threads = self._threads(num_threads, thread_pool)
        if form in PLACED:
            how.check_plain()
        if not isinstance(input, list):
            as_bytes = isinstance(input, bytes) if return_bytes is None else bool(return_bytes)
            return self._encode_one(input, how, as_bytes)
        as_bytes = bool(input) and isinstance(input[0], bytes) if return_bytes is None else bool(return_bytes)
        for text in input:
            if not isinstance(text, (str, bytes)):
                raise TypeError(IN_LIST)
        if form is int and not how.sampling and input and all(isinstance(text, str) for text in input):
            return self._encode_many(input, how)
        return [self._encode_one(text, how, as_bytes) for text in input]

    def _encode_many(self, texts: list[str], how: How) -> list[list[int]]:
        engine = self._loaded()
        before, behind = engine.around(how.add_bos, how.add_eos)
        for text in texts:
            raw_of(text)  # refuses halves of a pair of surrogates, which `encode_batch` joins
        found = engine.tokenizer.encode_batch(texts, num_threads=None if how.threads < 0 else max(how.threads, 1))
        return [_with_ends(ids, before, behind, how.reverse) for ids in found]

    def _encode_one(self, text: Any, how: How, as_bytes: bool) -> Any:
        form = how.form
        if form in PLACED:
            found = self._text(raw_of(text), how)
            if form == "offset_mapping":
                return offset_mapping(found, as_bytes, with_text=False)
            return found if form == "proto" else found.SerializeToString()
        if form is str or form is bytes:
            return self._pieces(text, how)
        engine = self._loaded()
        ids = self._ids(text, how)
        before, behind = engine.around(how.add_bos, how.add_eos)
        ids = _with_ends(ids, before, behind, how.reverse)
        return numpy_of(ids) if form == "numpy" else ids

    def _path(self, raw: bytes, how: How) -> tuple[bytes, Any, Path]:
        engine = self._loaded()
        normalized, places = engine.normalize(raw)
        if how.sampling:
            return normalized, places, engine.drawn(normalized, how.nbest_size, how.alpha)
        return normalized, places, engine.path(normalized)

    def _text(self, raw: bytes, how: How) -> SentencePieceText:
        normalized, places, path = self._path(raw, how)
        return self._loaded().text_of(raw, normalized, places, path)

    def _ids(self, text: Any, how: How) -> list[int]:
        raw = raw_of(text)
        if not how.sampling and isinstance(text, str):
            return self._loaded().tokenizer.encode(text)
        return self._path(raw, how)[2][0]

    def _pieces(self, text: Any, how: How) -> list[Any]:
        raw, engine = raw_of(text), self._loaded()
        if how.form is str and not how.sampling and isinstance(text, str):
            ids = engine.tokenizer.encode(text)
            if engine.record.unk_id not in ids:  # which is called what it covers
                ids = _with_ends(ids, *engine.around(how.add_bos, how.add_eos), how.reverse)
                return list(map(engine.tokenizer.id_to_token, ids))
        normalized, _, (ids, ends) = self._path(raw, how)
        return self._shown(engine.names(normalized, ids, ends), how)

    def _shown(self, pieces: list[bytes], how: How) -> list[Any]:
        """Pieces, given in UTF-8, as they are asked for."""
        engine = self._loaded()
        before, behind = engine.around(how.add_bos, how.add_eos)
        if how.emit_unk_piece:
            unknown = engine.record.unk_id
            pieces = [engine.piece(unknown) if engine.number(piece) == unknown else piece for piece in pieces]
        first, last = (None if number is None else engine.piece(number) for number in (before, behind))
        pieces = _with_ends(pieces, first, last, how.reverse)
        return pieces if how.form is bytes else [piece.decode() for piece in pieces]

    def encode_as_pieces(self, input: Any, **kwargs: Any) -> Any:
        """Return pieces."""
        return self.encode(input=input, return_type=str, **kwargs)

    def encode_as_ids(self, input: Any, **kwargs: Any) -> Any:
        """Return ids."""
        return self.encode(input=input, return_type=int, **kwargs)

    def encode_as_numpy(self, input: Any, **kwargs: Any) -> Any:
        """Return ids as an array of int32."""
        return self.encode(input=input, return_type="numpy", **kwargs)

    def encode_as_proto(self, input: Any, **kwargs: Any) -> Any:
        """Return a `SentencePieceText`."""
        return self.encode(input=input, return_type="proto", **kwargs)

    def encode_as_offset_mapping(self, input: Any, **kwargs: Any) -> Any:
        """Return a dict of ids, pieces and places."""
        return self.encode(input=input, return_type="offset_mapping", **kwargs)

    # ---- drawn at random ----

    def sample_encode_as_pieces(self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any) -> Any:
        """Return pieces, drawn at random."""
        return self.encode(input=input, nbest_size=nbest_size, alpha=alpha, return_type=str, enable_sampling=True, **kwargs)

    def sample_encode_as_ids(self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any) -> Any:
        """Return ids, drawn at random."""
        return self.encode(input=input, nbest_size=nbest_size, alpha=alpha, return_type=int, enable_sampling=True, **kwargs)

    def sample_encode_as_numpy(self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any) -> Any:
        """Return ids, drawn at random, as an array of int32."""
        return self.encode(input=input, nbest_size=nbest_size, alpha=alpha, return_type="numpy", enable_sampling=True, **kwargs)

    def sample_encode_as_proto(self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **kwargs: Any) -> Any:
        """Return a `SentencePieceText`, drawn at random."""
        return self.encode(input=input, nbest_size=nbest_size, alpha=alpha, return_type="proto", enable_sampling=True, **kwargs)

    # ---- the best ----

    def nbest_encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        nbest_size: int | None = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """Return the `nbest_size` best results, best first, of a text or of each text of a list. Only Unigram models have more than one."""
        form = form_of(return_type, out_type, self._return_type)
        how = self._how(form, add_bos, add_eos, reverse, emit_unk_piece)
        size = _whole(self._nbest_size if nbest_size is None else nbest_size)
        size = 1 if size is None or size <= 0 else size
        if isinstance(input, list):
            return [self._nbest_one(text, size, how) for text in input]
        return self._nbest_one(input, size, how)

    def _nbest_one(self, text: Any, size: int, how: How) -> Any:
        if how.form == "offset_mapping":
            raise unknown_form(how.form)
        raw = raw_of(text)
        engine = self._loaded()
        normalized, places = engine.normalize(raw)
        is_placed = how.form in ("proto", "serialized_proto")
        if is_placed:
            how.check_plain()
        paths = engine.paths(normalized, size)
        if is_placed:
            found = NBestSentencePieceText(engine.text_of(raw, normalized, places, path, score) for path, score in paths)
            return found if how.form == "proto" else found.SerializeToString()
        if how.form is str or how.form is bytes:
            return [self._shown(engine.names(normalized, *path), how) for path, _ in paths]
        before, behind = engine.around(how.add_bos, how.add_eos)
        lists = [_with_ends(ids, before, behind, how.reverse) for (ids, _), _ in paths]
        return [numpy_of(ids) for ids in lists] if how.form == "numpy" else lists

    def nbest_encode_as_pieces(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """Return the best results as pieces."""
        return self.nbest_encode(input=input, nbest_size=nbest_size, return_type=str, **kwargs)

    def nbest_encode_as_ids(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """Return the best results as ids."""
        return self.nbest_encode(input=input, nbest_size=nbest_size, return_type=int, **kwargs)

    def nbest_encode_as_numpy(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """Return the best results as arrays of int32."""
        return self.nbest_encode(input=input, nbest_size=nbest_size, return_type="numpy", **kwargs)

    def nbest_encode_as_proto(self, input: Any, nbest_size: int | None = None, **kwargs: Any) -> Any:
        """Return the best results as an `NBestSentencePieceText`, with scores."""
        return self.nbest_encode(input=input, nbest_size=nbest_size, return_type="proto", **kwargs)

    # ---- long texts ----

    def parallel_encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        chunk_len: int | None = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """Return what `encode` does. The text is not cut for it: `chunk_len` is checked and not used."""
        form = form_of(return_type, out_type, self._return_type)
        self._threads(num_threads, thread_pool)
        if not isinstance(chunk_len, int) or chunk_len <= 0:
            raise ArgumentError("chunk_len must be positive.")
        if form == "offset_mapping":
            raise unknown_form(form)
        how = self._how(form, add_bos, add_eos, reverse, emit_unk_piece)
        if form in PLACED and input != []:
            how.check_plain()
        if isinstance(input, list):
            return [self._encode_one(text, how, as_bytes=False) for text in input]
        return self._encode_one(input, how, as_bytes=False)

    def parallel_encode_as_pieces(self, input: Any, **kwargs: Any) -> Any:
        """Return pieces."""
        return self.parallel_encode(input=input, return_type=str, **kwargs)

    def parallel_encode_as_ids(self, input: Any, **kwargs: Any) -> Any:
        """Return ids."""
        return self.parallel_encode(input=input, return_type=int, **kwargs)

    def parallel_encode_as_numpy(self, input: Any, **kwargs: Any) -> Any:
        """Return ids as an array of int32."""
        return self.parallel_encode(input=input, return_type="numpy", **kwargs)

    def parallel_encode_as_proto(self, input: Any, **kwargs: Any) -> Any:
        """Return a `SentencePieceText`."""
        return self.parallel_encode(input=input, return_type="proto", **kwargs)


def _with_ends(items: list[Any], before: Any, behind: Any, reverse: Any) -> list[Any]:
    """Items as they are or backwards, and what stands around them in either case; None is nothing."""
    found = items[::-1] if reverse else items
    if before is not None:
        found = [before, *found]
    return found if behind is None else [*found, behind]
