from typing_extensions import Buffer

from ..spec import TokenTable
from .model import Model

class PieceWords(Model):
    unk_id: int

    def __new__(cls, tokens: TokenTable, types: Buffer, unk_id: int, byte_fallback: bool = False) -> PieceWords: ...
    @property
    def streams(self) -> bool: ...

def fail_after(n: int) -> int: ...
