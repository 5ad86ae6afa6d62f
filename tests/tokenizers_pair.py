"""The reference library and ctok's stand-in side by side: the same program in both, and what comes of it compared."""

import os
import re
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import ctok.compat.tokenizers as ours

theirs = pytest.importorskip("tokenizers")

VOCAB = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4, "c": 5, "[PAD]": 6}


def names_of(library):
    """What a program finds under the reference's usual names."""
    return {
        "T": library, "Tokenizer": library.Tokenizer, "AddedToken": library.AddedToken, "Encoding": library.Encoding,
        "Regex": library.Regex, "M": library.models, "N": library.normalizers, "P": library.pre_tokenizers,
        "O": library.processors, "D": library.decoders,
    }  # fmt: skip


@contextmanager
def quiet():
    """Without the backtraces that the reference writes when it panics, and the lines about ignored arguments."""
    keep = os.dup(2), os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.dup2(null, 1)
    try:
        yield
    finally:
        for place, number in zip(keep, (2, 1), strict=True):
            os.dup2(place, number)
            os.close(place)
        os.close(null)


def outcome(run, *args):
    """What a call gives, as plain values, or the class and text of its error."""
    try:
        return plain(run(*args))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return SimpleNamespace(kind=type(error).__name__, error=error, text=str(error))


def plain(value):
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if value is None or isinstance(value, str | int | float | bytes):
        return value
    if type(value).__name__ == "Encoding":
        return fields(value)
    shown = repr(value)
    return re.sub(r"^<.*>$", type(value).__name__, shown) if shown.startswith("<") else shown


def fields(encoding):
    """All that an encoding says."""
    found = {
        name: getattr(encoding, name)
        for name in (
            "ids", "type_ids", "attention_mask", "special_tokens_mask", "tokens", "offsets", "word_ids", "sequence_ids", "n_sequences",
        )
    }  # fmt: skip
    return found | {"length": len(encoding), "overflowing": [fields(piece) for piece in encoding.overflowing]}


def both(program, setup=""):
    """Run an expression in both libraries, behind the statements of `setup`; return both outcomes."""
    found = []
    with quiet():
        for library in (ours, theirs):
            scope = names_of(library)
            exec(setup, scope)
            found.append(outcome(eval, program, scope))
    return found


def is_error(found):
    return isinstance(found, SimpleNamespace)


def as_reference(json):
    """The tokenizer of a JSON text in both libraries."""
    return ours.Tokenizer.from_str(json), theirs.Tokenizer.from_str(json)
