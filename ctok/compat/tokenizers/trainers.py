"""Trainers: what learns the model of a tokenizer from texts. A trainer is given to ``Tokenizer.train`` or ``train_from_iterator``.

`BpeTrainer`, `WordPieceTrainer` and `WordLevelTrainer` give the tokens and merges of the reference (where the reference goes by the order
of a hash table, the order of the texts decides). `UnigramTrainer` gives other pieces and scores, with which held-out text takes no more
tokens than with the reference's; they are the same on every run, which the reference's are not.

`ctok.train` has the trainers behind these, with further options.
"""

from __future__ import annotations

from ._added import tokens_of
from ._checks import flag, instance, number, one_id, or_none, sequence, share, text, warn_ignored
from ._tokens import AddedToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from typing_extensions import Self

__all__ = ["BpeTrainer", "Trainer", "UnigramTrainer", "WordLevelTrainer", "WordPieceTrainer"]

_FORMATS = ("indicatif", "json", "silent")


def _special(tokens: object) -> list[AddedToken]:
    listed = instance(tokens, list)
    if not all(isinstance(token, str | AddedToken) for token in listed):
        raise TypeError("special_tokens must be a List[Union[str, AddedToken]]")
    return tokens_of(listed, True)


def _alphabet(texts: object) -> list[str]:
    """The first character of each text."""
    return sorted({text(item)[0] for item in sequence(texts) if item})


def _format(word: object) -> str:
    found = text(word)
    return found if found in _FORMATS else _FORMATS[0]


def _field(name: str, check: Callable[[object], Any], told: str) -> Any:
    def get(self: Trainer) -> Any:
        return self._options[name]

    def put(self: Trainer, value: object) -> None:
        self._options[name] = check(value)

    return property(get, put, doc=told)


class Trainer:
    """Base of the trainers; not made directly."""

    __slots__ = ("_n_words", "_options")
    model = ""  # the class of the model that is trained
    _options: dict[str, Any]
    _n_words: int

    def __new__(cls, *args: Any, **options: Any) -> Self:
        if cls is Trainer:
            raise TypeError("cannot create 'Trainer' instances")
        return object.__new__(cls)

    def _make(self, kwargs: dict[str, Any], **options: Any) -> None:
        warn_ignored(kwargs)
        self._options = options
        self._n_words = 0

    show_progress = _field("show_progress", flag, "Whether progress is shown: a bar on a terminal, else lines in the log ``ctok.train``.")
    special_tokens = _field("special_tokens", _special, "The tokens with the first ids.")
    vocab_size = _field("vocab_size", number, "Tokens in all, special ones and the alphabet included.")

    def __repr__(self) -> str:
        name = type(self).__name__
        fields = ", ".join(f"{key}={_shown(value)}" for key, value in self._options.items())
        return f"{name}({name}({fields}))"


def _shown(value: Any) -> str:
    if isinstance(value, AddedToken):
        flags = ", ".join(f"{key}={getattr(value, key)}" for key in ("single_word", "lstrip", "rstrip", "normalized", "special"))
        return f'AddedToken(content="{value.content}", {flags})'
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


class BpeTrainer(Trainer):
    """Trains a `models.BPE`; the merges are the reference's, one by one.

    Parameters
    ----------
    vocab_size
        Tokens in all, special ones and the alphabet included. The alphabet is kept whole, whatever the size.
    min_frequency
        A pair must stand so often.
    show_progress
        A bar on a terminal, else lines in the log ``ctok.train``.
    progress_format
        ``"silent"``: show nothing.
    special_tokens
        Texts or `AddedToken` objects, which take the first ids.
    limit_alphabet
        Keep so many characters, the most frequent.
    initial_alphabet
        Characters that become tokens whether they occur or not; of longer texts the first.
    continuing_subword_prefix, end_of_word_suffix
        What tokens inside a word begin with, and at its end end with.
    max_token_length
        Tokens are shorter than this, but for pairs of two characters.
    """

    __slots__ = ()
    model = "BPE"

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: str = "indicatif",
        special_tokens: list[str | AddedToken] = [],  # noqa: B006  # never changed
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] = [],
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        max_token_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        self._make(
            kwargs,
            min_frequency=number(min_frequency),
            vocab_size=number(vocab_size),
            show_progress=flag(show_progress),
            progress_format=_format(progress_format),
            special_tokens=_special(special_tokens),
            limit_alphabet=or_none(number)(limit_alphabet),
            initial_alphabet=_alphabet(initial_alphabet),
            continuing_subword_prefix=or_none(text)(continuing_subword_prefix),
            end_of_word_suffix=or_none(text)(end_of_word_suffix),
            max_token_length=or_none(number)(max_token_length),
        )

    min_frequency = _field("min_frequency", number, "A pair must stand so often.")
    progress_format = _field("progress_format", _format, "``\"silent\"``: show nothing.")
    limit_alphabet = _field("limit_alphabet", or_none(number), "Keep so many characters.")
    initial_alphabet = _field("initial_alphabet", _alphabet, "Characters that become tokens in any case.")
    continuing_subword_prefix = _field("continuing_subword_prefix", or_none(text), "What tokens inside a word begin with.")
    end_of_word_suffix = _field("end_of_word_suffix", or_none(text), "What tokens at the end of a word end with.")
    max_token_length = _field("max_token_length", or_none(number), "Tokens are shorter than this.")

    def get_word_count(self) -> int:
        """Return how many different words the last training had."""
        return self._n_words


