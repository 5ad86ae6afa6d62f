"""From byte pairs by a list of merges to byte pairs by rank, where the two say the same.

They do if (1) every token's last merge by rank is in the list, (2) what merges give has ids that never fall along the list, and (3) a
token that merging does not give is matched whole (`ignore_merges`). Then at each step the list chooses what ranks choose: the pair of
lowest rank is in the list, and nothing before it in the list can be there, since it would give a token of a lower id, or the same token by
another pair, which merging by rank never leaves side by side.
"""

from __future__ import annotations

from itertools import pairwise

from .._native.split import known_patterns
from ..errors import PatternError, SpecError
from ..spec import BPE, AddedToken, Spec, Split, TokenTable
from ..stages._pattern.fused import fused
from ..stages._pattern.oniguruma import translate
from ..stages.cutters import flat
from ..stages.postprocessors import build_post_processor
from ..stagespecs import decoders, normalizers, pretokenizers
from ..stagespecs.spelling import unspell
from . import Conversion
from ._merges import SPELLINGS, last_merges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ..spec import Record

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def told_by_reader(spec: Spec) -> list[str]:
    """Return what a rank file never says."""
    unsaid = []
    if isinstance(spec.pre_tokenizer, Split):
        unsaid.append(f"the split pattern: {spec.pre_tokenizer.pattern}")
    if spec.added_tokens:
        pairs = [
            f"{token.content}={token.id}" if token == AddedToken(token.content, token.id) else repr(token)
            for token in spec.added_tokens[:8]
        ]
        rest = len(spec.added_tokens) - len(pairs)
        unsaid.append(f"the added tokens: {' '.join(pairs)}" + (f" and {rest} more" if rest else ""))
    return unsaid + limits(spec)


def shown(value: object) -> str:
    """Return a value as a message shows it; what is long is cut."""
    if value is None:
        return "none"
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def limits(spec: Spec) -> list[str]:
    """Return what has no part in ids and is kept by few formats."""
    return [f"the {part}: {getattr(spec, part)!r}" for part in ("truncation", "padding") if getattr(spec, part) is not None]


def as_ranks(spec: Spec) -> Conversion:
    """Return a byte-level specification with a list of merges as one by rank."""
    model = spec.model
    if not isinstance(model, BPE):
        raise SpecError(f"a rank file cannot say {spec.name!r}: its model is {type(model).__name__}, not byte-pair encoding")
    steps = [] if spec.pre_tokenizer is None else flat(spec.pre_tokenizer)
    if not steps or not isinstance(steps[-1], pretokenizers.ByteLevel):
        raise SpecError(f"a rank file cannot say {spec.name!r}: its tokens are texts, not bytes (no ByteLevel pre-tokenizer)")
    tokens = _bytes_of(spec)
    _refuse_other_merges(spec, tokens)
    lost = _lost(spec)
    told = spec.replace(
        model=BPE(tokens),
        pre_tokenizer=Split(_pattern(spec, steps, lost)),
        normalizer=None,
        post_processor=None,
        decoder=None,
        truncation=None,
        padding=None,
        document=None,
    )
    return Conversion(told, lost, told_by_reader(told) + limits(spec))


def _lost(spec: Spec) -> list[str]:
    """What stages do that a rank file has no words for."""
    lost = []
    if spec.normalizer is not None and spec.normalizer != normalizers.Sequence([]):
        lost.append(f"the normalizer {shown(spec.normalizer)}")
    before, behind = build_post_processor(spec.post_processor).around()
    if before or behind:
        lost.append(f"the post-processor {type(spec.post_processor).__name__}, which puts ids {[*before, *behind]} around a text")
    if not isinstance(spec.decoder, decoders.ByteLevel):
        lost.append(f"the decoder {shown(spec.decoder)}")
    if spec.model.dropout:
        lost.append(f"the model's dropout {spec.model.dropout}")
    return lost


# ---- the split pattern ----


