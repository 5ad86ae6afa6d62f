"""A model as the reference's methods see it: texts to pieces with their places, pieces to texts."""

from __future__ import annotations

from itertools import groupby
from math import isfinite

from ...errors import EncodeError
from ...formats.sentencepiece import loads
from ...stagespecs.sentencepiece import BYTE, CONTROL, UNKNOWN
from ...tokenizer import Tokenizer
from . import _settings
from ._errors import ArgumentError, ModelError
from ._texts import SentencePiece, SentencePieceText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Path = tuple[list[int], list[int]]  # ids, and the byte of the normalized text where each one's piece ends

__all__ = ["MOST", "Engine", "raw_of"]

MOST = 512  # of n-best results
SPACE = "\u2581".encode()
REPLACEMENT = "\ufffd".encode()


def raw_of(text: object, what: str = "Input must be str or bytes") -> bytes:
    """Return the UTF-8 of a text.

    Raises
    ------
    TypeError
        It is neither str nor bytes.
    EncodeError
        It holds a lone surrogate.
    """
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise TypeError(what)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise EncodeError(f"lone surrogate U+{ord(text[error.start]):04X} at character {error.start}", position=error.start) from None


class Engine:
    """A model. Immutable."""

    def __init__(self, proto: bytes) -> None:
        self.proto = proto
        self.tokenizer = Tokenizer.from_spec(loads(proto))
        self.record = self.tokenizer.spec.model
        self.types = bytes(self.record.types)
        self.scores = memoryview(bytes(self.record.scores)).cast("f")
        flow: Any = self.tokenizer.flow
        self.model: Any = flow.model
        self.normalizer: Any = flow.normalizer

    # ---- texts to pieces ----

    def path(self, normalized: bytes) -> Path:
        """The best path."""
        return self.model.encode_with_ends(normalized)  # type: ignore[no-any-return]

    def paths(self, normalized: bytes, k: int) -> list[tuple[Path, float]]:
        """The k best paths and their scores."""
        if k > MOST:
            raise ModelError(f"INTERNAL: nbest_size must be nbest_size <= {MOST}")
        if self.record.kind != "unigram":
            raise ModelError("INTERNAL: NBestEncode is not available for the current model.")
        if k == 1:
            return [(self.path(normalized), 0.0)]  # the reference gives no score then
        return [((ids, ends), score) for ids, ends, score in self.model.nbest_with_ends(normalized, k)]

    def drawn(self, normalized: bytes, nbest_size: int, alpha: float) -> Path:
        """A path drawn at random."""
        if not isfinite(alpha) or alpha < 0:
            raise ModelError(f"INTERNAL: alpha must be finite and at least 0, not {alpha}")
        if nbest_size > MOST:
            raise ModelError(f"INTERNAL: nbest_size must be nbest_size <= {MOST}")
        if self.record.kind in ("word", "char"):
            raise ModelError("INTERNAL: SampleEncode is not available for the current model.")
        if self.record.kind == "unigram" and nbest_size in (0, 1):
            return self.path(normalized)
        seed = _settings.next_seed()
        if self.record.kind == "bpe":
            ids = self.model.sample(normalized, min(alpha, 1.0), None, seed)
            return ids, self._ends(normalized, ids)
        return self.model.sample_with_ends(normalized, alpha, max(nbest_size, 0), seed)  # type: ignore[no-any-return]

    def _ends(self, normalized: bytes, ids: list[int]) -> list[int]:
        """Where the pieces end that these ids stand for. An unknown piece is as long as the others let it be."""
        import re

        parts: list[tuple[str, int]] = []  # a pattern for what ids cover together, and how many these are
        for kind, group in groupby(ids, self.types.__getitem__):
            if kind == BYTE:
                row = bytes(int(self.piece(number)[3:5], 16) for number in group).decode()
                parts += [(re.escape(char), len(char.encode())) for char in row]
            else:
                parts += [(".+?" if kind == UNKNOWN else re.escape(self.piece(number).decode()), 1) for number in group]
        text = normalized.decode()
        match = re.fullmatch("".join(f"({pattern})" for pattern, _ in parts), text, re.DOTALL)
        if match is None:
            raise ModelError("INTERNAL: what was drawn does not spell the text")
        ends, at = [], 0
        for k, (_, count) in enumerate(parts, 1):
            at += len(match[k].encode())
            ends += [at] * count
        return ends

    def normalize(self, raw: bytes) -> tuple[bytes, Sequence[int]]:
        """The normalized text, and for each byte of it and its end the byte of `raw` it comes from: none when only blanks are dropped."""
        return self.normalizer.normalize_offsets(raw)  # type: ignore[no-any-return]

    def text_of(self, raw: bytes, normalized: bytes, places: Sequence[int], path: Path, score: float | None = None) -> SentencePieceText:
        """A path as a text with pieces."""
        return SentencePieceText(raw, self._pieces(raw, normalized, places, *path), score)

    def _pieces(self, raw: bytes, normalized: bytes, places: Sequence[int], ids: list[int], ends: list[int]) -> Iterable[SentencePiece]:
        begin = 0
        for i, number in enumerate(ids):
            start, stop = places[begin], places[ends[i]]
            if self.types[number] == BYTE:
                is_last = i + 1 == len(ids) or ends[i + 1] != ends[i]
                stop = stop if is_last else start
                yield SentencePiece(self.piece(number), number, raw[start:stop] if is_last else None, start, stop)
                begin = ends[i] if is_last else begin
                continue
            yield SentencePiece(normalized[begin : ends[i]], number, raw[start:stop], start, stop)
            begin = ends[i]

    def names(self, normalized: bytes, ids: list[int], ends: list[int]) -> list[bytes]:
        """What the pieces of a path are called: what they cover, or a byte."""
        starts = [0, *ends][: len(ends)]
        return [
            self.piece(number) if self.types[number] == BYTE else normalized[start:end]
            for number, start, end in zip(ids, starts, ends, strict=True)
        ]

    # ---- pieces to texts ----

    def piece(self, number: int) -> bytes:
        """The text of an id."""
        return self.tokenizer.id_to_bytes(number)

    def number(self, piece: bytes) -> int:
        """The id of a text; that of the unknown piece, if it is none."""
        found = self.tokenizer.vocab.find(piece)
        return int(self.record.unk_id) if found is None else int(found)

    def decoded(self, pieces: Sequence[tuple[bytes, int]]) -> SentencePieceText:
        """The text of pieces, each given with its id."""
        surfaces = self._surfaces(pieces)
        found, at = [], 0
        for (piece, number), surface in zip(pieces, surfaces, strict=True):
            found.append(SentencePiece(piece, number, surface, at, at + len(surface)))
            at += len(surface)
        text = b"".join(surfaces)
        decoder = self.tokenizer.spec.decoder
        if decoder is not None and decoder.denormalizer is not None:  # type: ignore[attr-defined]  # a Decoder of SentencePiece
            text = self._denormalized(text)
        return SentencePieceText(text, found)

    def _denormalized(self, text: bytes) -> bytes:
        decoding: Any = self.tokenizer.decoding
        return decoding.chain.ops[-1][1](text)  # type: ignore[no-any-return]  # the last op is a rewriter

    def _surfaces(self, pieces: Sequence[tuple[bytes, int]]) -> list[bytes]:
        decoder: Any = self.tokenizer.spec.decoder
        at_start = decoder.add_dummy_prefix or decoder.remove_extra_whitespaces
        surfaces: list[bytes] = []
        run = bytearray()
        dropped = False
        for piece, number in pieces:
            kind = self.types[number]
            if kind == BYTE:
                run.append(int(piece[3:5], 16))
                continue
            surfaces += _characters_of(bytes(run))
            run.clear()
            at_start = at_start and not dropped and not any(surfaces)
            dropped = False
            if kind == CONTROL:
                surfaces.append(b"")
            elif kind == UNKNOWN:
                surfaces.append(decoder.unk_surface.encode() if piece == self.piece(number) else piece)
            else:
                dropped = at_start and piece.startswith(SPACE) and not decoder.remove_extra_whitespaces
                surfaces.append((piece.removeprefix(SPACE) if at_start else piece).replace(SPACE, b" "))
        return surfaces + _characters_of(bytes(run))

    # ---- what stands around a text ----

    def around(self, add_bos: object, add_eos: object) -> tuple[int | None, int | None]:
        """The ids that go before and behind a text, or None."""
        if add_bos and self.record.bos_id is None:
            raise ArgumentError("INVALID_ARGUMENT: BOS token is not defined as a control symbol in this model.")
        if add_eos and self.record.eos_id is None:
            raise ArgumentError("INVALID_ARGUMENT: EOS token is not defined as a control symbol in this model.")
        return (self.record.bos_id if add_bos else None, self.record.eos_id if add_eos else None)


def _characters_of(run: bytes) -> list[bytes]:
    """What each byte of a row stands for: the last of a character for it, the others for nothing, one that belongs to none for U+FFFD."""
    found: list[bytes] = []
    for char in run.decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            found.append(REPLACEMENT)
        else:
            whole = char.encode()
            found += [b""] * (len(whole) - 1) + [whole]
    return found
