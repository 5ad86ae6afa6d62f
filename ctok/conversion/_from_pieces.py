"""From a SentencePiece model to the stages of a tokenizer.json.

Exact for every text are the blanks, which SentencePiece treats in its normalizer and a tokenizer.json says in four replacements, and the
models bpe and char: by score a piece is only ever made in one way, since merges never cross the ends of what becomes the piece (`_merges`
has the argument for ranks), so one merge a piece, in the order of the scores, says the same; and a char model is one without merges.

Not exact for every text are two things, which are named, and tried on texts (`_same_ids`): readers of a tokenizer.json put the normalizer's
table to single characters where SentencePiece takes the longest match, and add the scores of a unigram model in double precision.
"""

from __future__ import annotations

from ..errors import SpecError
from ..spec import BPE, AddedToken, Record, Spec
from ..stagespecs import decoders, models, normalizers, pretokenizers
from ..stagespecs.patterns import Regex
from ..stagespecs.sentencepiece import CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, Normalizer, Pieces
from . import Conversion
from ._runs import last_merge, merges_of_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["as_stages"]

BLANK = "\u2581"


def as_stages(spec: Spec) -> Conversion:
    """Return the specification of a SentencePiece model as one of a tokenizer.json.

    Raises
    ------
    SpecError
        The model is one that a tokenizer.json has not.
    """
    model, normalizer = spec.model, _said(spec)
    _refuse_what_no_stage_does(spec, model)
    texts = _texts(spec)
    told = spec.replace(
        model=_unigram(model) if model.kind == "unigram" else _merged(spec, texts),
        normalizer=_normalizer(normalizer),
        pre_tokenizer=_cut(model, normalizer, texts),
        added_tokens=[AddedToken(texts[number], number, type_ != USER_DEFINED, normalized=False) for number, type_ in _outside(model)],
        decoder=_decoder(model, normalizer),
        document=None,
    )
    return Conversion(told, _lost(spec, told, texts), _unsaid(spec, texts))


def _said(spec: Spec) -> Normalizer:
    if spec.normalizer is None:
        return Normalizer(b"", False, False, False)
    if not isinstance(spec.normalizer, Normalizer):
        _refuse(spec, f"the normalizer of its pieces is {type(spec.normalizer).__name__}, not SentencePiece's own")
    return spec.normalizer


def _refuse_what_no_stage_does(spec: Spec, model: Pieces) -> None:
    if model.kind == "word":
        _refuse(spec, "words that are not known and stand side by side give one id, which the model WordLevel does not do")
    if model.treat_whitespace_as_suffix:
        _refuse(spec, "its blanks belong to the word before them (treat_whitespace_as_suffix)")
    if UNUSED in bytes(model.types):
        _refuse(spec, f"its piece {bytes(model.types).index(UNUSED)} is unused, that is, cut again when it is found")


def _lost(spec: Spec, told: Spec, texts: dict[int, str]) -> list[str]:
    """What differs for some texts and cannot be helped, or differs for one that was tried."""
    from ._same_ids import differences

    model, normalizer = spec.model, _said(spec)
    symbols = [texts[number] for number, type_ in _outside(model) if type_ == USER_DEFINED]
    told_apart = [symbol for symbol in symbols if BLANK in symbol or " " in symbol]
    if symbols and normalizer != Normalizer(b"", False, False, normalizer.escape_whitespaces, user_defined=symbols, name=normalizer.name):
        told_apart = symbols
    if told_apart or (symbols and model.kind == "unigram"):
        shown = (told_apart or symbols)[0]
        return [f"that the user-defined piece {shown!r} is found while the text is normalised: an added token is found before that"]
    return differences(spec, told)


def _texts(spec: Spec) -> dict[int, str]:
    """Id -> text."""
    texts: dict[int, str] = {}
    known: dict[str, int] = {}
    for token, number in spec.model.tokens:
        try:
            text = token.decode()
        except UnicodeDecodeError:
            _refuse(spec, f"its piece {number}, {token!r}, is not UTF-8")
        if text in known:
            _refuse(spec, f"its pieces {known[text]} and {number} have the same text {text!r}")
        texts[number] = text
        known[text] = number
    return texts


def _outside(model: Pieces) -> list[tuple[int, int]]:
    """Pieces that become added tokens: (id, type)."""
    return [(number, type_) for number, type_ in enumerate(model.types) if type_ in (UNKNOWN, CONTROL, USER_DEFINED)]


def _unsaid(spec: Spec, texts: dict[int, str]) -> list[str]:
    model, normalizer = spec.model, _said(spec)
    outside = [texts[number] for number, type_ in _outside(model) if type_ != USER_DEFINED]
    unsaid = [f"that a text which spells {', '.join(map(repr, outside[:4]))} is plain text: most readers find the token there"]
    if normalizer.charsmap:
        unsaid.append("that the normalizer's table takes the longest match: readers put it to single characters")
    if model.kind == "unigram":
        unsaid.append("that scores are added in single precision: of two equally good cuts of a long text readers may choose the other")
    return unsaid


