"""Which characters a vocabulary must cover, and what they are to the rules of pieces."""

from __future__ import annotations

from .._native.cut import script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["BLANK", "character_classes", "covered"]

BLANK = "\u2581"
NEVER = frozenset("\0 \u2585")  # in no piece of a unigram model: what files, blanks and unknown characters are spelt with

_SPECIAL = "\t"  # what sentencepiece puts in the place of a special piece, and counts

_BLANK, _JOINS, _INHERITS, _ALONE, _SCRIPT = range(1, 6)


def covered(counts: Mapping[str, int], coverage: float, required: Iterable[str] = (), n_special: int = 0) -> list[str]:
    """Return the most frequent characters that together make up `coverage` of all, and the required ones, in the order of code points.

    Of characters that are equally frequent the lower code points come first. n_special: so many special pieces stood between them, which
    count as one character more.
    """
    found = dict(counts) | ({_SPECIAL: n_special + counts.get(_SPECIAL, 0)} if n_special else {})
    total, so_far = sum(found.values()), 0
    chosen = set(required)
    for char, count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        if so_far >= coverage * total and coverage < 1:
            break
        so_far += count
        if char in counts:
            chosen.add(char)
    return sorted(chosen)


def character_classes(
    chars: Iterable[str], *, split_by_unicode_script: bool, split_by_number: bool, split_digits: bool, blank: str = BLANK
) -> dict[str, int]:
    """Return what each character is to `ctok._native.stretches.Rules`. Those that are in no piece are left out.

    Hiragana, Katakana and Han are one script; digits are those of ASCII and their full-width forms, of a script of their own unless they
    do not split.
    """
    inherited = script("\u0300")
    classes = {}
    for char in chars:
        if char in NEVER:
            continue
        is_digit = "0" <= char <= "9" or "\uff10" <= char <= "\uff19"
        if char == blank:
            classes[char] = _BLANK
        elif is_digit and split_digits:
            classes[char] = _ALONE
        elif not split_by_unicode_script or (is_digit and not split_by_number):
            classes[char] = _JOINS
        else:
            number = script(char)
            classes[char] = _INHERITS if number in (0, inherited) else _SCRIPT + number
    return classes
