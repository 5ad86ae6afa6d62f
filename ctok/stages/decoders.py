"""From the decoder of a tokenizer.json to the ops that decode with it (csrc/ctok_chain.h)."""

from __future__ import annotations

from .._native.chains import Chain, Decoding
from ..errors import SpecError
from ..stagespecs import decoders as records
from ..stagespecs.sequences import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .._native.vocab import Vocab
    from ..spec import Record

    Op = tuple[str, bytes | Callable[[bytes], bytes], bytes, int, int, bool]

__all__ = ["build_decoder"]

# What tidying up does to a token, in this order.
CLEANUP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def build_decoder(record: Record | None, vocab: Vocab, *, byte_level: bool = False) -> Decoding:
    """Return what decodes the ids of `vocab` as a tokenizer.json with this decoder says.

    Parameters
    ----------
    record
        A record of `stagespecs.decoders`; None: the tokens with blanks between them, as a file without a decoder means.
    vocab
        Tokens as the file has them, in UTF-8.
    byte_level
        The ordinary tokens of `vocab` are bytes, where the file has them spelled in the byte-level alphabet. The spelling of a token with
        a character that is not in the alphabet must be what `vocab` has.

    Raises
    ------
    SpecError
        A kind of decoder that ctok does not know, or a chain that is too long.
    PatternError
        A regex that cannot be run.

    Notes
    -----
    Costs microseconds; the tables are made when something is decoded.
    """
    ops = [_op("begin", put=" ", flag=True)] if record is None else list(_ops(flat(record, records.Sequence)))
    return Decoding(vocab, Chain(ops), byte_level)


def _op(
    kind: str, find: str | Callable[[bytes], bytes] = "", put: str = "", *, left: int = 0, right: int = 0, flag: bool = False
) -> Op:
    return kind, find.encode() if isinstance(find, str) else find, put.encode(), left, right, flag


def _ops(steps: Iterable[Record]) -> Iterator[Op]:
    joined = False  # all tokens are one, which is the first and the last; or none, where an empty one was dropped
    for step in steps:
        make = _MAKERS.get(type(step))
        if make is None:
            raise SpecError(f"ctok cannot run the decoder {step!r}")
        for op in make(step, joined):
            joined = joined or op[0] in ("fuse", "lossy")
            yield op


def _replace(find: str, put: str) -> list[Op]:
    return [_op("replace", find, put) if find else _op("between", put=put)]


def _cleanup() -> list[Op]:
    return [op for find, put in CLEANUP for op in _replace(find, put)]


def _of_replace(step: records.Replace, joined: bool) -> list[Op]:
    pattern = step.pattern
    if isinstance(pattern, records.String) or not any(char in r"\.^$|?*+()[]{}" for char in pattern.text):
        return _replace(pattern.text, step.content)
    return [_op("regex", _Rewriter(pattern.text, step.content))]


def _of_metaspace(step: records.Metaspace, joined: bool) -> list[Op]:
    if joined:
        return _replace(step.replacement, " " if step.prepend_scheme == "never" else "")
    return [_op("replace", step.replacement, " ", flag=step.prepend_scheme != "never")]


def _of_wordpiece(step: records.WordPiece, joined: bool) -> list[Op]:
    begin = [] if joined else [_op("begin", step.prefix, " ")]
    return begin + (_cleanup() if step.cleanup else [])


def _of_bpe(step: records.BPEDecoder, joined: bool) -> list[Op]:
    if not joined:
        return [_op("last", step.suffix, " ")]
    return _replace(step.suffix, "") if step.suffix else []


def _of_ctc(step: records.CTC, joined: bool) -> list[Op]:
    ops = [] if joined else [_op("dedup")]
    if step.pad_token:
        ops += _replace(step.pad_token, "")
    if step.cleanup:
        ops += _cleanup()
        ops += _replace(step.word_delimiter_token, " ") if step.word_delimiter_token else [_op("between", put=" ", flag=True)]
    return [*ops, _op("drop")]


_MAKERS: dict[type, Callable[..., list[Op]]] = {
    records.ByteLevel: lambda step, joined: [_op("raw"), _op("lossy")],
    records.ByteFallback: lambda step, joined: [_op("bytes")],
    records.Fuse: lambda step, joined: [] if joined else [_op("fuse")],
    records.Metaspace: _of_metaspace,
    records.Replace: _of_replace,
    records.Strip: lambda step, joined: [_op("strip", step.content, left=step.left, right=step.right)],
    records.WordPiece: _of_wordpiece,
    records.BPEDecoder: _of_bpe,
    records.CTC: _of_ctc,
}


class _Rewriter:
    """Replaces the matches of a pattern in UTF-8.

    An empty match right behind a match does not count; after an empty match the search goes on from the same place, so it may be found
    again there, and then from the next character.
    """

    __slots__ = ("compiled", "content", "pattern")

    def __init__(self, pattern: str, content: str) -> None:
        import regex

        from ..errors import PatternError
        from ._pattern.rewrite import rewrite

        self.pattern, self.content = pattern, content
        text, nested = rewrite(f"(?m:{pattern})")  # Oniguruma's ^ and $ are those of lines
        try:
            self.compiled = regex.compile(text, regex.V1 if nested else regex.V0)
        except (regex.error, RecursionError) as error:
            raise PatternError(f"pattern {pattern!r} of a decoder: {error}", pattern=pattern) from None

    def __repr__(self) -> str:  # part of the fingerprint of a saved state
        return f"_Rewriter({self.pattern!r}, {self.content!r})"

    def __call__(self, raw: bytes) -> bytes:
        token, out, sent, at, before = raw.decode("utf-8", "replace"), [], 0, 0, -1
        while at <= len(token) and (match := self.compiled.search(token, at)):
            start, stop = match.span()
            if start == stop == before:
                at += 1
                continue
            out += [token[sent:start], self.content]
            sent = at = before = stop
        return "".join([*out, token[sent:]]).encode()
