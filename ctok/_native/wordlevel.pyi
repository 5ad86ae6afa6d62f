from .model import Model

class WordLevel(Model):
    unk_id: int | None

    def __new__(cls, tokens: object, unk_token: str = "<unk>") -> WordLevel: ...

def fail_after(n: int) -> int: ...
