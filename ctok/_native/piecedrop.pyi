from typing_extensions import Buffer

from .piecebpe import PieceBPE
from .resegment import Resegment

def sample(model: PieceBPE, around: Resegment | None, text: Buffer, alpha: float, seed: int) -> list[int]: ...
def fail_after(n: int) -> int: ...
