"""The reference's processor: a model and the defaults of its methods."""

from __future__ import annotations

import os
from operator import index

from ...errors import CtokError
from ...stagespecs.sentencepiece import BYTE, CONTROL, UNKNOWN, UNUSED
from ._decode import Decoder
from ._engine import Engine, raw_of
from ._errors import ArgumentError, ModelError
from ._forms import character_places, form_of
from ._ids import ids_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Self

    from ...tokenizer import Tokenizer

__all__ = ["SentencePieceProcessor"]

ONE_NAME = {"bos_id", "eos_id", "from_file", "from_proto", "pad_id", "piece_size", "serialized_model_proto", "tokenizer", "unk_id"}
ONE_NAME |= {"vocab_size"}


class SentencePieceProcessor(Decoder):
    """A SentencePiece model. Every method has a second name in CamelCase.

    Parameters
    ----------
    model_file
        Path of a model file.
    model_proto
        Its bytes instead, or an object with ``SerializeToString()``.
    out_type, add_bos, add_eos, reverse, emit_unk_piece, enable_sampling, nbest_size, alpha, num_threads, return_type
        What the methods do where they are not told: see `encode`.

    Raises
    ------
    RuntimeError
        There is no such file, or it is no model.

    Notes
    -----
    The ctok tokenizer inside, with everything that the reference lacks, is `tokenizer`.
    """

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: Any = None,
        out_type: Any = None,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
        emit_unk_piece: bool = False,
        enable_sampling: bool = False,
        nbest_size: int = -1,
        alpha: float = 0.1,
        num_threads: int = -1,
        return_type: Any = None,
    ) -> None:
        self._engine = None
        self._return_type = form_of(return_type, out_type, int)
        self._add_bos, self._add_eos, self._reverse = add_bos, add_eos, reverse
        self._emit_unk_piece = emit_unk_piece
        self._enable_sampling, self._nbest_size, self._alpha = enable_sampling, nbest_size, alpha
        self._num_threads = num_threads
        if model_file or model_proto:
            self.load(model_file=model_file, model_proto=model_proto)

    # ---- loading ----

    @classmethod
    def from_file(cls, model_file: str | os.PathLike[str], **kwargs: Any) -> Self:
        """Return a processor of a model file; `kwargs` as for the class."""
        made = cls(**_without_model(kwargs))
        made.load_from_file(model_file)
        return made

    @classmethod
    def from_proto(cls, model_proto: Any, **kwargs: Any) -> Self:
        """Return a processor of a model file's bytes; `kwargs` as for the class."""
        made = cls(**_without_model(kwargs))
        made.load_from_serialized_proto(model_proto)
        return made

    def load(self, model_file: str | os.PathLike[str] | None = None, model_proto: Any = None) -> bool:
        """Read a model from a file or from bytes; returns True."""
        if model_file and model_proto:
            raise ArgumentError("model_file and model_proto must be exclusive.")
        if model_proto:
            return self.load_from_serialized_proto(model_proto)
        if model_file:
            return self.load_from_file(model_file)
        raise ArgumentError("Either model_file or model_proto must be specified.")

    def load_from_file(self, filename: str | os.PathLike[str]) -> bool:
        """Read a model file; returns True."""
        path = os.fspath(filename)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            word = "NOT_FOUND" if isinstance(error, FileNotFoundError) else "PERMISSION_DENIED"
            raise ModelError(f'{word}: "{path}": {error.strerror}') from error
        return self.load_from_serialized_proto(data)

    def load_from_serialized_proto(self, serialized: Any) -> bool:
        """Read a model from a model file's bytes; returns True."""
        data = serialized.SerializeToString() if hasattr(serialized, "SerializeToString") else serialized
        if not isinstance(data, bytes):
            raise TypeError(f"a model is given as bytes, not as {type(data).__name__}")
        try:
            self._engine = Engine(data)
        except CtokError as error:
            raise ModelError(f"INTERNAL: {error}") from error
        return True

    def serialized_model_proto(self) -> bytes:
        """Return the bytes of the model file."""
        return b"" if self._engine is None else self._engine.proto

    @property
    def tokenizer(self) -> Tokenizer:
        """The `Tokenizer` of the model."""
        return self._loaded().tokenizer

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_engine"}
        return {**state, "model_proto": self.serialized_model_proto()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        proto = state.pop("model_proto")
        self.__dict__.update(state)
        self._engine = None
        if proto:
            self.load_from_serialized_proto(proto)

    # ---- looking up ----

    def get_piece_size(self) -> int:
        """Return the number of pieces."""
        return 0 if self._engine is None else len(self._engine.types)

    piece_size = vocab_size = __len__ = get_piece_size

    def piece_to_id(self, piece: Any) -> Any:
        """Return the id of a piece (str or bytes), or of each of a sequence; of what is none, that of the unknown piece."""
        if isinstance(piece, (str, bytes)):
            return self._number(raw_of(piece))
        if not isinstance(piece, (list, tuple)):
            raise TypeError(f"a piece is a str or bytes, not {type(piece).__name__}")
        return [self._number(raw_of(one, "Sequence elements must be str or bytes")) for one in piece]

    def __getitem__(self, piece: Any) -> Any:
        return self.piece_to_id(piece)

    def _number(self, raw: bytes) -> int:
        return 0 if self._engine is None else self._engine.number(raw)

    def _each(self, given: Any, of: Callable[[Engine, int], Any]) -> Any:
        """Something of an id, or of each of several."""
        try:
            ids = [index(given)]
            several = False
        except TypeError:
            ids, several = ids_of(given), True
        self._check(ids)
        found = [of(self._loaded(), number) for number in ids]
        return found if several else found[0]

    def id_to_piece(self, id: Any) -> Any:
        """Return the text of an id, or of each of several."""
        return self._each(id, lambda engine, number: engine.piece(number).decode())

    def get_score(self, id: Any) -> Any:
        """Return the score of an id, or of each of several."""
        return self._each(id, lambda engine, number: engine.scores[number])

    def is_unknown(self, id: Any) -> Any:
        """Return whether an id, or each of several, is that of the unknown piece."""
        return self._each(id, lambda engine, number: engine.types[number] == UNKNOWN)

    def is_control(self, id: Any) -> Any:
        """Return whether an id, or each of several, is that of a control piece."""
        return self._each(id, lambda engine, number: engine.types[number] == CONTROL)

    def is_unused(self, id: Any) -> Any:
        """Return whether an id, or each of several, is that of an unused piece."""
        return self._each(id, lambda engine, number: engine.types[number] == UNUSED)

    def is_byte(self, id: Any) -> Any:
        """Return whether an id, or each of several, is that of a byte."""
        return self._each(id, lambda engine, number: engine.types[number] == BYTE)

    def unk_id(self) -> int:
        """Return the id of the unknown piece; without a model -1."""
        return -1 if self._engine is None else int(self._engine.record.unk_id)

    def bos_id(self) -> int:
        """Return the id of the beginning; -1: there is none."""
        return self._role("bos_id")

    def eos_id(self) -> int:
        """Return the id of the end; -1: there is none."""
        return self._role("eos_id")

    def pad_id(self) -> int:
        """Return the id that fills up; -1: there is none."""
        return self._role("pad_id")

    def _role(self, field: str) -> int:
        found = None if self._engine is None else getattr(self._engine.record, field)
        return -1 if found is None else int(found)

    # ---- normalizing ----

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Return a text, or each of a list, as the model sees it; with offsets, a pair of that and, for each of its characters (of bytes:
        bytes) and its end, the place in the text it comes from."""
        if isinstance(input, list):
            return [self._normalize(text, with_offsets) for text in input]
        return self._normalize(input, with_offsets)

    def _normalize(self, text: Any, with_offsets: Any) -> Any:
        raw = raw_of(text)
        normalized, places = (b"", [0]) if self._engine is None else self._engine.normalize(raw)
        if isinstance(text, bytes):
            return (normalized, list(places)) if with_offsets else normalized
        shown = normalized.decode()
        if not with_offsets:
            return shown
        original = character_places(raw)
        starts = [i for i, byte in enumerate(normalized) if byte & 0xC0 != 0x80]
        return shown, [original[places[i]] for i in (*starts, len(normalized))] if places else [0]


def _without_model(kwargs: dict[str, Any]) -> dict[str, Any]:
    if "model_file" in kwargs or "model_proto" in kwargs:
        raise ArgumentError("the model is the first argument; model_file and model_proto cannot be passed as well")
    return kwargs


def _add_second_names(cls: Any) -> None:
    """Each method is also there in CamelCase, but for those that make a processor, and that tell a number."""
    for name in [name for base in cls.__mro__ for name in vars(base)]:
        if not name.startswith("_") and name not in ONE_NAME:
            setattr(cls, "".join(word.capitalize() for word in name.replace("nbest", "n_best").split("_")), getattr(cls, name))
    cls.Tokenize = cls.tokenize = cls.encode
    cls.Detokenize = cls.detokenize = cls.decode


_add_second_names(SentencePieceProcessor)
