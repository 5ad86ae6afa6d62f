"""The fields of a SentencePiece model file, by number: what they are called, and what they mean where they are not there."""

from __future__ import annotations

from .._native.spmfile import fields, is_table
from ..errors import VocabularyFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Buffer

    Value = int | bytes | str | bool

TRAINER, NORMALIZER, DENORMALIZER = 2, 3, 5
FILE = {1: "pieces", TRAINER: "trainer_spec", NORMALIZER: "normalizer_spec", 4: "self_test_data", DENORMALIZER: "denormalizer_spec"}

_TRAINER = {
    1: "input", 2: "model_prefix", 3: "model_type", 4: "vocab_size", 5: "accept_language", 6: "self_test_sample_size", 7: "input_format",
    10: "character_coverage", 11: "input_sentence_size", 12: "mining_sentence_size", 13: "training_sentence_size",
    14: "seed_sentencepiece_size", 15: "shrinking_factor", 16: "num_threads", 17: "num_sub_iterations", 18: "max_sentence_length",
    19: "shuffle_input_sentence", 20: "max_sentencepiece_length", 21: "split_by_unicode_script", 22: "split_by_whitespace",
    23: "split_by_number", 24: "treat_whitespace_as_suffix", 25: "split_digits", 26: "allow_whitespace_only_pieces", 30: "control_symbols",
    31: "user_defined_symbols", 32: "vocabulary_output_piece_score", 33: "hard_vocab_limit", 34: "use_all_vocab", 35: "byte_fallback",
    36: "required_chars", 40: "unk_id", 41: "bos_id", 42: "eos_id", 43: "pad_id", 44: "unk_surface", 45: "unk_piece", 46: "bos_piece",
    47: "eos_piece", 48: "pad_piece", 49: "train_extremely_large_corpus", 50: "enable_differential_privacy",
    51: "differential_privacy_noise_level", 52: "differential_privacy_clipping_threshold", 53: "pretokenization_delimiter",
    54: "seed_sentencepieces_file", 55: "auto_character_coverage",
}  # fmt: skip
_NORMALIZER = {
    1: "name",
    2: "precompiled_charsmap",
    3: "add_dummy_prefix",
    4: "remove_extra_whitespaces",
    5: "escape_whitespaces",
    6: "normalization_rule_tsv",
}
_NAMES = {TRAINER: _TRAINER, NORMALIZER: _NORMALIZER, DENORMALIZER: _NORMALIZER}

# What is read of a message: field -> default. The type of the default is that of the field; an int is signed.
_DEFAULTS: dict[int, dict[str, Value]] = {
    TRAINER: {
        "model_type": 1,
        "vocab_size": 8000,
        "byte_fallback": False,
        "treat_whitespace_as_suffix": False,
        "unk_id": 0,
        "bos_id": 1,
        "eos_id": 2,
        "pad_id": -1,
        "unk_surface": " \u2047 ",
        "unk_piece": "<unk>",
        "bos_piece": "<s>",
        "eos_piece": "</s>",
        "pad_piece": "<pad>",
    },
    NORMALIZER: {
        "name": "",
        "precompiled_charsmap": b"",
        "add_dummy_prefix": True,
        "remove_extra_whitespaces": True,
        "escape_whitespaces": True,
    },
}
_DEFAULTS[DENORMALIZER] = _DEFAULTS[NORMALIZER]
_NUMBERS = {message: {name: number for number, name in names.items()} for message, names in _NAMES.items()}


def read(message: int, parts: Sequence[tuple[Buffer, int]], path: str | None = None) -> dict[str, Any]:
    """Return the fields of a message that mean something here, by name.

    Parameters
    ----------
    message
        Its number in the file.
    parts
        ``(bytes, offset in the file)``, one for each time that it stands in the file; of a field that is there again the last one counts.

    Raises
    ------
    VocabularyFileError
        A part is no message, a field has the wrong wire type, or a table of the normalizer is cut off.
    """
    names, found = _NAMES[message], dict(_DEFAULTS[message])
    prefix = f"{FILE[message]}."
    for part, offset in parts:
        for number, wire, value, begin, _ in fields(part, names, prefix, offset, path):
            name = names.get(number, "")
            if name not in found:
                continue
            default = _DEFAULTS[message][name]
            if wire != (0 if isinstance(default, int) else 2):
                raise VocabularyFileError("it has the wrong wire type", path=path, field=prefix + name, offset=offset + begin)
            if name != "model_type" or value in (1, 2, 3, 4):  # a type that does not exist counts as not given
                found[name] = _value(value, default)
            if name == "precompiled_charsmap" and (fault := _fault_of_table(found[name])):
                raise VocabularyFileError(fault, path=path, field=prefix + name, offset=offset + begin)
    return found


def _fault_of_table(table: Any) -> str | None:
    """What is wrong with a normalizer's table."""
    if not table:
        return None
    size = int.from_bytes(table[:4], "little")
    if len(table) <= 4 or size >= len(table) - 4:
        return "the table is shorter than it says"
    if size == 0 or size % 1024:
        return f"the table's first part must be a multiple of 1024 bytes, not {size}"
    if table[-1] != 0:
        return "the table must end with a zero byte"
    return None if is_table(table) else "the table's first part points outside, or nowhere"


def _value(value: Any, default: Value) -> Any:
    if isinstance(default, bool):
        return value != 0
    if isinstance(default, int):
        return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
    return str(value, "utf-8", "replace") if isinstance(default, str) else bytes(value)


def changed(message: int, content: bytes, wanted: dict[str, Any], complete: bool = False) -> bytes:
    """Return a message with some fields changed. What already says what is wanted stays as it is.

    Parameters
    ----------
    message
        Its number in the file.
    content
        The message; empty: every field has its default.
    wanted
        Field -> value.
    complete
        Also fields whose value is the default are written.
    """
    said, numbers = read(message, [(content, 0)]), _NUMBERS[message]
    kept = [(number, content[begin:end]) for number, _, _, begin, end in fields(content, _NAMES[message])]
    for name, value in wanted.items():
        if said[name] == value and not complete:
            continue
        number = numbers[name]
        before = [index for index, (other, _) in enumerate(kept) if other == number]
        for index in reversed(before[:-1]):
            del kept[index]
        at = next((index for index, (other, _) in enumerate(kept) if other == number or (other > number and not before)), len(kept))
        kept[at : at + bool(before)] = [(number, _field(number, value))]
    return b"".join(field for _, field in kept)


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, (bool, int)):
        return varint(number << 3) + varint(value & 0xFFFFFFFFFFFFFFFF)
    return enclosed(number, value.encode() if isinstance(value, str) else value)


def enclosed(number: int, content: bytes) -> bytes:
    """Return a field that holds bytes."""
    return head(number, len(content)) + content


def head(number: int, size: int) -> bytes:
    """Return what stands before the content of a field that holds so many bytes."""
    return varint(number << 3 | 2) + varint(size)


def varint(value: int) -> bytes:
    """Return a number as a protobuf writes it."""
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
