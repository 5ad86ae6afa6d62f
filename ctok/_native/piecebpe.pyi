from typing_extensions import Buffer

from ..spec import TokenTable
from .mergemodel import MergeModel
from .safecut import SafeCut
from .vocab import Vocab

class PieceBPE(MergeModel):
    symbols: Vocab
    unk_id: int
    plain: bool

    def __new__(
        cls, tokens: TokenTable, scores: Buffer, types: Buffer, unk_id: int, byte_fallback: bool = False, joins: bool = True
    ) -> PieceBPE: ...
    def safe_cut(self) -> SafeCut: ...
    def sample(self, pretoken: str | Buffer, alpha: float, nbest_size: int | None = None, seed: int | None = None) -> list[int]: ...

def fail_after(n: int) -> int: ...
