from typing_extensions import Buffer

from .unigram import ScoredPieces

class SpmUnigram(ScoredPieces):
    n_pieces: int

    def __new__(
        cls, tokens: object, scores: Buffer, types: Buffer, unk_id: int = 0, byte_fallback: bool = False
    ) -> SpmUnigram: ...

class Columns:
    data: bytes
    ends: bytes
    ids: bytes

    def __init__(self, data: bytes, ends: bytes, ids: bytes) -> None: ...

def fail_after(n: int) -> int: ...
