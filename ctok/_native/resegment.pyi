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

def fail_after(n: int) -> int: ...
