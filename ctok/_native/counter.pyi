from collections.abc import Collection
from typing import Any

from typing_extensions import Self

from .pipeline import Pipeline, Text
from .state import TextState

UNITS: tuple[str, ...]

class IncrementalCounter(TextState):
    limit: int | None
    def __new__(
        cls,
        tokenizer: Pipeline,
        *args: Any,
        limit: int | None = None,
        rewind: bool = False,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
        **kwargs: Any,
    ) -> Self: ...
    @property
    def stable(self) -> int: ...
    @property
    def least(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def left(self) -> int | None: ...
    def feed(self, chunk: Text, final: bool = False) -> None: ...
    def truncate(self, at: int, unit: str = "char") -> None: ...
    def reset(self) -> None: ...
    def bare(self) -> IncrementalCounter: ...
    def copy(self) -> IncrementalCounter: ...
    def __copy__(self) -> IncrementalCounter: ...
