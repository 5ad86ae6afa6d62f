from collections.abc import Callable, Collection, Iterable

from .cut import Cutter
from .model import Model
from .normalize import Normalizer
from .safecut import SafeCut

class FlowPolicy:
    names: tuple[str, ...]
    def __new__(cls, flow: Flow, matched: Collection[str], forbidden: Collection[str]) -> FlowPolicy: ...

class Flow:
    normalizer: Normalizer | None
    cutter: Cutter | None
    model: Model
    safe: SafeCut | None
    added: tuple[tuple[str, int, int, str | None], ...]
    streams: bool
    shown_unk: int | None
    def __new__(
        cls,
        model: Model,
        normalizer: Normalizer | None,
        cutter: Cutter | None,
        added: Iterable[tuple[str, int, int, str | None]] = ...,
        signature: Callable[[], str] = ...,
        safe: SafeCut | None = ...,
        shown_unk: int | None = ...,
    ) -> Flow: ...
    @property
    def signature(self) -> str: ...
    def policy(self, matched: Collection[str], forbidden: Collection[str]) -> FlowPolicy: ...
