"""From a specification with all stages to what runs it."""

from __future__ import annotations

from .._native.mergemodel import MergeList
from .._native.rooms import Flow
from .._native.vocab import Vocab
from ..errors import SpecError
from .added import sought
from .models import build_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._native.chains import Decoding
    from .._native.cut import Cutter
    from .._native.model import Model
    from .._native.normalize import Normalizer
    from ..spec import AddedToken, Record, Spec, TokenTable

    Declared = tuple[str, int] | tuple[str, int, bool]

__all__ = ["compose", "is_byte_level"]


def compose(spec: Spec) -> tuple[Vocab, Flow, tuple[tuple[int, ...], tuple[int, ...]], Decoding]:
    """Return what runs a specification: vocabulary, stages, the ids of the template before and behind a text, and what decodes.

    Raises
    ------
    SpecError
        It says something that ctok cannot run; the message names the stage.
    """
    byte_level = is_byte_level(spec)
    declared = tuple(map(_declared, spec.added_tokens)) + _special_pieces(spec)
    model = build_model(spec.model, byte_level, declared)
    vocab = _vocabulary(spec, model, declared)
    if (shared := vocab.doubled) is not None:
        from warnings import warn

        warn(f"{spec.name!r}: tokens share an id, the first such id is {shared}; it decodes to the last of its tokens", stacklevel=2)
    normalizer, cutter = _normalizer(spec), _cutter(spec)
    normalize = None if normalizer is None else normalizer.normalize
    added = [sought(token, normalize) for token in spec.added_tokens]
    safe = model.safe_cut() if _may_be_long(spec) else None
    shown_unk = getattr(model, "unk_id", None) if _kind(spec) in ("Pieces", "Unigram") else None
    flow = Flow(model, normalizer, cutter, added, lambda: _signature(spec), safe, shown_unk)
    template = _template(spec)
    called = {number: text for content, number, _, text in added if text not in (None, content)}
    shown = vocab if not called else _renamed(spec, model, byte_level, declared, called)
    return vocab, flow, template, _decoding(spec, shown, byte_level=byte_level and isinstance(model, MergeList))


# ---- stages: imported where a specification has them ----


def _normalizer(spec: Spec) -> Normalizer | None:
    if spec.normalizer is None:
        return None
    if _kind(spec) == "Pieces":
        from ..stagespecs import sentencepiece as records
        from .sentencepiece import build_piece_normalizer

        if isinstance(spec.normalizer, records.Normalizer):
            return build_piece_normalizer(spec.normalizer)
    from .normalizers import build_normalizer

    return build_normalizer(spec.normalizer)


def _cutter(spec: Spec) -> Cutter | None:
    if spec.pre_tokenizer is None:
        return None
    from .cutters import build_cutter

    return build_cutter(spec.pre_tokenizer)


def _template(spec: Spec) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if spec.post_processor is None:
        return (), ()
    from .around import around

    return around(spec.post_processor)


def _special_pieces(spec: Spec) -> tuple[Declared, ...]:
    if _kind(spec) != "Pieces":
        return ()
    from .sentencepiece import special_pieces

    return special_pieces(spec.model)


def _kind(spec: Spec) -> str:
    return type(spec.model).__name__


def _decoding(spec: Spec, vocab: Vocab, *, byte_level: bool) -> Decoding:
    if _kind(spec) == "Pieces":
        from .sentencepiece import Decoder, build_piece_decoder

        if isinstance(spec.decoder, Decoder):
            return build_piece_decoder(spec.decoder, spec.model, vocab)
    from .decoders import build_decoder

    return build_decoder(spec.decoder, vocab, byte_level=byte_level)


def _declared(token: AddedToken) -> Declared:
    return (token.content, token.id) if token.special else (token.content, token.id, False)


def _signature(spec: Spec) -> str:
    """A digest of what the stages do, but for the vocabulary, which has a fingerprint of its own."""
    from hashlib import blake2b

    what = repr((spec.normalizer, spec.pre_tokenizer, spec.model, spec.added_tokens, spec.post_processor))
    return blake2b(what.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _steps(spec: Spec) -> list[Record]:
    if spec.pre_tokenizer is None:
        return []
    from .cutters import flat

    return flat(spec.pre_tokenizer)


def is_byte_level(spec: Spec) -> bool:
    """Whether the model is to take bytes where its file has them spelled."""
    if spec.pre_tokenizer is None:
        return False
    from ..stagespecs import pretokenizers

    return pretokenizers.is_byte_level(spec.pre_tokenizer)


def _may_be_long(spec: Spec) -> bool:
    """Whether a pretoken can be a whole text: nothing cuts, or only at a certain text, which a normalizer may have replaced."""
    if spec.pre_tokenizer is None:
        return True
    from ..stagespecs.patterns import String
    from ..stagespecs.pretokenizers import Split

    return all(isinstance(step, Split) and isinstance(step.pattern, String) for step in _steps(spec))


def _vocabulary(spec: Spec, model: Model, declared: tuple[Declared, ...]) -> Vocab:
    if isinstance(model, MergeList):
        return model.vocab
    tokens = spec.model.tokens
    try:
        return Vocab(tokens.data, tokens.ends, tokens.ids, declared, doubles=True, shown=True)
    except SpecError:
        return _without_doubles(tokens, declared)


def _without_doubles(tokens: TokenTable, declared: tuple[Declared, ...]) -> Vocab:
    """Of tokens with equal texts only the last is ever looked up; the ids of the others have their text, and are never given."""
    from ..spec import TokenTable

    last = dict(tokens)
    table = TokenTable.from_dict(last)
    others = tuple((text.decode(), number, False) for text, number in tokens if text and last[text] != number)
    return Vocab(table.data, table.ends, table.ids, declared + others, shown=True)


def _renamed(spec: Spec, model: Model, byte_level: bool, declared: tuple[Declared, ...], called: dict[int, str]) -> Vocab:
    """The vocabulary for decoding, where the normalizer spells added tokens otherwise: the reference decodes to that spelling."""
    names = tuple([(called.get(token[1], token[0]), *token[1:]) for token in declared])
    if isinstance(model, MergeList):  # which has a vocabulary of its own
        model = build_model(spec.model, byte_level, names)
    return _vocabulary(spec, model, names)
