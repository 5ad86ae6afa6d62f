from collections.abc import Collection, Iterable
from typing import Literal, overload

from .pipeline import IdSequence, Pipeline, Text

@overload
def encode_batch(
    tokenizer: Pipeline,
    texts: Iterable[Text],
    num_threads: int | None,
    allowed: Collection[str],
    disallowed: Collection[str],
    add_special: bool,
    errors: str,
    counting: Literal[False],
) -> list[list[int]]: ...
@overload
def encode_batch(
    tokenizer: Pipeline,
    texts: Iterable[Text],
    num_threads: int | None,
    allowed: Collection[str],
    disallowed: Collection[str],
    add_special: bool,
    errors: str,
    counting: Literal[True],
) -> list[int]: ...
def decode_batch(
    tokenizer: Pipeline,
    batch: Iterable[IdSequence],
    num_threads: int | None,
    skip_special: bool,
    errors: str,
    policy: str | None,
) -> list[str]: ...
def fail_after(n: int) -> int: ...
