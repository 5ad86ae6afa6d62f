"""Write a rank file as a tokenizer.json, for the libraries that read nothing else.

    python -m benchmarks.tokenizer_json o200k_base FOLDER/o200k_base.tiktoken FOLDER/o200k_base.json

Every way to join two tokens to a third is a merge, in the order of the third's rank; whole pretokens are looked up first. That gives the
ids of the rank file.
"""

import base64
import json
import sys

from ctok.registry import spec_for

# cl100k's pattern in its older form: the newer one's possessive {1,3}+ means something else to the regex engines that read these files.
CL100K_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_letters():
    """byte -> the letter that stands for it in tokenizer.json: itself where it is printable, one from U+0100 on where not."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(0x100 + n) for n, byte in enumerate(others)}


def read_ranks(path):
    """bytes of a token -> its rank."""
    with open(path, "rb") as file:
        return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file if line.strip())}


def merges_of(ranks):
    """Pairs of tokens that join to a token, by its rank."""
    for token in sorted(ranks, key=ranks.__getitem__):
        for cut in range(1, len(token)):
            if token[:cut] in ranks and token[cut:] in ranks:
                yield token[:cut], token[cut:]


def tokenizer_json(ranks, pattern, special_tokens):
    letters = byte_letters()

    def spell(token):
        return "".join(map(letters.__getitem__, token))

    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": content, **flags, "special": True} for content, number in special_tokens],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": True,
            "vocab": {spell(token): rank for token, rank in ranks.items()},
            "merges": [[spell(left), spell(right)] for left, right in merges_of(ranks)],
        },
    }


def main(encoding, source, target):
    spec = spec_for(encoding)
    pattern = CL100K_PATTERN if encoding == "cl100k_base" else spec.pre_tokenizer.pattern
    special = [(token.content, token.id) for token in spec.added_tokens]
    with open(target, "w", encoding="utf-8") as file:
        json.dump(tokenizer_json(read_ranks(source), pattern, special), file, ensure_ascii=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
