from typing import Any, final

from typing_extensions import Buffer

from .unigram import ScoredPieces

_Text = str | Buffer

@final
class Lattice:
    def __new__(cls, model: ScoredPieces, parts: _Text | list[Any]) -> Lattice: ...

def nbest(model: ScoredPieces, text: _Text, k: int, with_ends: bool = False) -> list[Any]: ...
def sample(
    model: ScoredPieces, text: _Text, alpha: float, nbest_size: int | None, k: int, seed: int | None, with_ends: bool = False
) -> list[Any]: ...
def sample_distinct(
    model: ScoredPieces, parts: _Text | list[Any], alpha: float, k: int, include_best: bool, seed: int | None
) -> list[tuple[list[int], float]]: ...
def entropy(model: ScoredPieces, text: _Text, alpha: float) -> float: ...
def fail_after(n: int) -> int: ...
