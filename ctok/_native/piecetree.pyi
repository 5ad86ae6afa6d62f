from typing import final

from .piecebpe import PieceBPE

@final
class Tree:
    def __new__(cls, model: PieceBPE) -> Tree: ...

def fail_after(n: int) -> int: ...
