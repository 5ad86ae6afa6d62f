"""The command line: `ctok COMMAND ...`, and `ctok TEXT...` in the manner of ttok.

Data goes to standard output and nothing else does; errors and notices go to standard error. Exit status: 0 done, 1 error, 2 over the
limit, 64 wrong usage; 130 after Ctrl-C, 141 when the reader of the output has gone (as a shell reports it of any program).

The first argument that is no option decides: if it is the name of a command, it is the command, else text. After ``--`` all is text, so
``ctok -- count`` counts the word "count".

Each command is a module with ``run(argv) -> int``; only the one that is used is imported.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

# Command -> module, function.
COMMANDS = {
    "count": ("_count", "run"),
    "encode": ("_filters", "run_encode"),
    "decode": ("_filters", "run_decode"),
    "tokens": ("_tokens", "run"),
    "truncate": ("_parts", "run_truncate"),
    "split": ("_parts", "run_split"),
    "stream": ("_stream", "run"),
    "models": ("_about", "run_models"),
    "info": ("_about", "run_info"),
    "vocab": ("_vocab", "run"),
    "cache": ("_cache", "run"),
    "convert": ("_convert", "run"),
    "train": ("_train", "run_train"),
    "count-shard": ("_train", "run_count_shard"),
    "merge-counts": ("_train", "run_merge_counts"),
    "extend": ("_after", "run_extend"),
    "prune": ("_after", "run_prune"),
    "explain": ("_after", "run_explain"),
}
# Options of the top level whose value is the next argument.
_TAKE_A_VALUE = frozenset(("-i", "--input", "-t", "--truncate", "-m", "--model", "-T", "--tokenizer", "--pattern", "--special-token"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status.

    Parameters
    ----------
    argv
        The arguments, without the program's name; None: those of the process.

    Notes
    -----
    Reads `sys.stdin`, writes `sys.stdout` and `sys.stderr`; raises nothing that a user can cause.
    """
    from ._report import guarded

    return guarded(_run, list(sys.argv[1:] if argv is None else argv))


def _run(argv: list[str]) -> int:
    from importlib import import_module

    command, rest = dispatch(argv)
    module, function = COMMANDS[command] if command is not None else ("_plain", "run")
    status: int = getattr(import_module("." + module, __name__), function)(rest)
    return status


def dispatch(argv: list[str]) -> tuple[str | None, list[str]]:
    """Return the command, or None for plain text, and its arguments; options that stood before the command come first."""
    at = 0
    while at < len(argv):
        word = argv[at]
        if word == "--":
            break
        if word == "-" or not word.startswith("-"):
            if word in COMMANDS:
                return word, argv[:at] + argv[at + 1 :]
            break
        at += 2 if word in _TAKE_A_VALUE else 1
    return None, argv
