"""From the stages of a tokenizer.json to a SentencePiece model.

Byte pairs by a list of merges become pieces with scores where the two say the same. They do if (1) each piece's last merge by score is in
the list, and a piece that no merge gives cannot be made by score either, and (2) the merges that give one piece stand together, so that its
place in the list can be its score; `_ranks` has the argument. Runs of one character, whose merges stand mixed at one place, get one score
if the list cuts runs of all lengths as that does.

What the normalizer and the pre-tokenizer do is looked for among what SentencePiece does, and then tried on texts (`_same_ids`).
"""

from __future__ import annotations

from ..errors import SpecError
from ..spec import BPE, Record, Spec
from ..stages.postprocessors import build_post_processor
from ..stagespecs import normalizers, pretokenizers
from ..stagespecs.models import Unigram
from ..stagespecs.patterns import Regex, String
from ..stagespecs.sentencepiece import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, Decoder, Normalizer, Pieces, pieces_from_list
from . import Conversion
from ._ranks import limits, shown
from ._runs import last_merge, runs_by_list, runs_by_score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

__all__ = ["as_pieces"]

BLANK = "\u2581"
_BYTES = {f"<0x{byte:02X}>" for byte in range(256)}


def as_pieces(spec: Spec) -> Conversion:
    """Return a specification with the stages of a tokenizer.json as a SentencePiece model.

    Raises
    ------
    SpecError
        It has a stage that SentencePiece has not, or a model that scores cannot say; the message names it.
    """
    from ._same_ids import differences

    model = spec.model
    if not (isinstance(model, Unigram) or (isinstance(model, BPE) and model.mode == "merges")):
        _refuse(spec, f"its model is {shown(model)}, not Unigram or byte-pair encoding by a list of merges")
    normalizer = _normalizer(spec)
    texts = _texts(spec)
    types = _types(spec, texts)
    symbols = [text for text, type_ in zip(texts, types, strict=True) if type_ == USER_DEFINED]
    normalizer = normalizer.replace(user_defined=symbols)
    pieces = _unigram(spec, texts, types) if isinstance(model, Unigram) else _by_score(spec, texts, types)
    told = Spec(
        spec.name,
        pieces,
        None,
        normalizer=normalizer,
        decoder=Decoder(normalizer.add_dummy_prefix, normalizer.remove_extra_whitespaces),
        source=spec.source,
        roles=spec.roles,
    )
    lost = [f"the added token {shown(symbol)}, which is found before a text is normalised" for symbol in symbols[:1]]
    before, behind = build_post_processor(spec.post_processor).around()
    if before or behind:
        lost.append(f"the post-processor {type(spec.post_processor).__name__}, which puts ids {[*before, *behind]} around a text")
    return Conversion(told, lost if symbols else lost + differences(spec, told), limits(spec))


# ---- normalizer and pre-tokenizer ----

_ENDS = (rf"\A +|[ {BLANK}]+\z", r"\A +| +\z")


def _normalizer(spec: Spec) -> Normalizer:
    said: dict[str, Any] = {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "escape_whitespaces": False}
    for index, step in enumerate(_flat(spec.normalizer)):
        if isinstance(step, normalizers.Precompiled) and index == 0:
            said["charsmap"] = step.charsmap
        elif isinstance(step, normalizers.Strip) or (isinstance(step, normalizers.Replace) and _is_removal(step)):
            said["remove_extra_whitespaces"] = True
        elif isinstance(step, normalizers.Prepend) and step.prepend in (BLANK, " "):
            said["add_dummy_prefix"] = True
        elif isinstance(step, normalizers.Replace) and (step.pattern, step.content) == (String(" "), BLANK):
            said["escape_whitespaces"] = True
        else:
            _refuse(spec, f"SentencePiece has no normalizer {shown(step)}")
    for step in _flat(spec.pre_tokenizer):
        if isinstance(step, pretokenizers.Metaspace) and step.replacement == BLANK:
            said["escape_whitespaces"] = True
            said["add_dummy_prefix"] |= step.prepend_scheme != "never"
        elif isinstance(step, pretokenizers.WhitespaceSplit):
            said["remove_extra_whitespaces"] = True
        else:
            _refuse(spec, f"SentencePiece has no pre-tokenizer {shown(step)}")
    return Normalizer(**said)


