"""A trained vocabulary as one sees it afterwards, whatever its model: texts by id, what a word becomes, what was merged from what."""

from __future__ import annotations

from functools import cached_property
from struct import iter_unpack

from ..errors import SpecError
from ..spec import BPE
from ..stages.compose import is_byte_level
from ..stages.models import build_model
from ..stagespecs.models import Unigram, WordLevel, WordPiece
from ..stagespecs.sentencepiece import NORMAL, Pieces
from ..stagespecs.spelling import unspell
from . import _sentencepiece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..spec import Record, Spec
    from .counts import Counts

__all__ = ["View"]


class View:
    """What stands in a `Spec`.

    Attributes
    ----------
    texts
        Id -> the token's bytes as the table has them.
    ids
        The reverse; of tokens with equal texts the one that a word gives.
    fixed
        Ids that a vocabulary cannot do without: bytes and characters, special and unknown tokens.
    encode
        A word's bytes -> its ids; an `EncodeError` where the vocabulary cannot say it.
    first_free
        The lowest id above all others.
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.model: Any = spec.model
        if not isinstance(self.model, BPE | Pieces | Unigram | WordLevel | WordPiece):
            raise SpecError(f"a model of type {type(self.model).__name__} is not one that can be trained further")
        self.byte_level = is_byte_level(spec)
        self.texts = {number: text for text, number in self.model.tokens}
        self.ids = dict(self.model.tokens)
        self.added = {token.id for token in spec.added_tokens}
        self.fixed = {number for number, text in self.texts.items() if number in self.added or self._is_fixed(number, text)}
        self.encode = _encoder(spec, self.ids, self.byte_level)
        self.first_free = 1 + max([*self.texts, *self.added], default=-1)

    @cached_property
    def parents(self) -> dict[int, tuple[int, int]]:
        """Of byte-pair models: id -> the two ids that were merged into it."""
        if isinstance(self.model, BPE):
            return _parents(self.model, self.ids, self.texts)
        is_pairs = isinstance(self.model, Pieces) and self.model.kind == "bpe"
        return _parents_by_score(self.texts, self.ids, self.scores()) if is_pairs else {}

    def _is_fixed(self, number: int, text: bytes) -> bool:
        model = self.model
        if isinstance(model, BPE) and model.mode == "rank":
            return len(text) == 1
        if isinstance(model, Pieces):
            return model.types[number] != NORMAL or _is_char(text)
        if isinstance(model, Unigram):
            return number == model.unk_id or _is_char(text) or (model.byte_fallback and _is_byte(text))
        if text == (model.unk_token or "").encode() or isinstance(model, WordLevel):
            return text == (model.unk_token or "").encode()
        return _is_char(_core(model, text)) or (isinstance(model, BPE) and model.byte_fallback and _is_byte(text))

    def length(self, number: int) -> int:
        """Return the characters (where tokens are bytes, the bytes) of a token, without what marks its place in the word."""
        text, model = self.texts[number], self.model
        if isinstance(model, BPE) and model.mode == "rank":
            return len(text)
        return len((_core(model, text) if isinstance(model, BPE | WordPiece) else text).decode())

    def shown(self, number: int) -> str:
        """Return a token as people read it."""
        text = self.texts.get(number)
        if text is None:
            return next((token.content for token in self.spec.added_tokens if token.id == number), f"#{number}")
        if self.byte_level:
            text = unspell(text.decode()) or text
        return text.decode("utf-8", "backslashreplace")

    def scores(self) -> list[float]:
        """Return the scores of a model of pieces, by id."""
        data = memoryview(bytes(self.model.scores))
        return list(data.cast("d") if isinstance(self.model, Unigram) else data.cast("f"))

    def count(self, corpus: Any, **how: Any) -> Counts:
        """Return how often each pretoken of a corpus occurs, cut as this tokenizer cuts."""
        from .counts import count_pretokens

        cutter: Record | None = self.spec.pre_tokenizer
        if cutter is None and isinstance(self.model, Pieces):
            cutter = _sentencepiece.cutter(True, self.model.treat_whitespace_as_suffix)
        return count_pretokens(corpus, cutter, self.spec.normalizer, **how)

    def encoded(self, counts: Counts) -> Iterator[tuple[list[int], int]]:
        """Yield the ids and the count of each word that the vocabulary can say."""
        from ..errors import EncodeError

        for word, count in counts:
            try:
                yield self.encode(word), count
            except EncodeError:
                continue


def _is_char(text: bytes) -> bool:
    try:
        return len(text.decode()) <= 1
    except UnicodeDecodeError:
        return False


def _is_byte(text: bytes) -> bool:
    return len(text) == 6 and text.startswith(b"<0x") and text.endswith(b">")


def _core(model: Any, text: bytes) -> bytes:
    """A token's text without what marks its place in the word."""
    prefix = (model.continuing_subword_prefix or "").encode()
    suffix = (getattr(model, "end_of_word_suffix", None) or "").encode()
    if prefix and text.startswith(prefix):
        text = text[len(prefix) :]
    return text[: len(text) - len(suffix)] if suffix and text.endswith(suffix) else text


def _parents(model: BPE, ids: dict[bytes, int], texts: dict[int, bytes]) -> dict[int, tuple[int, int]]:
    if model.mode == "rank":
        from ..conversion._merges import last_merges

        return {ids[token]: (ids[left], ids[right]) for token, (left, right) in last_merges(model.tokens).items()}
    prefix = len((model.continuing_subword_prefix or "").encode())
    found: dict[int, tuple[int, int]] = {}
    for left, right in iter_unpack("<II", model.merges or b""):
        joined = ids.get(texts[left] + texts[right][prefix:])
        if joined is not None:
            found.setdefault(joined, (left, right))
    return found


def _parents_by_score(texts: dict[int, bytes], ids: dict[bytes, int], scores: list[float]) -> dict[int, tuple[int, int]]:
    """The last merge of each piece that merging its own characters gives: always the pair whose text has the highest score, the first of
    equal ones."""
    found: dict[int, tuple[int, int]] = {}
    for number, text in texts.items():
        parts = [char.encode() for char in text.decode()]
        while len(parts) > 2:
            known = [(-scores[ids[parts[i] + parts[i + 1]]], i) for i in range(len(parts) - 1) if parts[i] + parts[i + 1] in ids]
            if not known:
                break
            at = min(known)[1]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) == 2 and all(part in ids for part in parts):
            found[number] = (ids[parts[0]], ids[parts[1]])
    return found


def _encoder(spec: Spec, ids: dict[bytes, int], byte_level: bool) -> Callable[[bytes], list[int]]:
    model = spec.model
    if not isinstance(model, BPE) or model.mode != "rank":
        return build_model(model, byte_level, tuple((token.content, token.id, token.special) for token in spec.added_tokens)).encode
    from .._native.bpe import merge
    from .._native.vocab import Vocab
    from ..errors import EncodeError

    vocab = Vocab(model.tokens.data, model.tokens.ends, model.tokens.ids)

    def encode(word: bytes) -> list[int]:
        whole = ids.get(word)
        found, bad = ([whole], None) if whole is not None else merge(vocab, word)
        if found is None:
            raise EncodeError(f"byte 0x{word[bad or 0]:02X} has no token", position=bad or 0, unit="byte")
        return found

    return encode
