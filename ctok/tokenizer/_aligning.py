"""Encodings: ids with their places, words and masks, behind `Tokenizer.encoding`.

Encoding with places is slower than encoding: each stage is asked where its text comes from.
"""

from __future__ import annotations

from array import array
from itertools import accumulate

from .._native.align import align
from .._native.pipeline import utf8_of
from ..encoding import Encoding, pad_all
from ..stages.encodings import encoding_of_text, encoding_of_words
from ..stages.postprocessors import PostProcessor, build_post_processor
from ..stagespecs.limits import Padding, Truncation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any, TypeAlias

    from .._native.pipeline import Text
    from ._lookups import LookUps

    Words: TypeAlias = "Sequence[str]"
    Input: TypeAlias = "Text | Words"
    Aligned: TypeAlias = "tuple[Any, ...]"
    Normalize: TypeAlias = "Callable[[str], str]"

__all__ = ["Aligner", "padding_of", "truncation_of"]


def truncation_of(truncation: Truncation | int | None) -> Truncation | None:
    """Return the record of an option: an int is the length."""
    return Truncation(truncation) if isinstance(truncation, int) and not isinstance(truncation, bool) else _checked(truncation, Truncation)


def padding_of(padding: Padding | int | bool | None, pad_id: int | None, pad_token: str | None) -> Padding | None:
    """Return the record of an option: an int is the length, True as long as the longest; the id is the tokenizer's where it has one."""
    if padding is None or padding is False:
        return None
    if isinstance(padding, int):
        length = None if padding is True else padding
        return Padding(length, pad_id=pad_id or 0, pad_token=pad_token or "[PAD]")
    found: Padding | None = _checked(padding, Padding)
    return found


def _checked(value: Any, kind: type) -> Any:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{kind.__name__.lower()} must be a {kind.__name__} record, an int or None, not {type(value).__name__}")
    return value


class Aligner:
    """Makes the encodings of one tokenizer. Immutable; made when the first encoding is asked for.

    With `as_reference` spans are what the `tokenizers` library says also where that is not what a token was made from: where a normalizer
    made one character of several, and behind characters that a model without unknown token drops.
    """

    def __init__(self, tokenizer: LookUps, as_reference: bool = False) -> None:
        self.tokenizer = tokenizer
        self.as_reference = as_reference
        self.post: PostProcessor = build_post_processor(tokenizer.spec.post_processor)
        normalizer = tokenizer.flow.normalizer if tokenizer.flow is not None else None
        self.added: Mapping[int, Normalize | None] = {
            token.id: normalizer.normalize if token.normalized and normalizer is not None else None for token in tokenizer.spec.added_tokens
        }

    def encoding(
        self,
        text: Input,
        pair: Input | None,
        is_pretokenized: bool,
        add_special_tokens: bool,
        truncation: Truncation | None,
        padding: Padding | None,
        unit: str,
        options: tuple[Collection[str], Collection[str], str],
    ) -> Encoding:
        first = self.sequence(text, is_pretokenized, unit, 0, options)
        second = None if pair is None else self.sequence(pair, is_pretokenized, unit, 1, options)
        found = self.post.encode(first, second, add_special_tokens, truncation)
        return found if padding is None else pad_all([found], padding)[0]

    def sequence(
        self, text: Input, is_pretokenized: bool, unit: str, type_id: int, options: tuple[Collection[str], Collection[str], str]
    ) -> Encoding:
        """The encoding of one text by itself, to which nothing has been added yet."""
        if is_pretokenized:
            if isinstance(text, (str, bytes)):
                raise TypeError(f"a pretokenized text is a sequence of words, not {type(text).__name__}")
            words = [(utf8_of(self.tokenizer, word, options[2]), word) for word in text]
            parts = [(raw, self.align(raw, options, word)) for raw, word in words]
            return encoding_of_words(parts, token=self.token, added=self.added, unit=unit, type_id=type_id)
        raw = utf8_of(self.tokenizer, text, options[2])
        return encoding_of_text(raw, self.align(raw, options, text), token=self.token, added=self.added, unit=unit, type_id=type_id)

    def align(self, raw: bytes, options: tuple[Collection[str], Collection[str], str], given: Any) -> Aligned:
        original = given if isinstance(given, str) else raw
        if self.tokenizer.flow is not None:
            return align(self.tokenizer, raw, options[0], options[1], original=original, as_reference=self.as_reference)
        return _align_plain(self.tokenizer, raw, original, options, self.added)

    def token(self, token_id: int) -> str:
        """How the file spells a token."""
        return self.tokenizer.id_to_token(token_id)


def _align_plain(
    tokenizer: LookUps, raw: bytes, original: Text, options: tuple[Collection[str], Collection[str], str], added: Collection[int]
) -> Aligned:
    """Of a split rule and byte pairs: the tokens' bytes are the text's, but for what the rule drops."""
    ids = tokenizer.encode(original, allowed_special=options[0], disallowed_special=options[1], errors=options[2])
    tokens = list(map(tokenizer.vocab.token, ids))
    stops = list(accumulate(map(len, tokens)))
    starts = [0, *stops[:-1]] if stops else []
    if stops and stops[-1] != len(raw):
        starts, stops = _found(tokens, raw)
    begins = _word_starts(tokenizer, raw, [(starts[i], stops[i]) for i, token_id in enumerate(ids) if token_id in added])
    words = accumulate([start in begins for start in starts], initial=-1)
    next(words)
    return array("I", ids), array("I", starts), array("I", stops), array("I", words)


def _found(tokens: list[bytes], raw: bytes) -> tuple[list[int], list[int]]:
    """Where the tokens begin and end, one behind the other, with gaps."""
    starts, stops, at = [], [], 0
    for token in tokens:
        at = raw.index(token, at)
        starts.append(at)
        at += len(token)
        stops.append(at)
    return starts, stops


def _word_starts(tokenizer: LookUps, raw: bytes, added: list[tuple[int, int]]) -> set[int]:
    """Where pretokens and added tokens begin."""
    begins = {start for start, _ in added}
    at = 0
    for start, stop in [*added, (len(raw), len(raw))]:
        part = raw[at:start]
        if tokenizer.splitter is not None:
            begins.update(at + begin for begin, _ in tokenizer.splitter.spans(part)[0])
        elif tokenizer.fallback is not None:
            text = part.decode()
            begins.update(at + len(text[:begin].encode()) for begin, _ in tokenizer.fallback.pieces(text))
        at = stop
    return begins