class WordPieceTrainer(Trainer):
    """Trains a `models.WordPiece`, by the most frequent pair, as the reference does. Options as for `BpeTrainer`.

    The reference decides between equally frequent pairs by the order of a hash table; here forms inside words have their ids in the order
    of their characters, and ids decide.
    """

    __slots__ = ()
    model = "WordPiece"

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        special_tokens: list[str | AddedToken] = [],  # noqa: B006
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] = [],
        continuing_subword_prefix: str | None = "##",
        end_of_word_suffix: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._make(
            kwargs,
            min_frequency=number(min_frequency),
            vocab_size=number(vocab_size),
            show_progress=flag(show_progress),
            special_tokens=_special(special_tokens),
            limit_alphabet=or_none(number)(limit_alphabet),
            initial_alphabet=_alphabet(initial_alphabet),
            continuing_subword_prefix=or_none(text)(continuing_subword_prefix),
            end_of_word_suffix=or_none(text)(end_of_word_suffix),
        )

    min_frequency = BpeTrainer.min_frequency
    limit_alphabet = BpeTrainer.limit_alphabet
    initial_alphabet = BpeTrainer.initial_alphabet
    continuing_subword_prefix = BpeTrainer.continuing_subword_prefix
    end_of_word_suffix = BpeTrainer.end_of_word_suffix


class UnigramTrainer(Trainer):
    """Trains a `models.Unigram`.

    Parameters
    ----------
    vocab_size, show_progress, special_tokens, initial_alphabet
        As for `BpeTrainer`. A size below the alphabet is an error.
    shrinking_factor
        The share of the pieces that stays at each pruning.
    unk_token
        What stands for unknown characters; put first if it is no special token. None: they cannot be encoded.
    max_piece_length
        In characters.
    n_sub_iterations
        Steps of expectation and maximisation between prunings.
    """

    __slots__ = ()
    model = "Unigram"

    def __init__(
        self,
        *,
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: list[str | AddedToken] = [],  # noqa: B006
        initial_alphabet: Sequence[str] = [],
        shrinking_factor: float = 0.75,
        unk_token: str | None = None,
        max_piece_length: int = 16,
        n_sub_iterations: int = 2,
        **kwargs: Any,
    ) -> None:
        self._make(
            kwargs,
            show_progress=flag(show_progress),
            vocab_size=one_id(vocab_size),
            n_sub_iterations=one_id(n_sub_iterations),
            shrinking_factor=share(shrinking_factor),
            special_tokens=_special(special_tokens),
            initial_alphabet=_alphabet(initial_alphabet),
            unk_token=or_none(text)(unk_token),
            max_piece_length=number(max_piece_length),
        )

    initial_alphabet = BpeTrainer.initial_alphabet


class WordLevelTrainer(Trainer):
    """Trains a `models.WordLevel`: the most frequent words. Options as for `BpeTrainer`; `min_frequency` is that of a word.

    A word that is a special token has the id of that, and leaves none unused.
    """

    __slots__ = ()
    model = "WordLevel"

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        special_tokens: list[str | AddedToken] = [],  # noqa: B006
        **kwargs: Any,
    ) -> None:
        self._make(
            kwargs,
            min_frequency=number(min_frequency),
            vocab_size=number(vocab_size),
            show_progress=flag(show_progress),
            special_tokens=_special(special_tokens),
        )

    min_frequency = BpeTrainer.min_frequency
