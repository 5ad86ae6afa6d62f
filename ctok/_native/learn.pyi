from .cells import Cells
from .joining import Joining

def fail_after(n: int) -> int: ...

class Learner(Joining):
    @property
    def numbers(self) -> tuple[int, int, int]: ...
    def __new__(
        cls,
        tokens: list[bytes],
        classes: bytes,
        prefix: bytes,
        longest: int,
        by_text: bool,
        cells: Cells,
        keeps_spent: bool,
        skips_known: bool,
        tie: str,
    ) -> Learner: ...