def _is_removal(step: normalizers.Replace) -> bool:
    """Whether a replacement takes blanks away: at the ends, or of several all but one."""
    if not isinstance(step.pattern, Regex):
        return False
    return (step.pattern.text in _ENDS and step.content == "") or (step.pattern.text == " {2,}" and step.content in (" ", BLANK))


def _flat(record: Record | None) -> Iterator[Record]:
    steps = getattr(record, "steps", None)
    if steps is not None:
        for step in steps:
            yield from _flat(step)
    elif record is not None:
        yield record


# ---- pieces ----


def _texts(spec: Spec) -> list[str]:
    """The texts of all pieces by id."""
    texts: dict[int, str] = {}
    for number, text in [(number, token.decode()) for token, number in spec.model.tokens] + [
        (token.id, token.content) for token in spec.added_tokens
    ]:
        if texts.setdefault(number, text) != text:
            _refuse(spec, f"its tokens {texts[number]!r} and {text!r} have the same id {number}")
    gap = next((number for number in range(len(texts)) if number not in texts), None)
    if gap is not None:
        _refuse(spec, f"there is no token with the id {gap}; the pieces of a model are numbered without a gap")
    listed = [texts[number] for number in range(len(texts))]
    if len(set(listed)) < len(listed):
        double = next(text for text in listed if listed.count(text) > 1)
        _refuse(spec, f"the token {double!r} has two ids")
    if "" in listed:
        _refuse(spec, f"the token with the id {listed.index('')} is empty")
    return listed


def _types(spec: Spec, texts: list[str]) -> list[int]:
    model = spec.model
    unknown = model.unk_token if isinstance(model, BPE) else None if model.unk_id is None else texts[model.unk_id]
    added = {token.content: CONTROL if token.special else USER_DEFINED for token in spec.added_tokens}
    if model.byte_fallback:
        if not _BYTES <= set(texts):
            _refuse(spec, "its model has byte_fallback, but not all of <0x00> to <0xFF> are in the vocabulary")
        added |= dict.fromkeys(_BYTES, BYTE)
    if unknown is None or unknown not in texts:
        if unknown is not None or not model.byte_fallback or "<unk>" in texts:
            _refuse(spec, "it has no unknown token, which a SentencePiece model must have")
        texts.append(unknown := "<unk>")  # never given: all bytes are there
    types = [added.get(text, NORMAL) for text in texts]
    types[texts.index(unknown)] = UNKNOWN
    return types


def _made(spec: Spec, texts: list[str], scores: list[float], types: list[int], kind: str) -> Pieces:
    controls = {text: number for number, (text, type_) in enumerate(zip(texts, types, strict=True)) if type_ == CONTROL}
    names = {"bos": "<s>", "eos": "</s>", "pad": "<pad>"} | dict(spec.roles)
    roles = {f"{role}_id": controls.get(names[role]) for role in ("bos", "eos", "pad")}
    return pieces_from_list(zip(texts, scores, types, strict=True), kind, byte_fallback=spec.model.byte_fallback, **roles)


def _unigram(spec: Spec, texts: list[str], types: list[int]) -> Pieces:
    from struct import unpack

    model = spec.model
    scores = [*unpack(f"<{len(model.tokens)}d", model.scores)]
    scores += [0.0] * (len(texts) - len(scores))
    worst = next((score for score in scores if not abs(score) < 3.4e38), None)
    if worst is not None:
        _refuse(spec, f"the score {worst} does not fit into single precision")
    return _made(spec, texts, scores, types, "unigram")


