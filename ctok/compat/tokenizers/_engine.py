"""What runs a tokenizer as it is at one time: made when it is first needed, thrown away when a component changes."""

from __future__ import annotations

from functools import partial

from ..._native.batch import encode_batch
from ...encoding import Encoding as Whole
from ...encoding import pad, truncate
from ...encoding._edit import _longest_first as longest_first
from ...errors import CtokError, EncodeError
from ...spec import Spec
from ...stagespecs.models import Unigram
from ...tokenizer import Tokenizer as Native
from ._draft import Draft, Layout, bare
from ._encoding import Encoding
from ._inputs import NOT_INPUT, NOT_TEXT, NOT_WORDS
from .processors import runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...stages.postprocessors import PostProcessor
    from ...stagespecs.limits import Padding, Truncation
    from ...tokenizer._aligning import Aligner
    from ._inputs import Input, Pair

__all__ = ["Engine", "Options"]

_NOTHING: tuple[str, ...] = ()


class Options:
    """What a call encodes with: the tokenizer's settings of that moment, and the call's own."""

    __slots__ = ("add", "allowed", "fast", "padding", "truncation")

    def __init__(
        self, add: bool, allowed: Any, truncation: Truncation | None, padding: Padding | None, fast: bool = False
    ) -> None:
        self.add, self.allowed, self.truncation, self.padding, self.fast = add, allowed, truncation, padding, fast


