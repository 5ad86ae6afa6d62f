from typing import Any

from typing_extensions import Buffer

from .model import Model

class ScoredPieces(Model):
    unk_id: int | None

    def sample_distinct(
        self, parts: str | Buffer | list[Any], k: int, alpha: float, include_best: bool = False, seed: int | None = None
    ) -> list[tuple[list[int], float]]: ...
    def entropy(self, pretoken: str | Buffer, alpha: float = 1.0) -> float: ...

class Unigram(ScoredPieces):
    def __new__(cls, tokens: object, scores: Buffer, unk_id: int | None = None, byte_fallback: bool = False) -> Unigram: ...
    def nbest(self, pretoken: str | Buffer, k: int) -> list[tuple[list[int], float]]: ...
    def sample(self, pretoken: str | Buffer, alpha: float, nbest_size: int | None = None, seed: int | None = None) -> list[int]: ...

def fail_after(n: int) -> int: ...
