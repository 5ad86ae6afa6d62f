from collections.abc import Collection

from .pipeline import Pipeline

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
    tokenizer: Pipeline, text: bytes, allowed: Collection[str], disallowed: Collection[str], original: str | bytes | None = None
) -> list[bytes | int]: ...
def fail_after(n: int) -> int: ...
