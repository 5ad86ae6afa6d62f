from collections.abc import Iterable

from typing_extensions import Buffer

_Added = tuple[str, int] | tuple[str, int, bool]

class Vocab:
    special_tokens: tuple[_Added, ...]

    def __new__(
        cls,
        data: Buffer,
        ends: Buffer,
        ids: Buffer,
        special_tokens: Iterable[_Added] = (),
        splits: Buffer = b"",
        joins: bool = True,
        doubles: bool = False,
        shown: bool = False,
    ) -> Vocab: ...
    def __len__(self) -> int: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def longest(self) -> int: ...
    @property
    def doubled(self) -> int | None: ...
    @property
    def fingerprint(self) -> bytes: ...
    def find(self, token: Buffer) -> int | None: ...
    def token(self, token_id: int) -> bytes: ...
    def is_special(self, token_id: int) -> bool: ...

def fail_after(n: int) -> int: ...
