"""`Encoding`: what a text became. Ids and masks are there at once; places, tokens and words are worked out when first asked for."""

from __future__ import annotations

from ...encoding import Encoding as Whole
from ...encoding import merge, pad, truncate
from ...encoding._record import changed, numbers_of, restore
from ._checks import instance, number, one_id, sequence, side, text, warn_ignored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

    from ._draft import Draft

__all__ = ["Encoding", "whole_of"]


class Encoding:
    """The ids of one text or of two, and what belongs to each id.

    Made by `Tokenizer.encode`; made directly it is empty. Lists are made afresh at each access. Only `pad`, `truncate` and
    `set_sequence_id` change it.
    """

    __slots__ = ("__weakref__", "_draft", "_whole")
    _draft: Draft | None  # ids and masks, and how to work out the rest
    _whole: Whole | None

    def __init__(self) -> None:
        self._draft = None
        self._whole = merge(())

    @classmethod
    def of(cls, whole: Whole) -> Self:
        """Return the face of a `ctok` encoding."""
        self = object.__new__(cls)
        self._draft, self._whole = None, whole
        return self

    @classmethod
    def of_draft(cls, draft: Draft) -> Self:
        """Return the face of an encoding that is not worked out yet."""
        self = object.__new__(cls)
        self._draft, self._whole = draft, None
        return self

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Return the encodings one behind the other, as one.

        With `growing_offsets`, places go on from where the last id of the one before ends.
        """
        return Encoding.of(_merged([whole_of(instance(one, Encoding)) for one in sequence(encodings)], growing_offsets))

    # ---- what it says ----

    def __len__(self) -> int:
        draft = self._draft
        return len(whole_of(self) if draft is None else draft)

    @property
    def ids(self) -> list[int]:
        """The ids."""
        draft = self._draft
        return whole_of(self).ids if draft is None else draft.ids()

    @property
    def type_ids(self) -> list[int]:
        """The type id of each id."""
        draft = self._draft
        return whole_of(self).type_ids if draft is None else draft.type_ids()

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for all else."""
        draft = self._draft
        return whole_of(self).attention_mask if draft is None else draft.attention_mask()

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for what the post-processor or padding added, 0 for all else."""
        draft = self._draft
        return whole_of(self).special_tokens_mask if draft is None else draft.special_tokens_mask()

    @property
    def tokens(self) -> list[str]:
        """The token of each id."""
        return whole_of(self).tokens

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Which part of its text each id stands for, in characters; ``(0, 0)`` for what was added."""
        return whole_of(self).spans

    @property
    def word_ids(self) -> list[int | None]:
        """The word of its text in which each id lies, or None."""
        return whole_of(self).word_ids

    @property
    def words(self) -> list[int | None]:
        """The older name of `word_ids`."""
        from warnings import warn

        warn("Encoding.words is deprecated, please use Encoding.word_ids instead.", DeprecationWarning, stacklevel=2)
        return self.word_ids

    @property
    def sequence_ids(self) -> list[int | None]:
        """The text each id comes from: 0, 1 for the second of a pair, None for what was added."""
        return whole_of(self).sequence_ids

    @property
    def n_sequences(self) -> int:
        """How many texts are in it."""
        return self._draft.n_sequences if self._draft is not None else whole_of(self).n_sequences

    @property
    def overflowing(self) -> list[Encoding]:
        """What was cut off, in pieces of the same length."""
        draft = self._draft
        if draft is not None and not draft.overflows:
            return []
        return list(map(Encoding.of, whole_of(self).overflowing))

    # ---- look-ups ----

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the index of the id that holds a character of a text, or None."""
        return whole_of(self).char_to_token(number(char_pos), number(sequence_index))

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the word that holds a character of a text, or None."""
        return whole_of(self).char_to_word(number(char_pos), number(sequence_index))

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Return the place of the id at an index; None for what was added."""
        return whole_of(self).token_to_chars(number(token_index))

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the number of the text that the id at an index comes from, or None."""
        return whole_of(self).token_to_sequence(number(token_index))

    def token_to_word(self, token_index: int) -> int | None:
        """Return the word in which the id at an index lies, or None."""
        return whole_of(self).token_to_word(number(token_index))

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the place of a word, or None."""
        return whole_of(self).word_to_chars(one_id(word_index), number(sequence_index))

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the index of a word's first id and the one behind its last, or None."""
        return whole_of(self).word_to_tokens(one_id(word_index), number(sequence_index))

    # ---- what changes it ----

    def _become(self, whole: Whole) -> None:
        self._whole, self._draft = whole, None

    def pad(
        self,
        length: int,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        **kwargs: Any,
    ) -> None:
        """Fill up to a length, and so each overflowing piece."""
        warn_ignored(kwargs)
        options = (number(length), side(direction), one_id(pad_id), one_id(pad_type_id), text(pad_token))
        self._become(pad(whole_of(self), *options))

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Cut to a length; what is cut off becomes the overflowing pieces. `ValueError` if `stride` is not less than what remains."""
        if text(direction) not in ("left", "right"):
            raise ValueError(f"Invalid truncation direction value : {direction}")
        self._become(truncate(whole_of(self), number(max_length), number(stride), direction))

    def set_sequence_id(self, sequence_id: int) -> None:
        """Let all of it be the text of a number."""
        whole = whole_of(self)
        self._become(changed(whole, ranges={**whole._ranges, number(sequence_id): (0, len(whole))}))

    # ---- as a value ----

    def __repr__(self) -> str:
        attributes = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing"
        return f"Encoding(num_tokens={len(self)}, attributes=[{attributes}])"

    def __getstate__(self) -> bytes:
        from json import dumps

        return dumps(_fields(whole_of(self)), ensure_ascii=False, separators=(",", ":")).encode()

    def __setstate__(self, state: bytes) -> None:
        from json import loads

        self._become(_restored(loads(state)))

    def __copy__(self) -> Encoding:
        new = object.__new__(Encoding)
        new._draft, new._whole = self._draft, self._whole
        return new

    def __deepcopy__(self, memo: object) -> Encoding:
        return self.__copy__()  # both parts are immutable


def whole_of(encoding: Encoding) -> Whole:
    """Return the `ctok` encoding behind one, worked out if it was not yet."""
    whole = encoding._whole
    if whole is None:
        draft = encoding._draft
        if draft is None:  # another thread was faster
            return encoding._whole  # type: ignore[return-value]
        encoding._whole = whole = draft.whole()
        encoding._draft = None
    return whole


def _merged(encodings: list[Whole], growing: bool) -> Whole:
    """One behind the other. The places of each go on from where the last id of those before ends, added ids included."""
    if not growing or not encodings:
        return merge(encodings)
    merged = encodings[0]
    for encoding in encodings[1:]:
        merged = _joined(merged, encoding)
    return merged


def _joined(left: Whole, right: Whole) -> Whole:
    """Two in one, and of what they cut off all combinations."""
    by = left.column("ends")[-1] if len(left) else 0
    joined = merge((changed(left, overflowing=()), _moved(changed(right, overflowing=()), by)))
    if not left.overflowing and not right.overflowing:
        return joined
    pieces = []
    for one in left.overflowing:
        pieces += [_joined(one, other) for other in (right, *right.overflowing)]
    pieces += [_joined(left, other) for other in right.overflowing]
    return changed(joined, overflowing=tuple(pieces))


def _moved(encoding: Whole, by: int) -> Whole:
    from array import array

    if not by:
        return encoding
    starts, ends = (numbers_of(array("I", [place + by for place in encoding.column(name)])) for name in ("starts", "ends"))
    return changed(encoding, starts=starts, ends=ends)


# ---- as JSON ----


def _fields(whole: Whole) -> dict[str, Any]:
    return {
        "ids": whole.ids,
        "type_ids": whole.type_ids,
        "tokens": whole.tokens,
        "words": whole.word_ids,
        "offsets": whole.spans,
        "special_tokens_mask": whole.special_tokens_mask,
        "attention_mask": whole.attention_mask,
        "overflowing": list(map(_fields, whole.overflowing)),
        "sequence_ranges": {str(name): {"start": start, "end": stop} for name, (start, stop) in sorted(whole._ranges.items())},
    }


def _restored(fields: dict[str, Any]) -> Whole:
    from array import array

    from ...encoding import NO_WORD

    starts, ends = ([place[k] for place in fields["offsets"]] for k in (0, 1))
    words = [NO_WORD if word is None else word for word in fields["words"]]
    numbers = [array("I", column).tobytes() for column in (fields["ids"], fields["type_ids"], starts, ends, words)]
    flags = [bytes(fields[name]) for name in ("attention_mask", "special_tokens_mask")]
    ranges = {int(name): (part["start"], part["end"]) for name, part in fields["sequence_ranges"].items()}
    overflowing = tuple(map(_restored, fields["overflowing"]))
    return restore([*numbers, *flags], dict(enumerate(fields["tokens"])), ranges, overflowing, "char")
