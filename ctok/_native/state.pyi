from collections.abc import Collection
from typing import Any

from typing_extensions import Self

from .pipeline import Pipeline

class TextState:
    tokenizer: Pipeline
    def __new__(
        cls,
        tokenizer: Pipeline,
        *args: Any,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
        **kwargs: Any,
    ) -> Self: ...
    @property
    def pending(self) -> bytes: ...
    def getstate(self) -> bytes: ...
    def setstate(self, state: bytes) -> None: ...
    def __deepcopy__(self, memo: Any) -> Self: ...