# ---- stages ----


def _normalizer(normalizer: Normalizer) -> Record | None:
    blank = BLANK if normalizer.escape_whitespaces else " "
    steps: list[Record] = []
    if normalizer.charsmap:
        steps.append(normalizers.Precompiled(normalizer.charsmap))
    if normalizer.remove_extra_whitespaces:
        # At the end also U+2581 of the text itself is taken for a blank.
        ends = rf"\A +|[ {BLANK}]+\z" if normalizer.escape_whitespaces else r"\A +| +\z"
        steps += [normalizers.Replace(Regex(ends), ""), normalizers.Replace(Regex(" {2,}"), " ")]
    if normalizer.add_dummy_prefix:
        steps.append(normalizers.Prepend(blank))
    if normalizer.escape_whitespaces:
        steps.append(normalizers.Replace(" ", BLANK))
    return normalizers.Sequence(steps) if steps else None


def _cut(model: Pieces, normalizer: Normalizer, texts: dict[int, str]) -> Record | None:
    """Unigram models are cut into words, which keeps what readers do at once short; but not where a piece reaches over a blank."""
    if model.kind != "unigram" or not normalizer.escape_whitespaces:
        return None
    crossing = any(BLANK in text.lstrip(BLANK) for number, text in texts.items() if model.types[number] == NORMAL)
    runs = any(text.count(BLANK) > 1 for number, text in texts.items() if model.types[number] == NORMAL)
    return None if crossing or runs else pretokenizers.Metaspace(prepend_scheme="never")


def _decoder(model: Pieces, normalizer: Normalizer) -> Record:
    steps: list[Record] = [decoders.Replace(BLANK, " ")]
    if model.byte_fallback:
        steps.append(decoders.ByteFallback())
    steps.append(decoders.Fuse())
    if normalizer.add_dummy_prefix or normalizer.remove_extra_whitespaces:
        steps.append(decoders.Strip(" ", 1, 0))
    return decoders.Sequence(steps)


# ---- models ----


def _unigram(model: Pieces) -> models.Unigram:
    from struct import pack, unpack

    n = len(model.tokens)
    scores = pack(f"<{n}d", *unpack(f"<{n}f", model.scores))
    return models.Unigram(model.tokens, scores, model.unk_id, model.byte_fallback)


def _merged(spec: Spec, texts: dict[int, str]) -> BPE:
    """The model with one merge a piece; none for a char model."""
    model = spec.model
    for number, text in texts.items():
        if len(text) == 1 and model.types[number] not in (NORMAL, USER_DEFINED):
            _refuse(spec, f"its piece {number}, {text!r}, is one character, and yet no text gives it")
    ids = {text: number for number, text in texts.items()}
    merges = [] if model.kind == "char" else _merges(spec, {text: ids[text] for text in ids if model.types[ids[text]] == NORMAL})
    flat = b"".join(number.to_bytes(4, "little") for pair in merges for number in pair)
    return BPE(model.tokens, "merges", flat, unk_token=texts[model.unk_id], fuse_unk=True, byte_fallback=model.byte_fallback)


def _merges(spec: Spec, ids: dict[str, int]) -> list[tuple[int, int]]:
    """The merges of the normal pieces, by the score of what they give."""
    from itertools import groupby
    from struct import unpack

    scores = unpack(f"<{len(spec.model.tokens)}f", spec.model.scores)
    ranks = {text: -scores[number] for text, number in ids.items()}
    made = {text: parts for text in ids if len(text) > 1 and (parts := last_merge(text, ranks)) is not None}
    pairs: list[tuple[str, str]] = []
    for _, group in groupby(sorted(made, key=ranks.__getitem__), ranks.__getitem__):
        equal = list(group)
        pairs += [made[equal[0]]] if len(equal) == 1 else _merges_of_runs(spec, equal, ids)
    for pair in pairs:
        for part in pair:
            if part not in ids:
                _refuse(spec, f"its piece {ids[pair[0] + pair[1]]} is made of {pair[0]!r} and {pair[1]!r}, and {part!r} is no piece")
    return [(ids[left], ids[right]) for left, right in pairs]


def _merges_of_runs(spec: Spec, equal: list[str], ids: dict[str, int]) -> list[tuple[str, str]]:
    """The merges of pieces with one score, of which the pair that stands first joins first: only for runs of one character."""
    one = equal[0][0]
    if any(text.strip(one) for text in equal) or any(2 * one in text for text in ids.keys() - set(equal)):
        numbers = [ids[text] for text in equal[:2]]
        _refuse(spec, f"its pieces {numbers[0]} and {numbers[1]} have the same score, so that the one that stands first is made first")
    merges = merges_of_runs({len(text) for text in equal})
    if merges is None:
        _refuse(spec, f"its runs of {one!r} have the same score, and no list of merges gives them as they are given")
    return [(one * left, one * right) for left, right in merges]


def _refuse(spec: Spec, what: str) -> NoReturn:
    raise SpecError(f"a tokenizer.json cannot say {spec.name!r}: {what}")
