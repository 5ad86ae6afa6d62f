"""Post-processors: what is put around the ids of one text or two.

`build_post_processor` gives a `PostProcessor`. `PostProcessor.around` is all that plain encoding, counting and streams need: the ids before
and behind a single text. `PostProcessor.encode` is the whole of it, over `Encoding` records: cut, add, merge.

Inside, a post-processor turns a list of encodings into a list of encodings, which are merged at the end. A sequence of post-processors
hands the list on unmerged, as the reference does.
"""

from __future__ import annotations

from ..encoding import Encoding, merge, truncate_pair
from ..encoding._edit import cut, framed
from ..encoding._record import added, changed, numbers_of, repeated
from ..errors import SpecError
from ..spec import Record
from ..stagespecs import postprocessors as specs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..stagespecs.limits import Truncation

    Step = Callable[[list[Encoding], bool], list[Encoding]]

__all__ = ["Frame", "PostProcessor", "build_post_processor", "trim_offsets"]

#: White_Space of Unicode 16, and how byte-level tokens show a space.
SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u0120"
#: Stands for the text where only what is put around it is asked for.
_TEXT = 0xFFFFFFFE


# ---- spans without white space ----


def _spaces(token: str, unit: str) -> tuple[int, int, int]:
    """Return how many spaces lead a token, and what they and those at its end take in a text."""
    n = len(token)
    leading, trailing = n - len(token.lstrip(SPACES)), n - len(token.rstrip(SPACES))
    if unit != "byte" or token.isascii() or not (leading or trailing):
        return leading, leading, trailing
    sizes = [1 if char == "\u0120" else len(char.encode()) for char in token]
    return leading, sum(sizes[:leading]), sum(sizes[n - trailing :])


def trim_offsets(encoding: Encoding, add_prefix_space: bool) -> Encoding:
    """Return the encoding with spans that leave out the white space with which a token begins and ends.

    With `add_prefix_space` a single space at the start of the text is taken for one that was put there, and has no part in the span anyway.
    """
    from array import array

    starts, ends = array("I", bytes(encoding.column("starts"))), array("I", bytes(encoding.column("ends")))
    token, names, unit = encoding._token, encoding._names, encoding.unit
    known: dict[int, tuple[int, int, int]] = {}
    for i, number in enumerate(encoding.column("ids").tolist()):
        found = known.get(number)
        if i in names:
            found = _spaces(names[i], unit)
        elif found is None:
            found = known[number] = _spaces(token(number), unit)
        count, leading, trailing = found
        if count:
            if (i == 0 or starts[i] == 0) and add_prefix_space and count == 1:
                leading = 0
            starts[i] = min(starts[i] + leading, ends[i])
        if trailing and ends[i] >= trailing:
            ends[i] = max(ends[i] - trailing, starts[i])
    return changed(encoding, starts=numbers_of(starts), ends=numbers_of(ends))


def _with_pieces(encoding: Encoding, change: Callable[[Encoding], Encoding]) -> Encoding:
    """Change an encoding and the pieces that overflow from it."""
    if encoding._overflowing == ():
        return change(encoding)
    return changed(change(encoding), overflowing=lambda: tuple([change(piece) for piece in encoding.overflowing]))


def _trim_all(encodings: list[Encoding], add_prefix_space: bool) -> list[Encoding]:
    return [_with_pieces(encoding, lambda one: trim_offsets(one, add_prefix_space)) for encoding in encodings]


def _typed(encoding: Encoding, type_id: int) -> Encoding:
    return changed(encoding, type_ids=repeated(type_id, len(encoding)))


def _numbered(encoding: Encoding, sequence: int) -> Encoding:
    return changed(encoding, ranges={**encoding._ranges, sequence: (0, len(encoding))})


# ---- steps ----


