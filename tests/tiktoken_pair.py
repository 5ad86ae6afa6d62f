"""tiktoken and `ctok.compat.tiktoken` side by side: the same vocabularies in both, without a network.

tiktoken gets o200k_base as a file in its cache, written out of the table that comes with ctok; it checks the SHA-256 itself.
"""

import hashlib
import os
from functools import lru_cache

import tiktoken
import tiktoken.load

import ctok.compat.tiktoken
from ctok import registry
from ctok.formats import _known
from ctok.formats import tiktoken as rank_files

LIBRARIES = {"tiktoken": tiktoken, "ctok": ctok.compat.tiktoken}

PATTERN = _known.GPT2_PATTERN
WORDS = ["he", "ll", "hell", "hello", " w", " wo", " wor", "  ", "   ", "\n\n", "é", "你", "ab", "abab", "00", "0000", "aaaa"]
RANKS = {bytes([b]): b for b in range(256)} | {word.encode(): 256 + n for n, word in enumerate(WORDS)}
RANKS |= {b"\xf0\x9f": 280, b"\xf0\x9f\x98": 282, b"\x80 ": 283, b" \xf0": 284}  # a gap at 281, and tokens that cut characters
SPECIAL = {"<|endoftext|>": 300, "<|x|>": 301, "<|end|>": 305}


@lru_cache
def toy(name):
    """The toy encoding in one of the libraries."""
    return LIBRARIES[name].Encoding("toy", pat_str=PATTERN, mergeable_ranks=dict(RANKS), special_tokens=dict(SPECIAL))


@lru_cache
def o200k(name):
    """o200k_base in one of the libraries."""
    return LIBRARIES[name].get_encoding("o200k_base")


def supply_o200k(folder):
    """Put o200k_base into a folder as tiktoken's cache wants it, and make that folder its cache."""
    file = _known.O200K
    data = rank_files.dumps(registry.spec_for("o200k_base"))
    (folder / hashlib.sha1(file.url.encode()).hexdigest()).write_bytes(data)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)


def outcome(call, *args, **options):
    """What a call gives: its result, or the class of its error (tiktoken's panics are no `Exception` and show as such)."""
    try:
        return call(*args, **options)
    except BaseException as error:
        if not isinstance(error, Exception):
            return "panic"
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
