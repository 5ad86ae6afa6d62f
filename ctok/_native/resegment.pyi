from typing_extensions import Buffer

from .model import Model
from .piecebpe import PieceBPE
from .safecut import SafeCut

class Resegment(Model):
    inner: PieceBPE
    unk_id: int

    def __new__(cls, inner: PieceBPE) -> Resegment: ...
    @property
    def streams(self) -> bool: ...
    def safe_cut(self) -> SafeCut: ...
    def sample(self, pretoken: str | Buffer, alpha: float, nbest_size: int | None = None, seed: int | None = None) -> list[int]: ...

def fail_after(n: int) -> int: ...