def _by_score(spec: Spec, texts: list[str], types: list[int]) -> Pieces:
    model = spec.model
    for option, good in (("dropout", not model.dropout), ("continuing_subword_prefix", not model.continuing_subword_prefix),
                         ("end_of_word_suffix", not model.end_of_word_suffix), ("ignore_merges", not model.ignore_merges),
                         ("fuse_unk", model.fuse_unk or model.byte_fallback)):  # fmt: skip
        if not good:
            _refuse(spec, f"its model has {option} {getattr(model, option)!r}")
    alone = next((text for text, type_ in zip(texts, types, strict=True) if len(text) == 1 and type_ in (CONTROL, UNKNOWN)), None)
    if alone is not None:
        _refuse(spec, f"its special token {alone!r} is one character, which its model gives for that character")
    merges = _merges(spec, texts, types)
    scores, mixed = _scores(spec, merges)
    _refuse_other_merges(spec, {text for text, type_ in zip(texts, types, strict=True) if type_ == NORMAL}, merges, scores, mixed)
    lowest = -float(len(merges) + 1)
    listed = [scores.get(text, lowest) if type_ == NORMAL else 0.0 for text, type_ in zip(texts, types, strict=True)]
    return _made(spec, texts, listed, types, "bpe")


def _merges(spec: Spec, texts: list[str], types: list[int]) -> dict[tuple[str, str], int]:
    """Pair -> place in the list."""
    from struct import iter_unpack

    merges: dict[tuple[str, str], int] = {}
    normal = {text for text, type_ in zip(texts, types, strict=True) if type_ == NORMAL}
    for left, right in iter_unpack("<2I", spec.model.merges):
        pair = (texts[left], texts[right])
        if not {*pair, pair[0] + pair[1]} <= normal:
            _refuse(spec, f"its merge {pair} takes or gives a token that is special, or a byte")
        merges.setdefault(pair, len(merges))
    return merges


def _scores(spec: Spec, merges: dict[tuple[str, str], int]) -> tuple[dict[str, float], set[str]]:
    """The score of each piece that a merge gives, minus its place, counted in groups of merges that stand mixed; and pieces of these."""
    spans: dict[str, list[int]] = {}
    for (left, right), place in merges.items():
        spans.setdefault(left + right, [place, place])[1] = place
    _join_runs(spans)
    groups: list[list[str]] = []
    end = -1
    for text, (first, last) in sorted(spans.items(), key=lambda item: item[1][0]):
        if first > end:
            groups.append([])
        groups[-1].append(text)
        end = max(end, last)
    mixed = [group for group in groups if len(group) > 1]
    for group in mixed:
        _refuse_mixed(spec, group, merges, spans)
    return {text: -float(place) for place, group in enumerate(groups) for text in group}, {text for group in mixed for text in group}


def _join_runs(spans: dict[str, list[int]]) -> None:
    """Give all runs of a character the span of them all, where the spans of some cross."""
    from itertools import pairwise

    runs: dict[str, list[list[int]]] = {}
    for text, span in spans.items():
        if len(set(text)) == 1:
            runs.setdefault(text[0], []).append(span)
    for found in runs.values():
        if any(second[0] < first[1] for first, second in pairwise(sorted(found))):
            whole = [min(first for first, _ in found), max(last for _, last in found)]
            for span in found:
                span[:] = whole


def _refuse_mixed(spec: Spec, group: list[str], merges: dict[tuple[str, str], int], spans: dict[str, list[int]]) -> None:
    one = group[0][0]
    if any(text.strip(one) for text in group) or any(2 * one in text for text in spans.keys() - set(group)):
        _refuse(spec, f"its merges that give {group[0]!r} and {group[1]!r} stand mixed, which one score for each cannot say")
    known = {len(text) for text in group}
    own = {(len(left), len(right)): place for (left, right), place in merges.items() if left + right in set(group)}
    for n in range(4 * max(known) + 1):
        if runs_by_list(n, own) != runs_by_score(n, known):
            _refuse(spec, f"a run of {n} {one!r} is cut otherwise by its merges than by scores")


def _refuse_other_merges(
    spec: Spec, normal: set[str], merges: dict[tuple[str, str], int], scores: dict[str, float], mixed: set[str]
) -> None:
    ranks = {text: -scores[text] if text in scores else float("inf") for text in normal}
    for text in sorted(normal - mixed):
        pair = last_merge(text, ranks) if len(text) > 1 else None
        if pair is not None and pair not in merges:
            _refuse(spec, f"by score its token {text!r} would be made of {pair}, which is none of its merges")


def _refuse(spec: Spec, what: str) -> NoReturn:
    raise SpecError(f"a SentencePiece model cannot say {spec.name!r}: {what}")
