"""The specification of a trained unigram model, in the manner of either library."""

from __future__ import annotations

from ..errors import TrainingError
from ..spec import Spec
from . import _options, _sentencepiece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import SimpleNamespace

    from ..spec import Record
    from .counts import Counts

__all__ = ["complete", "self_test", "spec_of", "taken"]


def complete(o: SimpleNamespace) -> None:
    """Put in the stages that the caller left out, and the special tokens."""
    if o.style == "sentencepiece":
        _sentencepiece.complete(o)
        return
    from ..stagespecs import normalizers, pretokenizers

    if o.user_defined_symbols or o.control_symbols:
        raise ValueError("user_defined_symbols and control_symbols belong to style='sentencepiece'; use special_tokens")
    o.special_tokens = _options.special(o.special_tokens, o.unk_token)
    if o.normalizer is None:
        steps = [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(normalizers.Regex(" {2,}"), " ")]
        o.normalizer = normalizers.Sequence(steps)
    if o.pre_tokenizer is None:
        o.pre_tokenizer = pretokenizers.Metaspace(split=o.split_by_whitespace)


def taken(o: SimpleNamespace) -> list[str]:
    """The texts that come before the learned pieces."""
    if o.style == "sentencepiece":
        return [text for text, _ in _sentencepiece.head(o)]
    return [token.content for token in o.special_tokens] + list(_sentencepiece.BYTES if o.byte_fallback else ())


def spec_of(o: SimpleNamespace, pieces: list[tuple[str, float]]) -> Spec:
    if o.style == "sentencepiece":
        return _sentencepiece.spec_of(o, pieces, "unigram")
    from ..stagespecs import decoders, pretokenizers
    from ..stagespecs.models import unigram_from_pieces

    texts = taken(o)
    unk = None if o.unk_token is None else texts.index(o.unk_token)
    model = unigram_from_pieces([*((text, 0.0) for text in texts), *pieces], unk_id=unk, byte_fallback=o.byte_fallback)
    decoder: Record | None = o.pre_tokenizer if isinstance(o.pre_tokenizer, pretokenizers.Metaspace) else None
    if decoder is not None and o.byte_fallback:
        decoder = decoders.Sequence([decoders.ByteFallback(), decoder])
    roles = {} if o.unk_token is None else {"unk": o.unk_token}
    return Spec(o.name, model, o.pre_tokenizer, o.special_tokens, o.normalizer, decoder=decoder, roles=roles)


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
