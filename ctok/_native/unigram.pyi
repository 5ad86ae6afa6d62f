from typing_extensions import Buffer

from .model import Model

class Unigram(Model):
    unk_id: int | None

    def __init__(self, tokens: object, scores: Buffer, unk_id: int | None = None, byte_fallback: bool = False) -> None: ...

def fail_after(n: int) -> int: ...
