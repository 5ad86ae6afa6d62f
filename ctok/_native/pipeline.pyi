from collections.abc import Collection, Sequence
from typing import Any, Protocol, TypeAlias

from typing_extensions import Buffer, Self

from .chains import Decoding
from .ids import Ids
from .rooms import Flow
from .split import Splitter
from .vocab import Vocab

Text: TypeAlias = str | bytes | bytearray | memoryview
IdSequence: TypeAlias = Sequence[int] | Buffer

class Pieces(Protocol):
    pattern: str
    def pieces(self, text: str) -> Sequence[tuple[int, int]]: ...

class Literals:
    names: tuple[str, ...]
    def __new__(cls, matched: dict[str, int], forbidden: tuple[str, ...] = ..., flow: Flow | None = ...) -> Literals: ...

class Pipeline:
    vocab: Vocab
    splitter: Splitter | None
    fallback: Pieces | None
    flow: Flow | None
    has_template: bool
    specials: dict[str, int]
    always: dict[str, int]
    decoding: Decoding | None
    def __new__(
        cls,
        vocab: Vocab,
        splitter: Splitter | None,
        fallback: Pieces | None,
        specials: dict[str, int],
        always: dict[str, int],
        flow: Flow | None = ...,
        template: tuple[Sequence[int], Sequence[int]] = ...,
        decoding: Decoding | None = ...,
        *args: Any,
        **kwargs: Any,
    ) -> Self: ...
    def new_policy(self, allow: Collection[str], forbid: Collection[str]) -> Literals: ...
    def encode(
        self,
        text: Text,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> list[int]: ...
    def encode_ids(
        self,
        text: Text,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> Ids: ...
    def count(
        self,
        text: Text,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> int: ...
    def decode(
        self, ids: IdSequence, *, skip_special_tokens: bool = False, errors: str = "replace", utf8_policy: str | None = None
    ) -> str: ...
    def decode_bytes(self, ids: IdSequence, *, skip_special_tokens: bool = False) -> bytes: ...
    def decode_spans(
        self,
        ids: IdSequence,
        *,
        unit: str = "char",
        skip_special_tokens: bool = False,
        errors: str = "replace",
        utf8_policy: str | None = None,
    ) -> tuple[str, list[tuple[int, int]]]: ...

def utf8_of(tokenizer: Pipeline, text: object, errors: str) -> bytes: ...
def fail_after(n: int) -> int: ...
