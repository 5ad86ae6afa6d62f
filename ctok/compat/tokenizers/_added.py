"""The added tokens of a tokenizer: which ids they get, what is asked of them, and what they are in a specification."""

from __future__ import annotations

from ...spec import AddedToken as Record
from ._tokens import AddedToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["AddedVocabulary"]


class AddedVocabulary:
    """Tokens that were added, in the reference's ways.

    Attributes
    ----------
    ids
        Text -> id.
    tokens
        Id -> token, sorted neither by id nor by time.
    special
        The texts that were ever added as special: these are left out of decoded texts.
    """

    __slots__ = ("_most", "ids", "special", "tokens")

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.ids: dict[str, int] = {}
        self.tokens: dict[int, AddedToken] = {}
        self.special: set[str] = set()
        self._most = -1  # the largest id
        for record in records:
            self._put(record.id, token_of(record))
            if record.special:
                self.special.add(record.content)

    def _put(self, number: int, token: AddedToken) -> None:
        self.ids[token.content] = number
        self.tokens[number] = token
        self._most = max(self._most, number)

    def add(self, tokens: Sequence[AddedToken], find: Callable[[str], int | None], n_model: int) -> int:
        """Add tokens and return how many were not there just so.

        Parameters
        ----------
        find
            Gives the id of a token of the model, or None.
        n_model
            How many tokens the model has: new ids begin there, or behind the largest id of an added token.
        """
        n_ignored = 0
        for token in tokens:
            if token.special and token.content:
                self.special.add(token.content)
        for token in tokens:
            number = self.ids.get(token.content)
            if not token.content or (number is not None and self.tokens[number] == token):
                n_ignored += 1
                continue
            if number is None:
                number = find(token.content)
            if number is None:
                number = self._most + 1 if self.ids and (self._most >= n_model or n_model == 0) else n_model
            self._put(number, token)
        return len(tokens) - n_ignored

    def records(self) -> tuple[Record, ...]:
        """Return what a specification says of them, by id, with `special` for what is left out of decoded texts."""
        return tuple([_record(number, token, token.content in self.special) for number, token in sorted(self.tokens.items())])

    def written(self) -> tuple[Record, ...]:
        """Return what a file says of them, by id."""
        return tuple([_record(number, token, token.special) for number, token in sorted(self.tokens.items())])


def _record(number: int, token: AddedToken, special: bool) -> Record:
    return Record(token.content, number, special, token.single_word, token.lstrip, token.rstrip, token.normalized)


def token_of(record: Record) -> AddedToken:
    """Return the token of a specification's record."""
    return AddedToken(
        record.content,
        single_word=record.single_word,
        lstrip=record.lstrip,
        rstrip=record.rstrip,
        normalized=record.normalized,
        special=record.special,
    )


def tokens_of(given: Iterable[object], special: bool) -> list[AddedToken]:
    """Return what `Tokenizer.add_tokens` is given, as tokens of its own."""
    found = []
    for item in given:
        if isinstance(item, str):
            found.append(AddedToken(str(item), special=special))
        elif isinstance(item, AddedToken):
            normalized = not (special or item.special) if item._normalized is None else item._normalized
            found.append(
                AddedToken(
                    item.content,
                    single_word=item.single_word,
                    lstrip=item.lstrip,
                    rstrip=item.rstrip,
                    normalized=normalized,
                    special=special or item.special,
                )
            )
        else:
            raise TypeError("Input must be a List[Union[str, AddedToken]]")
    return found