class Engine:
    """The native tokenizer of a specification, and how its post-processor arranges texts. Immutable.

    Attributes
    ----------
    native
        The `ctok.Tokenizer`, without the post-processor.
    post
        The post-processor.
    is_random
        Whether a text may be encoded otherwise the next time.
    renamed
        Added tokens that the reference decodes to something else than ctok does, id -> how it calls them: those that the normalizer spells
        otherwise, and those that its ByteLevel decoder takes for bytes.
    """

    __slots__ = ("_layouts", "_lazy_aligner", "is_random", "native", "post", "renamed")

    def __init__(self, spec: Spec, native: Native | None = None) -> None:
        self.native = native or Native.from_spec(spec.replace(post_processor=None, truncation=None, padding=None))
        self.post: PostProcessor = runner(spec.post_processor)
        self._layouts: dict[tuple[bool, bool, bool], Layout] = {}
        self.is_random = bool(getattr(spec.model, "dropout", None)) or (isinstance(spec.model, Unigram) and spec.model.alpha is not None)
        self._lazy_aligner: Aligner | None = None
        decoding = self.native.decoding
        misread = frozenset() if decoding is None else decoding.misread
        self.renamed = {token.id: token.content for token in spec.added_tokens if token.id in misread}
        if self.native.flow is not None and self.native.flow.normalizer is not None:
            spelled = {token: self.native.flow.normalizer.normalize(token.content) for token in spec.added_tokens if token.normalized}
            self.renamed |= {token.id: text for token, text in spelled.items() if text != token.content}

    @property
    def _aligner(self) -> Aligner:
        if self._lazy_aligner is None:
            from ...tokenizer._aligning import Aligner

            self._lazy_aligner = Aligner(self.native, as_reference=True)
        return self._lazy_aligner

    def layout(self, pair: bool, options: Options) -> Layout:
        """Return how one text, or two, are arranged. In the reference's fast batches a second text has no type id of its own."""
        key = (pair, options.add, options.fast)
        found = self._layouts.get(key)
        if found is None:
            found = self._layouts[key] = Layout(self.post, pair, options.add, 0 if options.fast else 1)
        return found

    # ---- one text, or two ----

    def encode(self, first: Input, second: Input | None, options: Options) -> Encoding:
        """Return an encoding. What the caller gives is checked already, but for lone surrogates."""
        if self.is_random:
            return self._padded(Encoding.of(self.whole(first, second, options)), options.padding)
        try:
            texts = (self.ids(first, options),) if second is None else (self.ids(first, options), self.ids(second, options))
        except EncodeError as error:
            raise refused(first, second) or error from None
        return self._padded(self.arranged((first, second), texts, options), options.padding)

    def ids(self, text: Input, options: Options) -> list[int]:
        """Return the ids of a text, or of words one after the other."""
        encode = self.native.encode
        if isinstance(text, str):
            return encode(text, allowed_special=options.allowed, add_special_tokens=False)
        found: list[int] = []
        for word in text:
            found += encode(word, allowed_special=options.allowed, add_special_tokens=False)
        return found

    def arranged(self, given: Pair, texts: tuple[list[int], ...], options: Options) -> Encoding:
        """Return the encoding of texts of which the ids are known, cut but not filled up."""
        pair = len(texts) == 2
        layout = self.layout(pair, options)
        make = partial(self._bare, texts, options) if options.fast else partial(self.whole, *given, options)
        truncation = options.truncation
        if truncation is not None and self._must_cut(sum(map(len, texts)), pair, options):
            return Encoding.of_draft(Draft(layout, self._cut(texts, truncation, options), make, True))
        return Encoding.of_draft(Draft(layout, texts, make))

    def _cut(self, texts: tuple[list[int], ...], truncation: Truncation, options: Options) -> tuple[list[int], ...]:
        """Return what remains of texts that are too long."""
        sizes = self._sizes(list(map(len, texts)), truncation, self._most(len(texts) == 2, options))
        if truncation.direction == "left":
            return tuple([text[len(text) - size :] for size, text in zip(sizes, texts, strict=True)])
        return tuple([text[:size] for size, text in zip(sizes, texts, strict=True)])

    def _sizes(self, before: list[int], truncation: Truncation, most: int) -> list[int]:
        """Return how many ids remain of texts that have more than `most` in all; raises what the reference says where that cannot be."""
        if most == 0:
            return [0] * len(before)
        if truncation.strategy == "longest_first":
            sizes = [most] if len(before) == 1 else list(longest_first(before[0], before[1], most))
        else:
            which, excess = truncation.strategy == "only_second", sum(before) - most
            if which == len(before):
                raise TruncationError("Truncation error: Second sequence not provided")
            if before[which] <= excess:
                raise TruncationError("Truncation error: Sequence to truncate too short to respect the provided max_length")
            sizes = before[:]
            sizes[which] -= excess
        cut = [size for size, n in zip(sizes, before, strict=True) if 0 < size < n]
        if cut and truncation.stride >= min(cut):
            raise TruncationError(f"`stride` is {truncation.stride}, but must be less than what remains of a text, which is {min(cut)}")
        return sizes

    def _must_cut(self, n: int, pair: bool, options: Options) -> bool:
        """Whether texts are too long. Where the special tokens alone are, the reference does not cut."""
        if options.truncation is None:
            return False
        most = self._most(pair, options)
        return most >= 0 and n > most

    def _most(self, pair: bool, options: Options) -> int:
        return options.truncation.max_length - (self.post.n_added(pair) if options.add else 0) if options.truncation else 0

    def _bare(self, texts: tuple[list[int], ...], options: Options) -> Whole:
        first, second = bare(texts[0]), bare(texts[1]) if len(texts) == 2 else None
        return self._processed(first, second, options)

    def whole(self, first: Input, second: Input | None, options: Options) -> Whole:
        """Return the encoding with places, tokens and words."""
        if options.fast:
            return self._bare(tuple([self.ids(text, options) for text in (first, second) if text is not None]), options)
        allowed = (options.allowed, _NOTHING, "strict")
        sequence = self._aligner.sequence
        try:
            one = sequence(first, not isinstance(first, str), "char", 0, allowed)
            two = None if second is None else sequence(second, not isinstance(second, str), "char", 1, allowed)
        except EncodeError as error:
            raise refused(first, second) or error from None
        return self._processed(one, two, options)

    def _processed(self, first: Whole, second: Whole | None, options: Options) -> Whole:
        before = [len(first)] if second is None else [len(first), len(second)]
        truncation = options.truncation
        if truncation is not None and self._must_cut(sum(before), second is not None, options):
            sizes = self._sizes(before, truncation, self._most(second is not None, options))
            first = truncate(first, sizes[0], truncation.stride, truncation.direction)
            second = None if second is None else truncate(second, sizes[1], truncation.stride, truncation.direction)
        return self.post.process(first, second, options.add)

    def post_process(self, first: Whole, second: Whole | None, options: Options) -> Whole:
        """Return encodings cut, with what belongs around them, and filled up."""
        found = self._processed(first, second, options)
        if options.padding is None:
            return found
        padding = options.padding
        length = target(len(found), padding)
        return pad(found, length, padding.direction, padding.pad_id, padding.pad_type_id, padding.pad_token)

    # ---- many ----

    def encode_many(self, given: Sequence[Pair], options: Options) -> list[Encoding]:
        """Return the encodings of a batch; threads share the work."""
        if self.is_random or any(not isinstance(text, str) for pair in given for text in pair if text is not None):
            one_by_one = Options(options.add, options.allowed, options.truncation, None, options.fast)
            return pad_batch([self.encode(first, second, one_by_one) for first, second in given], options.padding)
        texts = [text for pair in given for text in pair if isinstance(text, str)]
        try:
            ids = encode_batch(self.native, texts, None, options.allowed, _NOTHING, False, "strict", False)
        except EncodeError as error:
            wrong = next((pair for pair in given if refused(*pair)), None)
            if wrong is None:
                raise
            raise TypeError(NOT_INPUT if wrong[1] is None else NOT_TEXT) from error
        return pad_batch(self.arranged_many(given, ids, options), options.padding)

    def arranged_many(self, given: Sequence[Pair], ids: list[list[int]], options: Options) -> list[Encoding]:
        """Return the encodings of a batch of which the ids are known, in the order of the texts; not filled up."""
        found, at = [], 0
        for pair in given:
            n = 1 if pair[1] is None else 2
            found.append(self.arranged(pair, tuple(ids[at : at + n]), options))
            at += n
        return found

    def _padded(self, encoding: Encoding, padding: Padding | None) -> Encoding:
        return encoding if padding is None else pad_batch([encoding], padding)[0]


class TruncationError(CtokError, ValueError):
    """A text cannot be cut as the tokenizer's truncation says."""


def target(longest: int, padding: Padding) -> int:
    """Return the length to which encodings are filled up."""
    from ...encoding import pad_length

    return pad_length((longest,), padding.length, padding.pad_to_multiple_of)


def pad_batch(encodings: list[Encoding], padding: Padding | None) -> list[Encoding]:
    """Fill encodings up, all to the same length, and return them."""
    if padding is None:
        return encodings
    length = target(max(map(len, encodings), default=0), padding)
    for encoding in encodings:
        if encoding._draft is not None:
            encoding._draft.pad(length, padding)
        else:
            options = {name: getattr(padding, name) for name in ("direction", "pad_id", "pad_type_id", "pad_token")}
            encoding.pad(length, **options)
    return encodings


def refused(first: Input, second: Input | None) -> TypeError | None:
    """The error for a text with a lone surrogate, which is no str for the reference."""
    for text in (first, second):
        for part in [text] if isinstance(text, str) else text or ():
            try:
                part.encode()
            except UnicodeEncodeError:
                return TypeError(NOT_TEXT if isinstance(text, str) else NOT_WORDS)
    return None