def _byte_level(record: specs.ByteLevel) -> Step:
    def step(encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        if record.trim_offsets:
            encodings = _trim_all(encodings, record.add_prefix_space)
        return [_numbered(encoding, i) for i, encoding in enumerate(encodings)]

    return step


def _wrapped(encoding: Encoding, before: list[Encoding], behind: list[Encoding], sequence: int) -> Encoding:
    """Return the encoding between others; all of it then counts as text in the mask of special tokens, and as one sequence."""
    plain = changed(encoding, special_tokens_mask=memoryview(bytes(len(encoding))), overflowing=(), ranges={})
    n = sum(map(len, before))
    return changed(merge([*before, plain, *behind]), ranges={sequence: (n, n + len(encoding))})


def _bert(record: specs.BertProcessing) -> Step:
    def step(encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        if not add_special_tokens:
            return encodings
        unit = encodings[0].unit
        first, sep, second = (added([(pair[1], pair[0])], kind, unit) for pair, kind in ((record.cls, 0), (record.sep, 0), (record.sep, 1)))

        def wrap(encoding: Encoding, i: int) -> Encoding:
            return _wrapped(encoding, [first], [sep], 0) if i == 0 else _wrapped(encoding, [], [second], 1)

        return [_with_pieces(encoding, lambda one, i=i: wrap(one, i)) for i, encoding in enumerate(encodings)]  # type: ignore[misc]

    return step


def _roberta(record: specs.RobertaProcessing) -> Step:
    def step(encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        if record.trim_offsets:
            encodings = _trim_all(encodings, record.add_prefix_space)
        encodings = [_typed(encoding, 0) for encoding in encodings]
        if not add_special_tokens:
            return encodings
        first, sep = (added([(pair[1], pair[0])], 0, encodings[0].unit) for pair in (record.cls, record.sep))

        def wrap(encoding: Encoding, i: int) -> Encoding:
            return _wrapped(_typed(encoding, 0), [sep if i else first], [sep], 1 if i else 0)

        return [_with_pieces(encoding, lambda one, i=i: wrap(one, i)) for i, encoding in enumerate(encodings)]  # type: ignore[misc]

    return step


def _template(record: specs.TemplateProcessing) -> Step:
    tokens = {token.id: token for token in record.special_tokens}
    made: dict[tuple[int, str], Encoding] = {}  # what stands for a piece (by its identity: the record keeps it), in spans of a unit
    for piece in (*record.single, *record.pair):
        if isinstance(piece, specs.SpecialPiece) and piece.id not in tokens:
            raise SpecError(f"the template uses {piece.id!r}, which is not among its special tokens")

    def step(encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        if len(encodings) not in (1, 2):
            raise SpecError(f"a template takes one text or two, not {len(encodings)} parts that another post-processor made")
        encodings, parts = list(encodings), []
        unit = encodings[0].unit
        for piece in record.pair if len(encodings) == 2 else record.single:
            if isinstance(piece, specs.SequencePiece):
                i = "AB".index(piece.id)
                if i == len(encodings):
                    raise SpecError("the template for a single text uses the second text")
                one = encodings[i]
                ranges = {**one._ranges, i: (0, len(one))}
                encodings[i] = changed(one, type_ids=repeated(piece.type_id, len(one)), ranges=ranges)
                parts.append(encodings[i])
            elif add_special_tokens:
                key = id(piece), unit
                if key not in made:
                    token = tokens[piece.id]
                    made[key] = added(zip(token.ids, token.tokens, strict=True), piece.type_id, unit)
                parts.append(made[key])
        return parts

    return step


def _leaves_spans(record: Record) -> bool:
    """Whether no step changes the spans of a text."""
    if isinstance(record, specs.Sequence):
        return all(map(_leaves_spans, record.steps))
    return not getattr(record, "trim_offsets", False)


def _counts(record: Record | None) -> tuple[int, int]:
    """Return how many ids are added to one text and to two."""
    if isinstance(record, specs.TemplateProcessing):
        sizes = {token.id: len(token.ids) for token in record.special_tokens}
        single, pair = (
            sum(sizes[piece.id] for piece in pieces if isinstance(piece, specs.SpecialPiece)) for pieces in (record.single, record.pair)
        )
        return single, pair
    if isinstance(record, specs.BertProcessing):
        return 2, 3
    if isinstance(record, specs.RobertaProcessing):
        return 2, 4
    if isinstance(record, specs.Sequence):
        counts = [_counts(step) for step in record.steps]
        return sum(single for single, _ in counts), sum(pair for _, pair in counts)
    return 0, 0


def _steps(record: Record) -> list[Step]:
    if isinstance(record, specs.Sequence):
        return [step for part in record.steps for step in _steps(part)]
    if isinstance(record, specs.TemplateProcessing):
        return [_template(record)]
    if isinstance(record, specs.BertProcessing):
        return [_bert(record)]
    if isinstance(record, specs.RobertaProcessing):
        return [_roberta(record)]
    if isinstance(record, specs.ByteLevel):
        return [_byte_level(record)]
    raise SpecError(f"{type(record).__name__} is not a post-processor that ctok can run")


class Frame(Record):
    """What is around a single text.

    Attributes
    ----------
    before, behind
        Ids.
    before_types, text_type, behind_types
        The type ids of these, and of all ids of the text.
    """

    __slots__ = ("before", "behind", "before_types", "text_type", "behind_types")  # noqa: RUF023 - the order of the constructor
    before: tuple[int, ...]
    behind: tuple[int, ...]
    before_types: tuple[int, ...]
    text_type: int
    behind_types: tuple[int, ...]

    def __init__(
        self,
        before: tuple[int, ...],
        behind: tuple[int, ...],
        before_types: tuple[int, ...],
        text_type: int,
        behind_types: tuple[int, ...],
    ) -> None:
        self._set(before=before, behind=behind, before_types=before_types, text_type=text_type, behind_types=behind_types)


class PostProcessor:
    """What puts special tokens around texts. Immutable: any number of threads may use it.

    Attributes
    ----------
    record
        The specification it was built from, or None.
    """

    __slots__ = ("_counts", "_is_frame", "_made", "_sets_all", "_steps", "record")

    def __init__(self, record: Record | None) -> None:
        self.record = record
        self._steps = None if record is None else _steps(record)
        self._counts = _counts(record)
        self._is_frame = record is not None and _leaves_spans(record)
        self._made: dict[str, tuple[Encoding, Encoding, int] | None] = {}  # what _around_one gave for a unit of spans
        self._sets_all = isinstance(record, specs.TemplateProcessing)  # type ids and ranges of what it uses

    def n_added(self, pair: bool = False) -> int:
        """Return how many ids are added to a text, or to a pair."""
        return self._counts[1 if pair else 0]

    def frame(self) -> Frame:
        """Return what is around a single text.

        Raises
        ------
        SpecError
            The text does not come exactly once.
        """
        found, places = self._of_one("char")
        if len(places) != 1:
            raise SpecError(f"the post-processor gives a single text {len(places)} times; it must come once to be counted or streamed")
        ids, types, at = tuple(found.ids), tuple(found.type_ids), places[0]
        return Frame(ids[:at], ids[at + 1 :], types[:at], types[at], types[at + 1 :])

    def _of_one(self, unit: str) -> tuple[Encoding, list[int]]:
        """What becomes of a text of one token, and the indexes at which that stands."""
        numbers = [repeated(number, 1) for number in (_TEXT, 0, 1, 0)]
        found = self._process(Encoding.from_tokens(*numbers, token=lambda _: "text", unit=unit), None, True)
        return found, [i for i, number in enumerate(found.column("ids")) if number == _TEXT]

    def _around_one(self, unit: str) -> tuple[Encoding, Encoding, int] | None:
        """What comes before and behind a single text, and its type id; None if the text does not come exactly once."""
        found, places = self._of_one(unit)
        if len(places) != 1:
            return None
        at = places[0]
        return cut(found, 0, at), cut(found, at + 1, len(found)), found.column("type_ids")[at]

    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the ids before and behind a single text; raises as `frame` does."""
        frame = self.frame()
        return frame.before, frame.behind

    def process(self, first: Encoding, second: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Return one text or two with what belongs around them, as one encoding."""
        if self._is_frame and add_special_tokens and second is None and first._overflowing == ():
            if first.unit not in self._made:
                self._made[first.unit] = self._around_one(first.unit)
            around = self._made[first.unit]
            if around is not None:  # it is the same for every text
                before, behind, type_id = around
                return framed(before, first, behind, type_id)
        return self._process(first, second, add_special_tokens)

    def _process(self, first: Encoding, second: Encoding | None, add_special_tokens: bool) -> Encoding:
        """Do step by step what `process` returns."""
        if self._steps is None:
            if second is None:
                return first
            return merge([_numbered(first, 0), _numbered(second, 1)])
        encodings = [first] if second is None else [first, second]
        if not self._sets_all or any(encoding._overflowing != () for encoding in encodings):
            encodings = [
                _typed(_with_pieces(encoding, lambda one, i=i: _numbered(one, i)), i)  # type: ignore[misc]
                for i, encoding in enumerate(encodings)
            ]
        for step in self._steps:
            encodings = step(encodings, add_special_tokens)
        return merge(encodings)

    def encode(
        self, first: Encoding, second: Encoding | None = None, add_special_tokens: bool = True, truncation: Truncation | None = None
    ) -> Encoding:
        """Return what the texts become: cut so that all fits, then processed.

        `second` has type id 1 (``Encoding.from_tokens(..., type_id=1)``). Raises `ValueError` where `truncation` cannot be kept
        (`ctok.encoding.truncate_pair`).
        """
        if truncation is not None:
            n_added = self.n_added(second is not None) if add_special_tokens else 0
            first, second = truncate_pair(first, second, truncation, n_added)
        return self.process(first, second, add_special_tokens)


def build_post_processor(record: Record | None) -> PostProcessor:
    """Return the post-processor of a specification; None gives one that adds nothing.

    Raises
    ------
    SpecError
        ctok cannot run it, or it contradicts itself.
    """
    built = PostProcessor(record)
    nothing = Encoding.from_tokens(b"", b"", b"", b"", token=str)
    built.process(nothing)
    return built
