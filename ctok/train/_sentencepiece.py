"""Trained pieces as the specification of a .model: special pieces at their ids, the stages around."""

from __future__ import annotations

from .._native.counting import CountTable
from ..spec import Spec
from ._alphabet import BLANK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import SimpleNamespace
    from typing import Any

    from ..spec import Record
    from .counts import Counts

__all__ = ["ALIASES", "BYTES", "DEFAULTS", "STYLES", "blanks", "complete", "cut_out", "cutter", "head", "spec_of", "style_defaults"]

STYLES = ("huggingface", "sentencepiece")
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
ROLES = ("unk", "bos", "eos", "pad")
DEFAULTS: dict[str, Any] = {
    "treat_whitespace_as_suffix": False,
    "split_by_whitespace": True,
    "allow_whitespace_only_pieces": False,
    "byte_fallback": False,
    "user_defined_symbols": (),
    "control_symbols": (),
    "unk_id": 0,
    "bos_id": 1,
    "eos_id": 2,
    "pad_id": -1,
    "bos_piece": "<s>",
    "eos_piece": "</s>",
    "pad_piece": "<pad>",
    "unk_surface": " \u2047 ",
    "normalization_rule_name": "nmt_nfkc",
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
}
ALIASES = {"unk_piece": "unk_token"}


def style_defaults(defaults: dict[str, Any], style: str) -> dict[str, Any]:
    """Return the defaults of a style: of a pair of values the first is Hugging Face's, the second sentencepiece's."""
    if style not in STYLES:
        raise ValueError(f"style must be one of {', '.join(STYLES)}, not {style!r}")
    index = STYLES.index(style)
    return {name: value[index] if type(value) is tuple and value else value for name, value in defaults.items()} | {"style": style}


def complete(o: SimpleNamespace) -> None:
    """Check the options of sentencepiece's style, and put in the normalizer."""
    from ..stagespecs.sentencepiece import Normalizer

    if o.special_tokens:
        raise ValueError("special_tokens belong to style='huggingface'; use control_symbols and user_defined_symbols")
    if o.pre_tokenizer is not None:
        raise ValueError("a .model has no pre-tokenizer; use style='huggingface'")
    if o.normalizer is not None and not isinstance(o.normalizer, Normalizer):
        raise TypeError(f"the normalizer of a .model is a stagespecs.sentencepiece.Normalizer, not {type(o.normalizer).__name__}")
    o.user_defined_symbols, o.control_symbols = tuple(o.user_defined_symbols), tuple(o.control_symbols)
    own = o.normalizer
    if own is None:
        from ..formats.charsmap import named

        name = o.normalization_rule_name
        own = Normalizer(named(name), o.add_dummy_prefix, o.remove_extra_whitespaces, name=name)
    o.normalizer = own.replace(treat_whitespace_as_suffix=o.treat_whitespace_as_suffix, user_defined=o.user_defined_symbols)
    head(o)


def blanks(o: SimpleNamespace) -> Record:
    """What cuts a text with escaped blanks into words, as the options say."""
    return cutter(o.split_by_whitespace, o.treat_whitespace_as_suffix, o.allow_whitespace_only_pieces)


def cutter(splits: bool, suffix: bool, runs: bool = False) -> Record:
    """The same; runs: several blanks stay together. Line ends belong to no word."""
    from ..stagespecs.pretokenizers import CharDelimiterSplit, Regex, Sequence, Split

    lines = CharDelimiterSplit("\n")
    if not splits:
        return lines
    if runs:
        word = f"[^{BLANK}]*{BLANK}+|[^{BLANK}]+" if suffix else f"{BLANK}+[^{BLANK}]*|[^{BLANK}]+"
        return Sequence([lines, Split(Regex(word), "isolated")])
    return Sequence([lines, Split(BLANK, "merged_with_previous" if suffix else "merged_with_next")])


def head(o: SimpleNamespace) -> list[tuple[str, int]]:
    """What comes before the learned pieces, as (text, type): pieces with ids of their own; control and user-defined ones in the places
    between and behind; bytes."""
    from ..stagespecs.sentencepiece import BYTE, CONTROL, USER_DEFINED

    placed = _with_ids(o)
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
    return listed + [(text, BYTE) for text in (BYTES if o.byte_fallback else ())]


def _with_ids(o: SimpleNamespace) -> dict[int, tuple[str, int]]:
    from ..stagespecs.sentencepiece import CONTROL, UNKNOWN

    texts = {"unk": o.unk_token or "<unk>", "bos": o.bos_piece, "eos": o.eos_piece, "pad": o.pad_piece}
    placed: dict[int, tuple[str, int]] = {}
    for role in ROLES:
        number = getattr(o, f"{role}_id")
        if number < 0 and role == "unk":
            raise ValueError("a .model has an unknown piece: unk_id cannot be negative")
        if number in placed:
            raise ValueError(f"{role}_id is {number}, which another piece has")
        if number >= 0:
            placed[number] = (texts[role], UNKNOWN if role == "unk" else CONTROL)
    return placed


def spec_of(o: SimpleNamespace, pieces: list[tuple[str, float]], kind: str) -> Spec:
    """Return the specification of special pieces and the learned ones, in this order."""
    from ..stagespecs.sentencepiece import NORMAL, Decoder, pieces_from_list

    listed = [*((text, 0.0, type_) for text, type_ in head(o)), *((text, score, NORMAL) for text, score in pieces)]
    ids: dict[str, Any] = {f"{role}_id": number if (number := getattr(o, f"{role}_id")) >= 0 else None for role in ROLES}
    model = pieces_from_list(
        listed, kind, byte_fallback=o.byte_fallback, treat_whitespace_as_suffix=o.treat_whitespace_as_suffix, **ids
    )
    n = o.normalizer
    decoder = Decoder(n.add_dummy_prefix, n.remove_extra_whitespaces, n.treat_whitespace_as_suffix, o.unk_surface)
    return Spec(o.name, model, None, (), n, decoder=decoder)


def cut_out(counts: Counts, o: SimpleNamespace, *, whole_words: bool = False) -> tuple[Counts, int]:
    """Return the counts of what stands between special pieces in the words, and how many of these there are: they are parts of no others.

    whole_words: words with such a piece inside are left out.
    """
    import re

    from .counts import of_table

    listed = sorted((text for text, _ in head(o)), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, listed)).encode())
    if pattern.search(counts.data) is None:
        return counts, 0
    table, n_special = CountTable(), 0
    for place, (word, count) in enumerate(counts):
        parts = pattern.split(word)
        n_special += count * (len(parts) - 1)
        for part in parts if len(parts) == 1 or not whole_words else ():
            if part:
                table.add(part, count, place)
    return of_table(table, counts.how, True), n_special
