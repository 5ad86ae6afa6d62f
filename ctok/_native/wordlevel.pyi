from .model import Model

class WordLevel(Model):
    unk_id: int | None

    def __init__(self, tokens: object, unk_token: str = "<unk>") -> None: ...

def fail_after(n: int) -> int: ...
