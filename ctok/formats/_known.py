"""The public rank files: what each is called, how it is verified, and what it does not say itself (split pattern, special tokens).

Facts only. Several encodings share one file; `gpt2` is published as a merge list whose content equals that of `r50k_base`.
"""

from __future__ import annotations

from ..spec import AddedToken, Record

HOST = "https://openaipublic.blob.core.windows.net/encodings/"

GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K_PATTERN = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
O200K_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


class RankFile(Record):
    """A published file: its plain name, where it is, the SHA-256 of its bytes."""

    __slots__ = ("name", "url", "sha256")  # noqa: RUF023 - the order of the constructor
    name: str
    url: str
    sha256: str

    def __init__(self, name: str, url: str, sha256: str) -> None:
        self._set(name=name, url=url, sha256=sha256)


class Encoding(Record):
    """A named encoding: its rank file, split pattern, and special tokens as ``(text, id)`` pairs in declaration order."""

    __slots__ = ("name", "file", "pattern", "special_tokens")  # noqa: RUF023
    name: str
    file: RankFile
    pattern: str
    special_tokens: tuple[tuple[str, int], ...]

    def __init__(self, name: str, file: RankFile, pattern: str, special_tokens: tuple[tuple[str, int], ...]) -> None:
        self._set(name=name, file=file, pattern=pattern, special_tokens=special_tokens)

    def added_tokens(self) -> tuple[AddedToken, ...]:
        """Return the special tokens as a spec holds them."""
        pairs = self.special_tokens + (_harmony_rest() if self.name == "o200k_harmony" else ())
        return tuple(AddedToken(text, number) for text, number in pairs)


def _harmony_rest() -> tuple[tuple[str, int], ...]:
    """The reserved tokens; 200018 is also that of <|endofprompt|>, which is declared first and so is what the id decodes to."""
    return tuple((f"<|reserved_{number}|>", number) for number in range(200013, 201088))


R50K = RankFile("r50k_base", HOST + "r50k_base.tiktoken", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930")
P50K = RankFile("p50k_base", HOST + "p50k_base.tiktoken", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069")
CL100K = RankFile("cl100k_base", HOST + "cl100k_base.tiktoken", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7")
O200K = RankFile("o200k_base", HOST + "o200k_base.tiktoken", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d")

_O200K_SPECIAL = (("<|endoftext|>", 199999), ("<|endofprompt|>", 200018))
_HARMONY_SPECIAL = (
    ("<|startoftext|>", 199998),
    ("<|reserved_200000|>", 200000),
    ("<|reserved_200001|>", 200001),
    ("<|return|>", 200002),
    ("<|constrain|>", 200003),
    ("<|reserved_200004|>", 200004),
    ("<|channel|>", 200005),
    ("<|start|>", 200006),
    ("<|end|>", 200007),
    ("<|message|>", 200008),
    ("<|reserved_200009|>", 200009),
    ("<|reserved_200010|>", 200010),
    ("<|reserved_200011|>", 200011),
    ("<|call|>", 200012),
)
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")

ENCODINGS = {
    encoding.name: encoding
    for encoding in (
        Encoding("gpt2", R50K, GPT2_PATTERN, (("<|endoftext|>", 50256),)),
        Encoding("r50k_base", R50K, GPT2_PATTERN, (("<|endoftext|>", 50256),)),
        Encoding("p50k_base", P50K, GPT2_PATTERN, (("<|endoftext|>", 50256),)),
        Encoding("p50k_edit", P50K, GPT2_PATTERN, (("<|endoftext|>", 50256), *zip(_FIM, range(50281, 50284)))),
        Encoding(
            "cl100k_base",
            CL100K,
            CL100K_PATTERN,
            (("<|endoftext|>", 100257), *zip(_FIM, range(100258, 100261)), ("<|endofprompt|>", 100276)),
        ),
        Encoding("o200k_base", O200K, O200K_PATTERN, _O200K_SPECIAL),
        Encoding("o200k_harmony", O200K, O200K_PATTERN, _O200K_SPECIAL + _HARMONY_SPECIAL),
    )
}

# A rank file by its SHA-256 -> the encoding whose own file it is.
BY_SHA256 = {file.sha256: ENCODINGS[file.name] for file in (R50K, P50K, CL100K, O200K)}
