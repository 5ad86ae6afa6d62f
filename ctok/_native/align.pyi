from collections.abc import Callable, Collection
from typing import Any

from .pipeline import Pipeline, Text

def align(
    tokenizer: Pipeline,
    text: bytes,
    allowed: Collection[str],
    disallowed: Collection[str],
    first: bool = True,
    original: str | bytes | None = None,
    as_reference: bool = False,
) -> tuple[memoryview, memoryview, memoryview, memoryview, memoryview, dict[int, str]]: ...
def stretches(
    tokenizer: Pipeline, ability: str, text: Text, allowed: Collection[str], disallowed: Collection[str], errors: str
) -> tuple[Callable[..., Any], list[bytes | int]]: ...
def sample(
    tokenizer: Pipeline,
    text: Text,
    alpha: float,
    nbest_size: int | None,
    seed: int | None,
    allowed: Collection[str],
    disallowed: Collection[str],
    errors: str,
) -> list[int]: ...
def fail_after(n: int) -> int: ...
