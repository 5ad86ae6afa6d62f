"""The stages around a byte-pair model in the making, and the specification that comes out."""

from __future__ import annotations

from .._native.split import known_patterns
from ..spec import BPE, Spec, Split, TokenTable
from ..stagespecs import decoders, pretokenizers
from . import _options, _sentencepiece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import SimpleNamespace
    from typing import Any

    from .._native.joining import Joining
    from ..spec import Record
    from ._bpe_start import Start

__all__ = ["completed", "counted_by", "n_others", "spec_of"]

EVERYTHING = r"(?s:.+)"
OF_CHARACTERS = ("continuing_subword_prefix", "end_of_word_suffix")
OF_BOTH = ("limit_alphabet", "split_by_unicode_script", "split_by_number", "split_digits")
OF_SENTENCEPIECE = (
    "treat_whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "byte_fallback",
    "user_defined_symbols",
    "control_symbols",
)


def completed(o: SimpleNamespace) -> SimpleNamespace:
    """Check that options go together, and put in what the caller left out.

    Raises
    ------
    ValueError, TypeError
        They do not.
    """
    _refuse_elsewhere(o, "characters", OF_CHARACTERS)
    _refuse_elsewhere(o, "sentencepiece", OF_SENTENCEPIECE)
    if o.form not in ("characters", "sentencepiece"):
        _refuse_elsewhere(o, "characters", OF_BOTH)
    if o.form == "sentencepiece":
        if o.special_tokens:
            raise ValueError('special_tokens do not belong to form="sentencepiece"; use control_symbols and user_defined_symbols')
        _sentencepiece.complete(o)
        return o
    o.special_tokens = _options.special(o.special_tokens, o.unk_token)
    if o.form == "bytes" and (o.unk_token is not None or o.normalizer is not None or o.pre_tokenizer is not None):
        raise ValueError('form="bytes" has no unk_token, normalizer or pre_tokenizer: give a split pattern, or use "byte-level"')
    if o.form in ("bytes", "byte-level") and o.pre_tokenizer is None:
        o.split = _pattern(o.split)
    return o


def _refuse_elsewhere(o: SimpleNamespace, form: str, names: tuple[str, ...]) -> None:
    given = [name for name in names if getattr(o, name)]
    if o.form != form and given:
        raise ValueError(f'{given[0]} does not belong to form="{o.form}", but to form="{form}"')


def _pattern(split: Any) -> str:
    if split is None:
        return EVERYTHING
    if not isinstance(split, str):
        raise TypeError(f"split must be a pattern (a str) or None, not {type(split).__name__}")
    for pattern, family in known_patterns():
        if family == split:
            return pattern
    return split


def counted_by(o: SimpleNamespace) -> tuple[Record | None, Record | None]:
    """Return the pre-tokenizer and the normalizer by which pretokens are counted."""
    if o.form == "bytes":
        return Split(o.split), None
    if o.form == "sentencepiece":
        return _sentencepiece.blanks(o), o.normalizer
    return _pre_tokenizer(o), o.normalizer


def _pre_tokenizer(o: SimpleNamespace) -> Record:
    given: Record | None = o.pre_tokenizer
    if o.form == "characters":
        return given if given is not None else pretokenizers.WhitespaceSplit()
    spelled = pretokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    if given is None:
        if o.split == _pattern("gpt2"):
            return spelled.replace(use_regex=True)
        given = pretokenizers.Split(pretokenizers.Regex(o.split), "isolated")
    steps = given.steps if isinstance(given, pretokenizers.Sequence) else (given,)
    if steps and isinstance(steps[-1], pretokenizers.ByteLevel):
        return given
    return pretokenizers.Sequence([*steps, spelled])


def n_others(o: SimpleNamespace) -> int:
    """Return how many tokens of the vocabulary are not among those that merges are learned for."""
    if o.form == "bytes":
        return len(o.special_tokens)
    return len(_sentencepiece.head(o)) if o.form == "sentencepiece" else 0


def spec_of(o: SimpleNamespace, start: Start, learner: Joining) -> Spec:
    """Return what was learned as a specification."""
    if o.form == "sentencepiece":
        return _pieces(o, start, learner)
    tokens = TokenTable.from_dict({learner.token(number): number for number in range(learner.n_tokens)})
    if o.form == "bytes":
        added = [token.replace(id=learner.n_tokens + i) for i, token in enumerate(o.special_tokens)]
        return Spec(o.name, BPE(tokens), Split(o.split), added)
    merges, joined = _merges(learner)
    model = BPE(
        tokens,
        "merges",
        merges,
        unk_token=o.unk_token,
        continuing_subword_prefix=o.continuing_subword_prefix,
        end_of_word_suffix=o.end_of_word_suffix,
        joined=joined,
    )
    roles = {} if o.unk_token is None else {"unk": o.unk_token}
    pre_tokenizer = _pre_tokenizer(o)
    return Spec(o.name, model, pre_tokenizer, o.special_tokens, o.normalizer, decoder=_decoder(o, pre_tokenizer), roles=roles)


def _merges(learner: Joining) -> tuple[bytes, bytes]:
    """The merges as ids, and what each gives. Of a pair that was merged twice the later merge counts, as a reader of the list has it."""
    from array import array
    from sys import byteorder

    last: dict[tuple[int, int], int] = {}
    for left, right, number, _ in learner.merges():
        last.pop((left, right), None)
        last[left, right] = number
    pairs, joined = array("I", [number for pair in last for number in pair]), array("I", last.values())
    if byteorder != "little":
        pairs.byteswap()
        joined.byteswap()
    return pairs.tobytes(), joined.tobytes()


def _decoder(o: SimpleNamespace, pre_tokenizer: Record) -> Record | None:
    if o.form == "byte-level":
        return decoders.ByteLevel()
    if o.end_of_word_suffix:
        return decoders.BPEDecoder(o.end_of_word_suffix)
    if o.continuing_subword_prefix:
        return decoders.WordPiece(o.continuing_subword_prefix, False)
    return pre_tokenizer if isinstance(pre_tokenizer, pretokenizers.Metaspace) else None


def _pieces(o: SimpleNamespace, start: Start, learner: Joining) -> Spec:
    """A .model: special pieces, what merges gave in its order, then the characters, the most frequent first; scores fall by one each."""
    chars = sorted((text.decode() for text in start.tokens), key=lambda char: (-start.counts.get(char, 0), char))
    learned = [learner.token(number).decode() for number in range(len(start.tokens), learner.n_tokens)]
    return _sentencepiece.spec_of(o, [(text, -float(place)) for place, text in enumerate((*learned, *chars))], "bpe")
