"""The composed tokenizer: built once from a `Spec`, immutable, shared by everything that encodes or decodes."""

from __future__ import annotations

from .. import cutting
from .._native.vocab import Vocab
from ..errors import SpecError
from ..incremental import IncrementalCounter, IncrementalDecoder, IncrementalEncoder
from ..spec import BPE, AddedToken, Spec, Split
from ..stages.pretokenizers import RegexSplitter, build_splitter
from ._many import Many
from ._numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, Literal, TypeAlias, TypeVar

    from typing_extensions import Self

    from .._native.pipeline import IdSequence

    DecodeErrors: TypeAlias = Literal["replace", "strict", "ignore"]
    Utf8Policy: TypeAlias = Literal["maximal_subpart", "per_byte", "hf_run"]
    Origin: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]
    StrOrBytes = TypeVar("StrOrBytes", str, bytes)

__all__ = ["Tokenizer"]


class Tokenizer(Many):
    """Text to ids and back, whole and while it arrives. Made by `ctok.load`, `ctok.for_model` or `Tokenizer.from_spec`.

    A tokenizer does not change: any number of threads, tasks and (by pickle or fork) processes may share it. Everything that can be
    chosen is an option of a call or of a codec.

    Attributes
    ----------
    spec
        The `Spec` it was built from.
    name
        The spec's name.
    special_tokens
        Mapping of special tokens' text to id, a copy.
    """

    __slots__ = ("_origin",)

    _origin: Origin | None

    @classmethod
    def from_spec(cls, spec: Spec, *, origin: Origin | None = None) -> Tokenizer:
        """Return the tokenizer that `spec` describes.

        Parameters
        ----------
        spec
            A `Spec`.
        origin
            ``(callable, arguments)`` that give an equal tokenizer: what it is pickled as. None: pickled by content.

        Raises
        ------
        SpecError
            The spec says something that ctok cannot run, or contradicts itself.

        Notes
        -----
        Cost: about 10 ms for 200 000 tokens.
        """
        if not isinstance(spec, Spec):
            raise TypeError(f"a tokenizer is built from a Spec, not {type(spec).__name__}")
        special = {token.content: token.id for token in spec.added_tokens if token.special}
        always = {token.content: token.id for token in spec.added_tokens if not token.special}
        self = cls._plain(spec, special, always) if _is_plain(spec) else cls._staged(spec, special, always)
        object.__setattr__(self, "spec", spec)
        object.__setattr__(self, "_origin", origin)
        object.__setattr__(self, "_lazy_added_ids", None)
        object.__setattr__(self, "_spelled", {})
        object.__setattr__(self, "_lazy_aligner", None)
        return self

    def __new__(cls, *parts: Any, **options: Any) -> Self:
        if not parts or not isinstance(parts[0], Vocab):
            raise TypeError("a Tokenizer is made by ctok.load(name or path), or by Tokenizer.from_file, from_buffer, from_str or from_spec")
        return super().__new__(cls, *parts, **options)

    @classmethod
    def _plain(cls, spec: Spec, special: dict[str, int], always: dict[str, int]) -> Self:
        """A split rule and byte pairs by rank, nothing else."""
        tokens = spec.model.tokens
        vocab = Vocab(tokens.data, tokens.ends, tokens.ids, tuple(map(_declared, spec.added_tokens)), tokens.splits)
        splitter = build_splitter(spec.pre_tokenizer)
        native, fallback = (None, splitter) if isinstance(splitter, RegexSplitter) else (splitter, None)
        return cls.__new__(cls, vocab, native, fallback, special, always)

    @classmethod
    def _staged(cls, spec: Spec, special: dict[str, int], always: dict[str, int]) -> Self:
        """All stages; imported when the first such tokenizer is built."""
        from ..stages.compose import compose

        try:
            vocab, flow, template, decoding = compose(spec)
        except SpecError as error:
            error.args = (f"{spec.name!r}: {error}", *error.args[1:])
            raise
        special = {token[0]: token[1] for token in vocab.special_tokens if len(token) == 2}
        return cls.__new__(cls, vocab, None, None, special, always, flow, template, decoding=decoding)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tokenizer is immutable; cannot set {name!r}")

    def __reduce__(self) -> Origin:
        return self._origin or (Tokenizer.from_spec, (self.spec,))

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, memo: object) -> Tokenizer:
        return self

    def __repr__(self) -> str:
        return f"<Tokenizer {self.name!r}: {self.vocab_size} ids, {len(self.specials)} special tokens>"

    # ---- parts of bounded size ----

    def truncate(self, text: StrOrBytes, max_tokens: int, **options: Any) -> StrOrBytes:
        """Return the longest prefix of `text` that ends between two characters and has at most `max_tokens` ids.

        Parameters
        ----------
        text
            A str, or bytes holding UTF-8; the result is of the same type.
        max_tokens
            At least 0.
        options
            As `count` takes them: ``count(truncate(text, n, **o), **o) <= n``.

        Raises
        ------
        ValueError
            The ids that stand around every text are more than `max_tokens`.

        Notes
        -----
        Reads no further than the first place at which it is certain that there are more than `max_tokens` ids. With a split pattern that
        only the `regex` package can run it reads until there are more than twice as many, and finds the prefix by bisection: it fits, and
        none of up to 32 characters more does.
        """
        max_tokens = whole_number(max_tokens, "max_tokens", 0)
        if isinstance(text, str):
            return text[: cutting.prefix_end(self, text, 0, max_tokens, options)]
        if not isinstance(text, (bytes, bytearray, memoryview)):
            raise TypeError(f"text must be str, or bytes holding UTF-8, not {type(text).__name__}")
        raw = bytes(text)
        try:
            whole = raw.decode()
        except UnicodeDecodeError:
            self.count(raw, **options)  # refuses it, unless the options say otherwise
            whole = raw.decode("utf-8", "replace")
        end = cutting.prefix_end(self, whole, 0, max_tokens, options)
        return raw[: cutting.byte_end(raw, whole, end)]

    def split(self, text: str, max_tokens: int, overlap: int = 0, **options: Any) -> list[str]:
        """Return consecutive pieces of `text`, each as long as it can be with at most `max_tokens` ids.

        Parameters
        ----------
        text
            A str.
        max_tokens
            At least 1.
        overlap
            How many ids each piece repeats of the one before, at most and to a border between characters; less than `max_tokens`. With
            ``overlap=0`` the pieces join to the text.
        options
            As `count` takes them: ``count(piece, **options) <= max_tokens`` for every piece.

        Raises
        ------
        ValueError
            A single character needs more than `max_tokens` ids, or `overlap` is not in ``0 <= overlap < max_tokens``.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be str, not {type(text).__name__}")
        max_tokens, overlap = whole_number(max_tokens, "max_tokens"), whole_number(overlap, "overlap")
        if max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {max_tokens}")
        if not 0 <= overlap < max_tokens:
            raise ValueError(f"overlap must be at least 0 and less than max_tokens={max_tokens}, not {overlap}")
        if not text:
            return []
        return [text[start:end] for start, end in cutting.pieces(self, text, max_tokens, overlap, options)]

    # ---- codecs ----

    def encoder(
        self,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> IncrementalEncoder:
        """Return an `IncrementalEncoder` for one text that arrives in chunks."""
        return IncrementalEncoder(
            self,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            add_special_tokens=add_special_tokens,
            errors=errors,
        )

    def counter(
        self,
        limit: int | None = None,
        rewind: bool = False,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> IncrementalCounter:
        """Return an `IncrementalCounter` for one text that arrives in chunks."""
        return IncrementalCounter(
            self,
            limit=limit,
            rewind=rewind,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            add_special_tokens=add_special_tokens,
            errors=errors,
        )

    def decoder(
        self,
        *,
        stop: Collection[str] | str = (),
        include_stop: bool = False,
        prefix_ids: IdSequence = (),
        skip_special_tokens: bool = False,
        errors: DecodeErrors = "replace",
        utf8_policy: Utf8Policy | None = None,
    ) -> IncrementalDecoder:
        """Return an `IncrementalDecoder` for one stream of ids."""
        return IncrementalDecoder(
            self,
            stop=stop,
            include_stop=include_stop,
            prefix_ids=prefix_ids,
            skip_special_tokens=skip_special_tokens,
            errors=errors,
            utf8_policy=utf8_policy,
        )


def _declared(token: AddedToken) -> tuple[str, int] | tuple[str, int, bool]:
    return (token.content, token.id) if token.special else (token.content, token.id, False)


def _is_plain(spec: Spec) -> bool:
    if not isinstance(spec.model, BPE) or spec.model.mode != "rank" or not isinstance(spec.pre_tokenizer, Split):
        return False
    stages = (spec.normalizer, spec.post_processor, spec.decoder)
    flags = any(token.single_word or token.lstrip or token.rstrip for token in spec.added_tokens)
    return stages == (None, None, None) and not flags
