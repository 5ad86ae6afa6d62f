"""The part of `Tokenizer` that is made of components: models, stages, added tokens, limits, and the engine that runs them."""

from __future__ import annotations

from threading import Lock

from ...spec import Spec
from ...stages.added import normal_form
from ...stagespecs.limits import Padding, Truncation
from ._added import AddedVocabulary, token_of, tokens_of
from ._checks import choice, flag, instance, number, one_id, or_none, side, text, warn_ignored
from ._component import Cell, cell_of
from ._engine import Engine
from ._tables import Texts
from ._tokens import AddedToken
from .decoders import Decoder
from .models import Model
from .normalizers import Normalizer
from .pre_tokenizers import PreTokenizer
from .processors import PostProcessor, runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...tokenizer import Tokenizer as Native
    from ._component import Component

__all__ = ["Parts"]

_strategy = choice(
    ("longest_first", "only_first", "only_second"),
    "Unknown `strategy`: `{}`. Use one of `longest_first`, `only_first`, or `only_second`",
)
_side = choice(("left", "right"), "Unknown `direction`: `{}`. Use one of `left` or `right`.")


def _stage(name: str, base: Any) -> Any:
    """Return the property of a component that may be missing."""

    def get(self: Parts) -> Component | None:
        cell = self._cells[name]
        return None if cell is None else base.of(cell)

    def put(self: Parts, value: object) -> None:
        self._put_cell(name, None if value is None else instance(value, base)._cell)

    return property(get, put, doc=f"The {name.replace('_', '-')}, or None. It may be assigned, and changed in place.")


