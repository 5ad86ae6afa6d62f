"""How a run ends: every exception that a user can cause becomes one line on standard error and an exit status."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

OK, ERROR, OVER_LIMIT, USAGE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 64, 130, 141


# What the library advises to callers of Python, and what that is on the command line.
_SAYINGS = (
    ("Pass pattern=... and, where the tokenizer has them, special_tokens={text: id}", "Give --pattern and, if it has any, --special-token"),
    ("use ctok.load(path)", "use -T FILE"),
    ("use ctok.for_model for it", "use -m for it"),
    ("use ctok.load for it", "use -T for it"),
)


class CliError(Exception):
    """A run cannot go on; the message is for the user, and says what to do."""

    status = ERROR


class UsageError(CliError):
    """The arguments make no sense."""

    status = USAGE


def guarded(run: Callable[[list[str]], int], argv: list[str]) -> int:
    """Return the exit status of ``run(argv)``, all output written."""
    try:
        status = _status_of(run, argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        status = PIPE_CLOSED
    except KeyboardInterrupt:
        status = INTERRUPTED
    except OSError as error:
        complain(unwritten(error))
        status = ERROR
    _abandon_what_cannot_be_written()
    return status


def _status_of(run: Callable[[list[str]], int], argv: list[str]) -> int:
    from ..errors import CtokError

    try:
        return run(argv)
    except SystemExit as end:  # from argparse
        return end.code if isinstance(end.code, int) else OK
    except CliError as error:
        complain(str(error))
        return error.status
    except BrokenPipeError:
        raise
    except CtokError as error:
        complain(explain(error))
    except OSError as error:
        complain(_os_error_text(error))
    except MemoryError:
        complain("out of memory")
    return ERROR


def explain(error: Exception) -> str:
    """Return an error's message with a cure in the words of the command line."""
    from ..errors import DecodeError, DisallowedSpecialTokenError, EncodeError

    text = str(error)
    if isinstance(error, EncodeError) and "; pass errors=" in text:
        return text.partition("; pass errors=")[0] + "; use --errors replace to read it as U+FFFD"
    if isinstance(error, DecodeError):
        return f"{text}; use --errors replace to write U+FFFD, or --bytes to write the bytes as they are"
    if isinstance(error, DisallowedSpecialTokenError):
        return text.partition("; allow it with")[0] + "; use --specials all to take it as a token, --specials text as text"
    if isinstance(error, OSError):
        return _os_error_text(error)
    for saying, option in _SAYINGS:
        text = text.replace(saying, option)
    return text


def note(message: str) -> None:
    """Tell what is no error, on standard error."""
    complain(f"note: {message}")


def complain(message: str) -> None:
    """Write ``ctok: message`` to standard error, if there is one."""
    if sys.stderr is not None:
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        sys.stderr.write(f"ctok: {message}\n".encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()


def _os_error_text(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename is not None else reason


def unwritten(error: OSError) -> str:
    """Return what to say when the output cannot be written."""
    return f"cannot write to standard output: {error.strerror or error}"


def _abandon_what_cannot_be_written() -> None:
    """Output that nobody takes any more must not be tried again, and reported, when the interpreter shuts down."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            try:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
            except (OSError, ValueError, AttributeError):  # no descriptor is behind it
                pass
