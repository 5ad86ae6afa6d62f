"""What a byte-pair trainer starts from: the first tokens, which symbol has which id, and what may not be joined."""

from __future__ import annotations

from .._native.cells import characters, places
from ..errors import TrainingError
from ..stagespecs.spelling import spell
from ._alphabet import BLANK, character_classes, covered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import SimpleNamespace
    from typing import Any

    from .counts import Counts

__all__ = ["LETTERS", "Start", "start_of"]

LETTERS = tuple(spell(bytes([byte])) for byte in range(256))
# From the classes of `_alphabet` to those of the kernel: what joins with all, is as its neighbour, stands alone; scripts.
_CLASSES = {2: 0, 3: 254, 4: 255}
# (blanks part words, blanks end them) -> the kernel's class of blanks.
_BLANKS = {(True, False): 253, (True, True): 252, (False, False): 251, (False, True): 250}


class Start:
    """The beginning of a vocabulary.

    Attributes
    ----------
    tokens
        The texts of the first tokens, by id.
    ids
        What `ctok._native.cells.Cells` takes.
    classes
        What `ctok._native.learn.Learner` takes.
    counts
        How often each character occurs, where that matters later.
    """

    def __init__(self, tokens: list[bytes], ids: Any, classes: bytes, counts: dict[str, int]) -> None:
        self.tokens, self.ids, self.classes, self.counts = tokens, ids, classes, counts


def start_of(o: SimpleNamespace, counts: Counts, n_special: int = 0) -> Start:
    """Return the first tokens for the options and the words of a corpus, between which so many special pieces stood.

    Raises
    ------
    TrainingError
        There are no characters to begin with.
    """
    if o.form == "bytes":
        return Start([bytes([byte]) for byte in range(256)], list(range(256)), bytes(256), {})
    if o.form == "byte-level":
        return _byte_level(o, counts)
    return _characters(o, counts, n_special)


def _byte_level(o: SimpleNamespace, counts: Counts) -> Start:
    """Special tokens, then bytes in the order of the letters that spell them: all, or those that occur."""
    if o.initial_alphabet is None:
        present = set(LETTERS)
    else:
        present = {LETTERS[byte] for byte in set(counts.data)} | set(o.initial_alphabet)
        if not present <= set(LETTERS):
            raise ValueError(f"initial_alphabet holds {min(present - set(LETTERS))!r}, which spells no byte")
    numbers = {token.content: token.id for token in o.special_tokens}
    for letter in sorted(present):
        numbers.setdefault(letter, len(numbers))
    tokens = [text.encode() for text in numbers]
    return Start(tokens, [numbers.get(letter, _NOT) for letter in LETTERS], bytes(len(tokens)), {})


_NOT = 2**32 - 1


def _characters(o: SimpleNamespace, counts: Counts, n_special: int) -> Start:
    found = {chr(code): count for code, count in characters(counts.data, counts.ends, counts.counts).items()}
    if not found:
        raise TrainingError("the corpus holds no text to learn from")
    alphabet = _alphabet(o, found, n_special)
    classes = character_classes(
        alphabet,
        split_by_unicode_script=o.split_by_unicode_script,
        split_by_number=o.split_by_number,
        split_digits=o.split_digits,
        blank=BLANK if o.form == "sentencepiece" else "",
    )
    if o.form == "sentencepiece":
        alphabet = list(classes)
    numbers = {token.content: token.id for token in o.special_tokens} if o.form == "characters" else {}
    for char in alphabet:
        numbers.setdefault(char, len(numbers))
    of_text = {char: _kernel_class(classes.get(char, 2), o) for char in alphabet}
    forms = _forms(o, counts, alphabet)
    for text, char in forms:
        numbers.setdefault(text, len(numbers))
        of_text.setdefault(text, of_text[char])
    prefix, suffix = o.continuing_subword_prefix or "", o.end_of_word_suffix or ""
    ids = []
    for place in range(4):
        texts = {ord(char): _form(char, place, prefix, suffix) for char in alphabet}
        ids.append({code: numbers[text] for code, text in texts.items() if text in numbers})
    return Start([text.encode() for text in numbers], ids, bytes(of_text.get(text, 0) for text in numbers), found)


def _kernel_class(number: int, o: SimpleNamespace) -> int:
    if number == 1:
        return _BLANKS[o.split_by_whitespace, o.treat_whitespace_as_suffix]
    return _CLASSES.get(number, number - 4)


def _alphabet(o: SimpleNamespace, found: dict[str, int], n_special: int) -> list[str]:
    """The characters that are symbols, ascending. A limit keeps the most frequent; those asked for come first."""
    wanted = {text[0] for text in o.initial_alphabet or () if text}
    if o.character_coverage < 1:
        return covered(found, o.character_coverage, wanted, n_special)
    chars = {*found, *wanted}
    if o.limit_alphabet is not None and len(chars) > o.limit_alphabet:
        order = sorted(chars, key=lambda char: (char not in wanted, -found.get(char, 0), char))
        chars = set(order[: o.limit_alphabet])
    return sorted(chars)


def _forms(o: SimpleNamespace, counts: Counts, alphabet: list[str]) -> list[tuple[str, str]]:
    """Characters with prefix or suffix, as they occur: (text, character), ascending."""
    if not o.continuing_subword_prefix and not o.end_of_word_suffix:
        return []
    known = set(alphabet)
    prefix, suffix = o.continuing_subword_prefix or "", o.end_of_word_suffix or ""
    forms: list[tuple[str, str]] = []
    for code, where in places(counts.data, counts.ends).items():
        if chr(code) in known:
            forms += {(_form(chr(code), place, prefix, suffix), chr(code)) for place in range(4) if where >> place & 1}
    return sorted(forms)


def _form(char: str, place: int, prefix: str, suffix: str) -> str:
    """A character in the middle of a word (0), at its start (1), at its end (2), alone (3)."""
    return ("" if place & 1 else prefix) + char + (suffix if place & 2 else "")
