"""What the commands' parsers share: exit status, help layout, the options that choose a tokenizer and say how text is read."""

from __future__ import annotations

import argparse
import os
import sys

from ._report import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from ..tokenizer import Tokenizer

DEFAULT = "o200k_base"
SCHEMES = ("tiktoken", "model", "file")
_LATER = {
    "hf": "download its tokenizer.json and give that file",
    "sp": "give the .model file",
}


class Help(argparse.HelpFormatter):
    """Wraps what is one line and keeps what is several; knows its width without the costly import of the one it extends."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, max_help_position=30, width=min(_columns(), 100), **options)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def _columns() -> int:
    try:
        return int(os.environ["COLUMNS"]) - 2
    except (KeyError, ValueError):
        pass
    try:
        return (os.get_terminal_size(sys.stdout.fileno()).columns or 80) - 2
    except (OSError, ValueError, AttributeError):
        return 78


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line with the way to the help, and end with status 64."""

    def __init__(self, command: str, description: str, usage: str, examples: str = "") -> None:
        super().__init__(
            prog=f"ctok {command}".strip(),
            usage=usage,
            description=description,
            epilog=f"examples:\n{examples}" if examples else None,
            formatter_class=Help,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        command = self.prog.partition(" ")[2]
        hint = f", or 'ctok -- {command} ...' if {command!r} is text" if command and message.startswith("unrecognized") else ""
        raise UsageError(f"{message}; see '{self.prog} --help'{hint}")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write what can be written of the help on a terminal of any encoding, and let a closed pipe be known."""
        encoding = getattr(file, "encoding", None) or "utf-8"
        if file is not None:
            file.write(message.encode(encoding, "replace").decode(encoding))

    def parse(self, argv: list[str]) -> argparse.Namespace:
        """Parse, options and other words in any order."""
        return self.parse_intermixed_args(argv)


def at_least(least: int) -> type[int]:
    """Return an argument type: an integer not below `least`."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {value}")
        return value

    number.__name__ = "integer"
    return number  # type: ignore[return-value]


# ---- which tokenizer ----


def add_tokenizer_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tokenizer")
    group.add_argument(
        "-T", "--tokenizer", metavar="SPEC", help=f"a name, a file or a directory, also as tiktoken:NAME, model:NAME, file:PATH ({DEFAULT})"
    )
    group.add_argument("-m", "--model", metavar="NAME", help="the tokenizer of this model, e.g. gpt-4o")
    add_file_options(group)


def add_file_options(parser: argparse._ActionsContainer) -> None:
    """Add what a rank file does not say itself."""
    parser.add_argument("--pattern", metavar="REGEX", help="the split pattern of a rank file, which does not say it")
    parser.add_argument(
        "--special-token", metavar="TEXT=ID", type=special_token, action="append", help="a special token of a rank file; may be repeated"
    )


def special_token(text: str) -> tuple[str, int]:
    """An argument type: a special token and its id."""
    token, equals, number = text.rpartition("=")
    if not equals or not token or not (number.isascii() and number.isdecimal()):
        raise argparse.ArgumentTypeError(f"write the token's text, '=', and its id, as in '<|end|>=5000', not {text!r}")
    return token, int(number)


def tokenizer_of(args: argparse.Namespace) -> Tokenizer:
    """Return the tokenizer that the options choose."""
    if args.model is not None and args.tokenizer is not None:
        raise UsageError("-m/--model and -T/--tokenizer both choose a tokenizer; give one of them")
    return resolve(f"model:{args.model}" if args.model is not None else args.tokenizer or DEFAULT, args.pattern, args.special_token)


def resolve(spec: str, pattern: str | None = None, special_tokens: list[tuple[str, int]] | None = None) -> Tokenizer:
    """Return the tokenizer of a SPEC: ``SCHEME:REST``, or what `ctok.load` takes."""
    from ..registry import for_model, load

    scheme, rest = scheme_of(spec)
    if scheme == "model":
        if pattern is not None or special_tokens:
            raise UsageError("--pattern and --special-token are for files, not for models")
        return for_model(rest)
    source = path_of(rest) if scheme == "file" else rest
    return load(source, pattern=pattern, special_tokens=dict(special_tokens) if special_tokens else None)


def scheme_of(spec: str) -> tuple[str | None, str]:
    """Return ``(scheme, rest)``; the scheme is None for a plain name or path."""
    scheme, colon, rest = spec.partition(":")
    if colon and scheme in _LATER:
        raise UsageError(f"{spec!r}: {scheme}: is no scheme yet; {_LATER[scheme]}")
    if not colon or scheme not in SCHEMES:
        return None, spec
    if not rest:
        raise UsageError(f"{spec!r} names nothing after the colon")
    if scheme == "tiktoken" and ("/" in rest or "\\" in rest):
        raise UsageError(f"{spec!r}: {rest!r} is a path, not the name of an encoding; use file:{rest}")
    return scheme, rest


def path_of(name: str) -> str:
    """Return `name` so that it cannot be taken for the name of an encoding."""
    return os.path.join(os.curdir, name)


# ---- how text is read ----


def add_text_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("text")
    group.add_argument(
        "--specials",
        choices=("text", "raise", "all"),
        default="text",
        help="special tokens in the text: plain text (default), an error, or tokens",
    )
    group.add_argument("--allow-special", dest="specials", action="store_const", const="all", help="the same as --specials all")
    add_template_option(group)
    add_errors_option(group, ("strict", "replace"), "bytes that are not UTF-8: an error (default), or U+FFFD")


def add_template_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--no-template", dest="template", action="store_false", help="leave out the tokens that the tokenizer's file puts around a text"
    )


def add_errors_option(parser: argparse._ActionsContainer, choices: Sequence[str], text: str) -> None:
    parser.add_argument("--errors", choices=choices, default=choices[0], help=text)


def text_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of `encode`, `count`, `encoder` and so on."""
    options: dict[str, Any] = {"errors": args.errors}
    if not getattr(args, "template", True):
        options["add_special_tokens"] = False
    if args.specials == "all":
        options["allowed_special"] = "all"
    elif args.specials == "raise":
        options["disallowed_special"] = "all"
    return options


def add_files_argument(parser: argparse.ArgumentParser, what: str = "text") -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help=f"files of {what}; '-' or none: standard input")
