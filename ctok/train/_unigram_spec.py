"""The specification of a trained unigram model, in the manner of either library."""

from __future__ import annotations

from ..errors import TrainingError
from ..spec import Spec
from . import _options
from ._alphabet import BLANK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import SimpleNamespace
    from typing import Any

    from ..spec import Record
    from .counts import Counts

__all__ = ["BYTES", "blanks", "completed", "cut_out", "head", "self_test", "spec_of"]

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
ROLES = ("unk", "bos", "eos", "pad")


def completed(o: SimpleNamespace) -> SimpleNamespace:
    """Put in the stages that the caller left out, and the special tokens."""
    if o.style == "huggingface":
        from ..stagespecs import normalizers, pretokenizers

        o.special_tokens = _options.special(o.special_tokens, o.unk_token)
        if o.normalizer is None:
            steps = [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(normalizers.Regex(" {2,}"), " ")]
            o.normalizer = normalizers.Sequence(steps)
        if o.pre_tokenizer is None:
            o.pre_tokenizer = pretokenizers.Metaspace(split=o.split_by_whitespace)
        return o
    from ..stagespecs.sentencepiece import Normalizer

    if o.pre_tokenizer is not None:
        raise ValueError("a .model has no pre-tokenizer; use style='huggingface'")
    if o.normalizer is not None and not isinstance(o.normalizer, Normalizer):
        raise TypeError(f"the normalizer of a .model is a stagespecs.sentencepiece.Normalizer, not {type(o.normalizer).__name__}")
    o.user_defined_symbols, o.control_symbols = tuple(o.user_defined_symbols), tuple(o.control_symbols)
    own = o.normalizer or Normalizer(name="identity")
    suffix = o.treat_whitespace_as_suffix
    o.normalizer = own.replace(treat_whitespace_as_suffix=suffix, user_defined=o.user_defined_symbols)
    _meta(o)
    return o


def blanks(o: SimpleNamespace) -> Record | None:
    """What cuts a text with escaped blanks into words."""
    from ..stagespecs.pretokenizers import Split

    if not o.split_by_whitespace:
        return None
    return Split(BLANK, "merged_with_previous" if o.treat_whitespace_as_suffix else "merged_with_next")


def head(o: SimpleNamespace) -> list[tuple[str, int]]:
    """What comes before the learned pieces: texts, and types as a .model has them."""
    from ..stagespecs.sentencepiece import BYTE, CONTROL, UNKNOWN

    fallback = [(text, BYTE) for text in BYTES] if o.byte_fallback else []
    if o.style == "huggingface":
        return [(token.content, UNKNOWN if token.content == o.unk_token else CONTROL) for token in o.special_tokens] + fallback
    return _meta(o) + fallback


def _meta(o: SimpleNamespace) -> list[tuple[str, int]]:
    """The meta pieces of a .model: those with ids of their own, and control and user-defined ones in the places between and behind."""
    from ..stagespecs.sentencepiece import CONTROL, UNKNOWN, USER_DEFINED

    texts = {"unk": o.unk_token or "<unk>", "bos": o.bos_piece, "eos": o.eos_piece, "pad": o.pad_piece}
    at = {role: getattr(o, f"{role}_id") for role in ROLES}
    if at["unk"] < 0:
        raise ValueError("a .model has an unknown piece: unk_id cannot be negative")
    placed: dict[int, tuple[str, int]] = {}
    for role, number in at.items():
        if number in placed:
            raise ValueError(f"{role}_id is {number}, which another piece has")
        if number >= 0:
            placed[number] = (texts[role], UNKNOWN if role == "unk" else CONTROL)
    named = {text for text, _ in placed.values()}
    others = [(text, CONTROL) for text in o.control_symbols if text not in named]
    others += [(text, USER_DEFINED) for text in o.user_defined_symbols]
    if len({*named, *(text for text, _ in others)}) < len(placed) + len(others):
        raise ValueError("two of the special pieces have the same text")
    listed: list[tuple[str, int]] = []
    while placed or others:
        if len(listed) in placed:
            listed.append(placed.pop(len(listed)))
        elif others:
            listed.append(others.pop(0))
        else:
            raise ValueError(f"the ids of special pieces leave a gap at {len(listed)}")
    return listed


def spec_of(o: SimpleNamespace, pieces: list[tuple[str, float]]) -> Spec:
    return _huggingface(o, pieces) if o.style == "huggingface" else _sentencepiece(o, pieces)


def _huggingface(o: SimpleNamespace, pieces: list[tuple[str, float]]) -> Spec:
    from ..stagespecs import decoders, pretokenizers
    from ..stagespecs.models import unigram_from_pieces

    texts = [text for text, _ in head(o)]
    unk = None if o.unk_token is None else texts.index(o.unk_token)
    model = unigram_from_pieces([*((text, 0.0) for text in texts), *pieces], unk_id=unk, byte_fallback=o.byte_fallback)
    decoder: Record | None = o.pre_tokenizer if isinstance(o.pre_tokenizer, pretokenizers.Metaspace) else None
    if decoder is not None and o.byte_fallback:
        decoder = decoders.Sequence([decoders.ByteFallback(), decoder])
    roles = {} if o.unk_token is None else {"unk": o.unk_token}
    return Spec(o.name, model, o.pre_tokenizer, o.special_tokens, o.normalizer, decoder=decoder, roles=roles)


def _sentencepiece(o: SimpleNamespace, pieces: list[tuple[str, float]]) -> Spec:
    from ..stagespecs.sentencepiece import NORMAL, Decoder, pieces_from_list

    listed = [*((text, 0.0, type_) for text, type_ in head(o)), *((text, score, NORMAL) for text, score in pieces)]
    ids: dict[str, Any] = {f"{role}_id": number if (number := getattr(o, f"{role}_id")) >= 0 else None for role in ROLES}
    model = pieces_from_list(
        listed, byte_fallback=o.byte_fallback, treat_whitespace_as_suffix=o.treat_whitespace_as_suffix, **ids
    )
    n = o.normalizer
    decoder = Decoder(n.add_dummy_prefix, n.remove_extra_whitespaces, n.treat_whitespace_as_suffix, o.unk_surface)
    return Spec(o.name, model, None, (), n, decoder=decoder)


def cut_out(counts: Counts, symbols: tuple[str, ...]) -> Counts:
    """Return the counts of what stands between the symbols in the words: a symbol is always a token."""
    import re

    from .counts import Counts

    if not symbols:
        return counts
    pattern = re.compile("|".join(re.escape(symbol) for symbol in sorted(symbols, key=len, reverse=True)).encode())
    words: dict[str | bytes, int] = {}
    for word, count in counts:
        for part in pattern.split(word):
            if part:
                words[part] = words.get(part, 0) + count
    return Counts.from_mapping(words)


def self_test(o: SimpleNamespace, pieces: list[tuple[str, float]], counts: Counts) -> None:
    """Encode the most frequent words with the kernel.

    Raises
    ------
    TrainingError
        The pieces of a word do not spell it.
    """
    from .._native.unigram import Unigram
    from ..stagespecs.models import unigram_from_pieces

    texts = [text.encode() for text, _ in pieces]
    record = unigram_from_pieces([("<unk>", 0.0), *pieces], unk_id=0)
    model = Unigram(record.tokens, record.scores, 0)
    for word, _ in sorted(counts, key=lambda item: (-item[1], item[0]))[: o.self_test_size]:
        ids = model.encode(word)
        if 0 not in ids and b"".join(texts[number - 1] for number in ids) != word:
            raise TrainingError(f"self-test: the pieces of {word!r} do not spell it")
