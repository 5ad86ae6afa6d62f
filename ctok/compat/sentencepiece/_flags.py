"""The options of the reference's trainer: by name, as Python values or as text, checked."""

from __future__ import annotations

import csv

from ._errors import ArgumentError, ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["DEFAULTS", "of_mapping", "of_text"]

# Option -> default, whose type is that of the option.
DEFAULTS: dict[str, Any] = {
    "input": [],
    "input_format": "",
    "model_prefix": "",
    "model_type": "unigram",
    "vocab_size": 8000,
    "self_test_sample_size": 0,
    "character_coverage": 0.9995,
    "input_sentence_size": 0,
    "shuffle_input_sentence": True,
    "seed_sentencepiece_size": 1_000_000,
    "shrinking_factor": 0.75,
    "max_sentence_length": 0,
    "num_threads": 16,
    "num_sub_iterations": 2,
    "max_sentencepiece_length": 16,
    "split_by_unicode_script": True,
    "split_by_number": True,
    "split_by_whitespace": True,
    "split_digits": False,
    "treat_whitespace_as_suffix": False,
    "allow_whitespace_only_pieces": False,
    "control_symbols": [],
    "control_symbols_file": "",
    "user_defined_symbols": [],
    "user_defined_symbols_file": "",
    "required_chars": "",
    "required_chars_file": "",
    "byte_fallback": False,
    "vocabulary_output_piece_score": True,
    "hard_vocab_limit": True,
    "use_all_vocab": False,
    "unk_id": 0,
    "bos_id": 1,
    "eos_id": 2,
    "pad_id": -1,
    "unk_piece": "<unk>",
    "bos_piece": "<s>",
    "eos_piece": "</s>",
    "pad_piece": "<pad>",
    "unk_surface": " \u2047 ",
    "normalization_rule_name": "nmt_nfkc",
    "normalization_rule_tsv": "",
    "denormalization_rule_tsv": "",
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
    "random_seed": 0,
}
# What has nothing to decide here: counts have 64 bits, nothing is logged, the reference itself only keeps the languages.
_UNUSED = ("accept_language", "minloglevel", "train_extremely_large_corpus", "mining_sentence_size", "training_sentence_size")
# What would change the result, and is not done.
_REFUSED = (
    "auto_character_coverage",
    "enable_differential_privacy",
    "differential_privacy_noise_level",
    "differential_privacy_clipping_threshold",
    "pretokenization_delimiter",
    "pretokenizer",
    "seed_sentencepieces_file",
)
_FLAGS = dict.fromkeys(("true", "t", "1", "yes", "y", ""), True) | dict.fromkeys(("false", "f", "0", "no", "n"), False)


def of_text(text: str) -> dict[str, Any]:
    """Return the options of a line of flags: ``"--input=a.txt --vocab_size=8000"``."""
    found: dict[str, Any] = {}
    for part in text.split():
        name, _, value = part.removeprefix("--").partition("=")
        found[name] = value
    return of_mapping(found)


def of_mapping(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, each value of its option's type.

    Raises
    ------
    ModelError
        There is no such option.
    NotImplementedError
        There is one, and ctok does not have it.
    ArgumentError
        A value is not of the option's type.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in _REFUSED:
            if value not in (None, "", 0, False, "0", "false"):
                raise NotImplementedError(f"ctok.compat.sentencepiece does not train with {name}")
        elif name in DEFAULTS:
            found[name] = _read(name, value, DEFAULTS[name])
        elif name not in _UNUSED:
            raise ModelError(f'NOT_FOUND: unknown field name "{name}" in TrainerSpec.')
    return found


def _read(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, list):
        listed = value if isinstance(value, list | tuple) else next(csv.reader([str(value)]), [])
        return [str(item) for item in listed]
    kind = type(default)
    try:
        if kind is bool:
            return value if isinstance(value, bool) else _FLAGS[str(value).lower()]
        return str(value) if kind is str else kind(str(value))
    except (KeyError, ValueError):
        raise ArgumentError(f'INVALID_ARGUMENT: cannot parse "{value}" as {kind.__name__}.') from None
