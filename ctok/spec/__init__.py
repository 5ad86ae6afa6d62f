"""What a tokenizer is, said in plain values: every file format becomes a `Spec`, every tokenizer is built from one.

The classes here are immutable, compare by value, pickle, and know no behaviour. They import only the cheapest of the
standard library: `import ctok` pays for this module. What ctok cannot run may still be said here; it is refused when a tokenizer is built.
"""

from __future__ import annotations

from ._record import MAX_ID, Record, TokenTable, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from typing_extensions import Buffer, Self

__all__ = ["BPE", "MAX_ID", "ROLES", "AddedToken", "Record", "Spec", "Split", "TokenTable"]

ROLES = ("bos", "cls", "eos", "mask", "pad", "sep", "unk")


class BPE(Record):
    """The byte-pair model.

    Parameters
    ----------
    tokens
        A `TokenTable`: the tokens' bytes for mode ``"rank"``, their texts in UTF-8 as the file spells them for mode ``"merges"``.
    mode
        How pairs are chosen. ``"rank"``: always the leftmost pair whose concatenation has the lowest id. ``"merges"``: always the leftmost
        pair that stands earliest in a list.
    merges
        That list: little-endian uint32, left id and right id of each pair in turn. Any contiguous buffer. None for mode ``"rank"``, which
        has none of what follows either.
    dropout
        Probability of leaving out a merge, or None.
    unk_token
        The token for what no token covers, or None: it is left out.
    continuing_subword_prefix, end_of_word_suffix
        What tokens inside a word begin, and at its end end, with; or None.
    fuse_unk
        Unknown characters that stand side by side give one unknown token.
    byte_fallback
        Unknown characters become tokens ``<0x00>`` to ``<0xFF>``.
    ignore_merges
        A pretoken that is a token stays whole, whatever the merges say.
    joined
        The id that each merge gives, little-endian uint32. It follows from the rest and takes no part in equality; who has it spares a
        tokenizer a search when it is built. Empty: not known. Wrong ones give wrong ids.
    by_bytes
        Of a byte-level file the tokens by the bytes that they spell, as ctok's own form of files holds them; the same holds for it.
    used
        Of a list in the order of the ids that it gives, which merges a text ever needs: a bit a merge, lowest bits first; the same holds
        for it.
    """

    __slots__ = (  # noqa: RUF023 - the order of the constructor
        "tokens",
        "mode",
        "merges",
        "dropout",
        "unk_token",
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "fuse_unk",
        "byte_fallback",
        "ignore_merges",
        "joined",
        "by_bytes",
        "used",
    )
    _unequal = ("joined", "by_bytes", "used")
    tokens: TokenTable
    mode: str
    merges: bytes | memoryview | None
    dropout: float | None
    unk_token: str | None
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    fuse_unk: bool
    byte_fallback: bool
    ignore_merges: bool
    joined: bytes | memoryview
    by_bytes: bytes | memoryview
    used: bytes | memoryview

    def __init__(
        self,
        tokens: TokenTable,
        mode: str = "rank",
        merges: Buffer | None = None,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: bool = False,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        joined: Buffer = b"",
        by_bytes: Buffer = b"",
        used: Buffer = b"",
    ) -> None:
        if merges is not None and type(merges) is not bytes:
            merges = memoryview(merges).cast("B")
        if type(joined) is not bytes:
            joined = memoryview(joined).cast("B")
        if type(by_bytes) is not bytes:
            by_bytes = memoryview(by_bytes).cast("B")
        if type(used) is not bytes:
            used = memoryview(used).cast("B")
        if mode == "merges" and (merges is None or len(merges) % 8):
            raise ValueError("a model with a list of merges needs two 4-byte ids a merge")
        if joined and (merges is None or len(joined) * 2 != len(merges)):
            raise ValueError("what merges give must be one 4-byte id a merge")
        if used and len(used) != (len(joined) // 4 + 7) // 8:
            raise ValueError("which merges are used must be one bit for each of the merges whose ids are given")
        self._set(
            tokens=tokens,
            mode=mode,
            merges=merges,
            dropout=dropout,
            unk_token=unk_token,
            continuing_subword_prefix=continuing_subword_prefix,
            end_of_word_suffix=end_of_word_suffix,
            fuse_unk=bool(fuse_unk),
            byte_fallback=bool(byte_fallback),
            ignore_merges=bool(ignore_merges),
            joined=joined,
            by_bytes=by_bytes,
            used=used,
        )

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed. What follows from a changed one is forgotten: of merges and of tokens by their bytes."""
        forgotten = {"joined": b"", "used": b""} if {"tokens", "merges", "continuing_subword_prefix"} & changes.keys() else {}
        if "joined" in changes:
            forgotten["used"] = b""
        if "tokens" in changes:
            forgotten["by_bytes"] = b""
        return super().replace(**forgotten | changes)

    def __repr__(self) -> str:
        if self.merges is None:
            return f"BPE(tokens={self.tokens!r}, mode={self.mode!r})"
        return f"<BPE: {self.tokens!r}, {len(self.merges) // 8} merges>"

    def __hash__(self) -> int:
        return hash((self.tokens, self.mode, 0 if self.merges is None else len(self.merges)))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = [getattr(self, name) for name in self.__slots__ if name not in self._unequal]
        fields[2] = None if self.merges is None else bytes(self.merges)
        return BPE, tuple(fields)


class Split(Record):
    """A pre-tokenizer that cuts the text into the successive matches of a pattern; text that nothing matches is dropped.

    Parameters
    ----------
    pattern
        The pattern, in the syntax of the `regex` package.

    Notes
    -----
    This is what rank files mean. The stage of the same name in a tokenizer.json is `ctok.stagespecs.pretokenizers.Split`.
    """

    __slots__ = ("pattern",)
    pattern: str

    def __init__(self, pattern: str) -> None:
        if not isinstance(pattern, str):
            raise TypeError(f"a split pattern must be a str, got {type(pattern).__name__}")
        self._set(pattern=pattern)


class AddedToken(Record):
    """A token that is matched in the text before the model sees it.

    Parameters
    ----------
    content
        Its text.
    id
        Its id. It may be that of another added token; then the first declared one is what the id decodes to.
    special
        True: it has meaning, and is plain text unless the caller allows it. False: it is always matched.
    single_word
        It matches only where no word character stands beside it.
    lstrip, rstrip
        It takes the white space before it, or behind it, along.
    normalized
        It is looked for in the normalised text. None: if it is not special.
    """

    __slots__ = ("content", "id", "special", "single_word", "lstrip", "rstrip", "normalized")  # noqa: RUF023 - the order of the constructor
    content: str
    id: int
    special: bool
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool

    def __init__(
        self,
        content: str,
        id: int,
        special: bool = True,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
    ) -> None:
        if not isinstance(content, str):
            raise TypeError(f"an added token's content must be a str, got {type(content).__name__}")
        if not content:
            raise ValueError(f"the added token with id {id} is empty")
        if not isinstance(id, int):
            raise TypeError(f"the id of added token {content!r} must be an int, got {type(id).__name__}")
        if not 0 <= id <= MAX_ID:
            raise ValueError(f"the id of added token {content!r} is {id}; ids must be in 0 <= id < 2**31")
        # A vocabulary may have thousands: one by one takes half the time of `_set`.
        put(self, "content", content)
        put(self, "id", int(id))
        put(self, "special", bool(special))
        put(self, "single_word", bool(single_word))
        put(self, "lstrip", bool(lstrip))
        put(self, "rstrip", bool(rstrip))
        put(self, "normalized", not special if normalized is None else bool(normalized))


class Spec(Record):
    """A whole tokenizer, as values.

    Parameters
    ----------
    name
        What to call it; not empty.
    model
        A model: `BPE`, or one of `ctok.stagespecs.models`.
    pre_tokenizer
        A pre-tokenizer: `Split`, one of `ctok.stagespecs.pretokenizers`, or None.
    added_tokens
        `AddedToken` objects in declaration order. Any iterable; kept as a tuple.
    normalizer, post_processor, decoder
        The other stages, records of `ctok.stagespecs`, or None where the tokenizer has none.
    source
        A str that says where this came from, for people; it takes no part in equality.
    roles
        Which tokens play a part, where the files say so: ``(role, text)`` pairs or a mapping, of the roles bos, eos, unk, pad, cls, sep and
        mask. Kept as a tuple in the order of the roles' names.
    truncation, padding
        `ctok.stagespecs.limits` records, as a file sets them; kept, not applied.
    document
        The file this came from without its large tables, or None: what no field says is in it, so that the file can be written again as it
        was. JSON in UTF-8 for a tokenizer.json, a protobuf for a SentencePiece model. It takes no part in equality.
    """

    __slots__ = (  # noqa: RUF023 - the order of the constructor
        "name",
        "model",
        "pre_tokenizer",
        "added_tokens",
        "normalizer",
        "post_processor",
        "decoder",
        "source",
        "roles",
        "truncation",
        "padding",
        "document",
    )
    _unequal = ("source", "document")
    name: str
    model: Any
    pre_tokenizer: Any
    added_tokens: tuple[AddedToken, ...]
    normalizer: Record | None
    post_processor: Record | None
    decoder: Record | None
    source: str | None
    roles: tuple[tuple[str, str], ...]
    truncation: Record | None
    padding: Record | None
    document: bytes | None

    def __init__(
        self,
        name: str,
        model: Record,
        pre_tokenizer: Record | None,
        added_tokens: Iterable[AddedToken] = (),
        normalizer: Record | None = None,
        post_processor: Record | None = None,
        decoder: Record | None = None,
        source: str | None = None,
        roles: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        truncation: Record | None = None,
        padding: Record | None = None,
        document: bytes | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"a spec's name must be a str that is not empty, got {name!r}")
        self._set(
            name=name,
            model=model,
            pre_tokenizer=pre_tokenizer,
            added_tokens=_checked_added(tuple(added_tokens)),
            normalizer=normalizer,
            post_processor=post_processor,
            decoder=decoder,
            source=source,
            roles=_checked_roles(dict(roles)),
            truncation=truncation,
            padding=padding,
            document=document,
        )

    def role(self, name: str) -> str | None:
        """Return the text of the token that plays a part (``"pad"``, ...), or None where nothing says which one does."""
        return dict(self.roles).get(name)

    def __repr__(self) -> str:
        return f"<Spec {self.name!r}: {self.model!r}, {self.pre_tokenizer!r}, {len(self.added_tokens)} added tokens>"


def _checked_added(tokens: tuple[AddedToken, ...]) -> tuple[AddedToken, ...]:
    contents = set()
    for token in tokens:
        if not isinstance(token, AddedToken):
            raise TypeError(f"added_tokens must hold AddedToken objects, got {type(token).__name__}")
        if token.content in contents:
            raise ValueError(f"added token {token.content!r} is declared twice")
        contents.add(token.content)
    return tokens


def _checked_roles(roles: dict[str, str]) -> tuple[tuple[str, str], ...]:
    for role, text in roles.items():
        if role not in ROLES:
            raise ValueError(f"{role!r} is no role; roles are {', '.join(ROLES)}")
        if not isinstance(text, str):
            raise TypeError(f"the token of the role {role} must be a str, got {type(text).__name__}")
    return tuple(sorted(roles.items()))
