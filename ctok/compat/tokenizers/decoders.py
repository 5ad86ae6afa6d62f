"""Decoders: from tokens to text, and `DecodeStream`."""

from __future__ import annotations

from ..._native.detokenize import decode_str
from ..._native.vocab import Vocab
from ...spec import TokenTable
from ...stages.decoders import build_decoder
from ._checks import character, flag, list_of, number, text
from ._checks import prepend_scheme as prepend_scheme_
from ._checks import sequence as sequence_
from ._component import Component, Steps, field
from ._stream import DecodeStream
from ._tokens import Regex, pattern_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence as Texts

    from ...spec import Record

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "DecodeStream",
    "Decoder",
    "Fuse",
    "Metaspace",
    "Replace",
    "Sequence",
    "Strip",
    "WordPiece",
]


def _decoded(record: Record, tokens: list[str]) -> str:
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    table = TokenTable.from_dict({token.encode(): number for token, number in numbers.items()})
    decoding = build_decoder(record, Vocab(table.data, table.ends, table.ids, ()))
    return decode_str(decoding.vocab, [numbers[token] for token in tokens], False, "replace", None)


class Decoder(Component):
    """Base of the decoders; cannot be made."""

    __slots__ = ()
    stage = "decoder"

    def decode(self, tokens: Texts[str]) -> str:
        """Return the text of tokens."""
        return _decoded(self._cell.record, [text(token) for token in sequence_(tokens)])


class ByteLevel(Decoder):
    """Visible characters become the bytes that they stand for, and these text."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class ByteFallback(Decoder):
    """Tokens ``<0x00>`` to ``<0xFF>`` become bytes, and what they spell becomes text."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class Fuse(Decoder):
    """Joins all tokens into one."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class Replace(Decoder):
    """Puts `content` where `pattern` matches in a token."""

    __slots__ = ()

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self._make(pattern=pattern_of(pattern), content=text(content))


class Strip(Decoder):
    """Drops up to `left` times the character `content` at the start of each token, and up to `right` times at its end."""

    __slots__ = ()

    def __init__(self, content: str = " ", left: int = 0, right: int = 0) -> None:
        self._make(content=character(content), left=number(left), right=number(right))

    content = field("content", character)
    start = field("left", number)
    stop = field("right", number)


class WordPiece(Decoder):
    """Drops `prefix` from tokens that continue a word, puts blanks before the others, and with `cleanup` tidies blanks at punctuation."""

    __slots__ = ()

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self._make(prefix=text(prefix), cleanup=flag(cleanup))

    prefix = field("prefix", text)
    cleanup = field("cleanup", flag)


class Metaspace(Decoder):
    """`replacement` becomes a blank; at the start of the first token it is dropped, unless `prepend_scheme` is ``"never"``."""

    __slots__ = ()

    def __init__(self, replacement: str = "\u2581", prepend_scheme: str = "always", split: bool = True) -> None:
        self._make(replacement=character(replacement), prepend_scheme=prepend_scheme_(prepend_scheme), split=flag(split))

    replacement = field("replacement", character)
    prepend_scheme = field("prepend_scheme", prepend_scheme_)
    split = field("split", flag)


class BPEDecoder(Decoder):
    """The end-of-word `suffix` becomes a blank, and nothing in the last token."""

    __slots__ = ()

    def __init__(self, suffix: str = "</w>") -> None:
        self._make(suffix=text(suffix))

    suffix = field("suffix", text)


class CTC(Decoder):
    """Joins repeated tokens, drops `pad_token`, and (if `cleanup`) tidies and turns `word_delimiter_token` into a blank."""

    __slots__ = ()

    def __init__(self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True) -> None:
        self._make(pad_token=text(pad_token), word_delimiter_token=text(word_delimiter_token), cleanup=flag(cleanup))

    pad_token = field("pad_token", text)
    word_delimiter_token = field("word_delimiter_token", text)
    cleanup = field("cleanup", flag)


class Sequence(Steps, Decoder):
    """Several decoders, one after the other."""

    __slots__ = ()

    def __init__(self, decoders: list[Decoder]) -> None:
        self._set_steps(list_of(decoders, Decoder))