def _pattern(spec: Spec, steps: list[Record], lost: list[str]) -> str:
    """Return the split pattern that pre-tokenizers are; what it leaves out is added to `lost`."""
    *before, last = steps
    if last.add_prefix_space:  # type: ignore[attr-defined]  # a ByteLevel
        lost.append("the blank that ByteLevel puts before a text (add_prefix_space)")
    if last.use_regex and not before:  # type: ignore[attr-defined]
        return GPT2
    splits = [step for step in before if isinstance(step, pretokenizers.Split) and isinstance(step.pattern, pretokenizers.Regex)]
    isolated = len(splits) == len(before) and all(step.behavior == "isolated" and not step.invert for step in splits)
    texts = tuple(step.pattern.text for step in splits)
    try:
        if not last.use_regex and isolated:  # type: ignore[attr-defined]
            one = _total(texts)
            if one is not None:
                return one
        if not last.use_regex and len(before) == len(splits) == 1:  # type: ignore[attr-defined]
            (step,) = splits
            if step.behavior == "removed" and step.invert:
                return translate(step.pattern.text)
    except PatternError as error:
        raise SpecError(f"a rank file cannot say the pre-tokenizer of {spec.name!r}: {error}") from error
    _refuse(spec, f"no single split pattern does what its pre-tokenizer does: {shown(spec.pre_tokenizer)}")


def _total(texts: tuple[str, ...]) -> str | None:
    """Return the pattern that is all of these, each isolating its matches, if it is one that leaves nothing out; else None."""
    families = dict(known_patterns())
    if len(texts) > 1:
        one = fused(texts)
    else:
        one = next((known for known, family in families.items() if [SPELLINGS.get(family)] == [*texts]), None)
        one = translate(texts[0]) if one is None and texts else one
    return one if one in families else None


# ---- tokens and merges ----


def _bytes_of(spec: Spec) -> TokenTable:
    """Return the vocabulary as bytes, without what is an added token."""
    model = spec.model
    added = {token.content for token in spec.added_tokens}
    for option in ("continuing_subword_prefix", "end_of_word_suffix"):
        if getattr(model, option):
            _refuse(spec, f"its model has {option} {getattr(model, option)!r}")
    tokens = {}
    for raw, number in model.tokens:
        text = raw.decode()
        if text in added:
            continue
        token = unspell(text)
        if token is None:
            _refuse(spec, f"its token {text!r} does not spell bytes")
        tokens[token] = number
    missing = [byte for byte in range(256) if bytes([byte]) not in tokens]
    if missing:
        _refuse(spec, f"{len(missing)} bytes have no token (0x{missing[0]:02x}, ...)")
    try:
        return TokenTable.from_dict(tokens)
    except ValueError as error:
        _refuse(spec, str(error))


def _refuse_other_merges(spec: Spec, tokens: TokenTable) -> None:
    from struct import iter_unpack

    texts = {number: unspell(raw.decode()) for raw, number in spec.model.tokens}
    ids = dict(tokens)
    listed: dict[tuple[bytes, bytes], int] = {}
    for left, right in iter_unpack("<2I", spec.model.merges):
        pair = (texts[left] or b"", texts[right] or b"")
        number = ids.get(pair[0] + pair[1])
        if number is None or pair in listed:
            _refuse(spec, f"its merge {pair} is there twice, or gives no token")
        listed[pair] = number
    for (one, a), (two, b) in pairwise(listed.items()):
        if b < a:
            _refuse(spec, f"its merges are not in the order of the ids: {one} gives {a}, and {two} behind it {b}")
    by_rank = last_merges(tokens)
    for token, pair in by_rank.items():
        if pair not in listed:
            _refuse(spec, f"by rank {token!r} would be made of {pair}, which is none of its merges")
    alone = next((token for token in ids if len(token) > 1 and token not in by_rank), None)
    if alone is not None and not spec.model.ignore_merges:
        _refuse(spec, f"its token {alone!r} is never made by merging, but would be found as a whole pretoken")


def _refuse(spec: Spec, what: str) -> NoReturn:
    raise SpecError(f"a rank file cannot say {spec.name!r}: {what}")