class Parts:
    """What a tokenizer is made of."""

    _cells: dict[str, Cell | None]
    _added: AddedVocabulary
    _truncation: Truncation | None
    _padding: Padding | None

    def _become(self, spec: Spec, *, number: bool = False) -> None:
        """Take over what a specification says; `number`: with the ids of added tokens that the reference gives, whatever they are there."""
        self._lock = Lock()
        self._n_changes = 0
        self._engine_now: Engine | None = None
        self._texts: Texts | None = None
        self._native: Native | None = None
        self._built: tuple[Any, Native] | None = None
        self._encodes_special = False
        self._name = spec.name
        self._cells = {}
        for name in ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder"):
            record = getattr(spec, name)
            self._put_cell(name, None if record is None else cell_of(record))
        self._added = AddedVocabulary(() if number else spec.added_tokens)
        if number:
            self._add(list(map(token_of, spec.added_tokens)))
        self._truncation, self._padding = spec.truncation, spec.padding  # type: ignore[assignment]

    def _put_cell(self, name: str, cell: Cell | None) -> None:
        before = self._cells.get(name)
        self._cells[name] = cell
        if cell is not None:
            cell.watchers.add(self)
        if before is not None and before not in self._cells.values():
            before.watchers.discard(self)
        self.stage_changed()

    def stage_changed(self) -> None:
        """A component has changed; the next call builds anew."""
        self._n_changes += 1
        self._engine_now = self._native = None

    def _spec(self, *, written: bool = False) -> Spec:
        stages: dict[str, Any] = {name: None if cell is None else cell.record for name, cell in self._cells.items()}
        added = self._added.written() if written else self._added.records()
        return Spec(self._name, added_tokens=added, truncation=self._truncation, padding=self._padding, **stages)

    @property
    def _engine(self) -> Engine:
        engine = self._engine_now
        if engine is None:
            with self._lock:
                n_changes, engine = self._n_changes, self._engine_now or self._new_engine()
                self._engine_now = engine
                if n_changes != self._n_changes:  # another thread has changed something meanwhile
                    self._engine_now = None
        return engine

    def _new_engine(self) -> Engine:
        """Build an engine; where only the post-processor is another, around the native tokenizer of the one before."""
        spec = self._spec()
        parts = (spec.model, spec.normalizer, spec.pre_tokenizer, spec.decoder, spec.added_tokens)
        before = self._built
        engine = Engine(spec, before[1] if before is not None and before[0] == parts else None)
        self._built = (parts, engine.native)
        return engine

    @property
    def tokenizer(self) -> Native:
        """The `ctok.Tokenizer` that does the same, with everything that this face lacks; built when first asked for."""
        if self._native is None:
            from ...tokenizer import Tokenizer as Native

            spec = self._spec()
            self._native = self._engine.native if spec.post_processor is None else Native.from_spec(spec)
        return self._native

    # ---- components ----

    normalizer = _stage("normalizer", Normalizer)
    pre_tokenizer = _stage("pre_tokenizer", PreTokenizer)
    post_processor = _stage("post_processor", PostProcessor)
    decoder = _stage("decoder", Decoder)

    @property
    def model(self) -> Any:
        """The model. It may be assigned, and changed in place."""
        return Model.of(self._model)

    @model.setter
    def model(self, model: Model) -> None:
        self._put_cell("model", instance(model, Model)._cell)

    @property
    def _model(self) -> Cell:
        return self._cells["model"]  # type: ignore[return-value]  # there always is one

    @property
    def _table(self) -> Texts:
        table = self._model.record.tokens
        if self._texts is None or self._texts.table is not table:
            self._texts = Texts(table)
        return self._texts

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens in a text are plain text."""
        return self._encodes_special

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._encodes_special = flag(value)

    # ---- added tokens ----

    def add_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens, and return how many of them were not there just so. The next call that encodes builds the tokenizer anew.

        Raises `SpecError` if the normalizer leaves nothing of one; then none is added.
        """
        return self._add(tokens_of(instance(tokens, list), False))

    def add_special_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add special tokens; as `add_tokens`."""
        return self._add(tokens_of(instance(tokens, list), True))

    def _add(self, tokens: list[AddedToken]) -> int:
        normalizer = self.normalizer
        for token in tokens:
            if normalizer is not None and token.normalized and token.content:
                normal_form(token.content, normalizer.normalize_str)
        with self._lock:
            n = self._added.add(tokens, self._table.find, len(self._table))
            self.stage_changed()
        return n

    # ---- limits ----

    def enable_truncation(
        self, max_length: int, *, stride: int = 0, strategy: str = "longest_first", direction: str = "right", **kwargs: Any
    ) -> None:
        """Let all later calls cut texts.

        Parameters
        ----------
        max_length
            Ids that may remain, special tokens included.
        stride
            Ids that each overflowing piece repeats of the one before.
        strategy
            Of a pair: ``"longest_first"``, ``"only_first"`` or ``"only_second"``.
        direction
            The side at which is cut.

        Raises
        ------
        ValueError
            An unknown word; or `stride` is not less than what remains of a single text.
        """
        warn_ignored(kwargs)
        truncation = Truncation(number(max_length), _strategy(strategy), number(stride), _side(direction))
        n_added = self._n_added(False)
        most = truncation.max_length - n_added
        if 0 <= most <= truncation.stride and truncation.stride:
            raise ValueError(
                f"tokenizer stride set to {stride}, which is greater than or equal to its effective max length of {most} "
                f"(= {max_length} original max length - {n_added} added special tokens), "
            )
        self._truncation = truncation

    def no_truncation(self) -> None:
        """Let no later call cut texts."""
        self._truncation = None

    @property
    def truncation(self) -> dict[str, Any] | None:
        """How texts are cut, as `enable_truncation` takes it, or None."""
        if self._truncation is None:
            return None
        return {name: getattr(self._truncation, name) for name in ("max_length", "stride", "strategy", "direction")}

    def enable_padding(
        self,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Let all later calls fill texts up, to `length` or (None) to the longest of a batch, rounded up to a multiple."""
        if "max_length" in kwargs:
            from warnings import warn

            warn("enable_padding(max_length=X) is deprecated, use enable_padding(length=X) instead", DeprecationWarning, stacklevel=2)
            length = kwargs.pop("max_length")
        warn_ignored(kwargs)
        counts = [or_none(number)(length), or_none(number)(pad_to_multiple_of)]
        self._padding = Padding(counts[0], side(direction), counts[1], one_id(pad_id), one_id(pad_type_id), text(pad_token))

    def no_padding(self) -> None:
        """Let no later call fill texts up."""
        self._padding = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """How texts are filled up, as `enable_padding` takes it, or None."""
        if self._padding is None:
            return None
        names = ("length", "pad_to_multiple_of", "pad_id", "pad_token", "pad_type_id", "direction")
        return {name: getattr(self._padding, name) for name in names}

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many ids are added to a text, or to a pair."""
        return self._n_added(flag(is_pair))

    def _n_added(self, pair: bool) -> int:
        cell = self._cells["post_processor"]
        return 0 if cell is None else runner(cell.record).n_added(pair)
