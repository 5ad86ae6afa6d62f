from .model import Model

class WordPiece(Model):
    unk_id: int | None

    def __new__(
        cls, tokens: object, unk_token: str = "[UNK]", max_input_chars_per_word: int = 100, continuing_subword_prefix: str = "##"
    ) -> WordPiece: ...

def fail_after(n: int) -> int: ...
