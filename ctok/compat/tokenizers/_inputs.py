"""What `Tokenizer.encode` and its like are given, checked as in the reference."""

from __future__ import annotations

from ._checks import flag, sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Words: TypeAlias = "list[str]"
    Input: TypeAlias = "str | Words"  # a text, or one that comes in words
    Pair: TypeAlias = "tuple[Input, Input | None]"

__all__ = ["NOT_INPUT", "NOT_TEXT", "NOT_WORDS", "as_pairs", "as_text", "as_words"]

NOT_TEXT = "TextInputSequence must be str"
NOT_INPUT = "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]"
NOT_WORDS = "PreTokenizedInputSequence must be Union[List[str], Tuple[str]]"
_NOT_INPUT_OF_WORDS = (
    "PreTokenizedEncodeInput must be Union[PreTokenizedInputSequence, Tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]]"
)


def as_text(value: object) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise TypeError(NOT_TEXT)
    return value


def as_words(value: object) -> list[str]:
    """Return a text that comes in words: a list, a tuple or an array of str."""
    if _is_array(value):
        value = value.tolist()  # type: ignore[attr-defined]
    if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) for word in value):
        raise TypeError(NOT_WORDS)
    return list(value)


def as_pairs(given: object, is_pretokenized: object) -> list[Pair]:
    """Return a batch: a text and None, or a text and a second one, for each item."""
    make = _pair_of_words if flag(is_pretokenized) else _pair_of_texts
    return list(map(make, sequence(given)))


def _is_array(value: object) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "tolist")


def _pair_of_texts(item: Any) -> Pair:
    if isinstance(item, str):
        return item, None
    if _is_array(item):
        item = item.tolist()
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        raise TypeError(NOT_INPUT)
    return as_text(item[0]), as_text(item[1])


def _pair_of_words(item: Any) -> Pair:
    try:
        return as_words(item), None
    except TypeError:
        pass
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        raise TypeError(_NOT_INPUT_OF_WORDS)
    return as_words(item[0]), as_words(item[1])
