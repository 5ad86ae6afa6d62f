"""What all components are: a face on a record that tokenizers, sequences and other faces share.

A component is changed by assignment, and whatever holds it sees the change. The record inside is immutable: a change puts another one in
its place, and tells the tokenizers that use it to be built again.
"""

from __future__ import annotations

from weakref import WeakSet

from ...formats._json_stages import TABLE, Malformed, read_stage, write_stage
from ...spec import Record
from ._show import show_stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Self

__all__ = ["Cell", "Component", "cell_of", "field"]


class Cell:
    """The shared place of a record.

    Attributes
    ----------
    record
        What it is now.
    steps
        The cells of a sequence's steps, else empty.
    watchers
        What has a method `stage_changed` that is called after each change: tokenizers, and the cells of sequences.
    """

    __slots__ = ("__weakref__", "record", "steps", "watchers")

    def __init__(self, record: Any, steps: tuple[Cell, ...] = ()) -> None:
        self.record = record
        self.steps = steps
        self.watchers: WeakSet[Any] = WeakSet()
        for step in steps:
            step.watchers.add(self)

    def put(self, record: Any) -> None:
        """Put another record in place."""
        self.record = record
        for watcher in tuple(self.watchers):
            watcher.stage_changed()

    def put_step(self, at: int, step: Cell) -> None:
        """Put another step in place of one."""
        self.steps = (*self.steps[:at], step, *self.steps[at + 1 :])
        step.watchers.add(self)
        self.stage_changed()

    def stage_changed(self) -> None:
        """A step has changed."""
        self.put(self.record.replace(steps=[step.record for step in self.steps]))


def cell_of(record: Any) -> Cell:
    """Return a new cell for a record, with cells for the steps of a sequence."""
    steps = getattr(record, "steps", ())
    return Cell(record, tuple(map(cell_of, steps)))


def field(name: str, check: Callable[[object], Any], show: Callable[[Any], Any] = lambda found: found) -> Any:
    """Return the property of a record's field: `check` takes what is assigned, `show` gives what is read."""

    def get(self: Component) -> Any:
        return show(getattr(self._cell.record, name))

    def put(self: Component, value: object) -> None:
        self._cell.put(self._cell.record.replace(**{name: check(value)}))

    return property(get, put, doc=f"The option `{name}`; what uses this component follows a change.")


class Component:
    """A face on a cell. Not made directly: `Component.of` gives the face of a cell, constructors make both."""

    __slots__ = ("__weakref__", "_cell")
    stage = ""  # which part of a tokenizer.json this is
    _cell: Cell

    def __new__(cls, *args: Any, **options: Any) -> Self:
        if cls.__base__ is Component:
            raise TypeError(f"cannot create {cls.__name__!r} instances")
        return object.__new__(cls)

    @classmethod
    def of(cls, cell: Cell) -> Self:
        """Return the face of a cell: an object of the class that its record is of."""
        self = object.__new__(cls._class_of(type(cell.record)))
        self._cell = cell
        return self

    @classmethod
    def _class_of(cls, kind: type[Record]) -> type[Self]:
        """Return the class for a kind of record: the one of the same name in the module."""
        from sys import modules

        found: type[Self] = getattr(modules[cls.__module__], kind.__name__)
        return found

    def _make(self, **fields: Any) -> None:
        kind = TABLE[self.stage][type(self).__name__][0]
        self._cell = Cell(kind(**fields))

    def __repr__(self) -> str:
        return show_stage(self.stage, self._cell.record)

    def __getstate__(self) -> bytes:
        """Return the JSON of the component."""
        from json import dumps

        return dumps(write_stage(self.stage, self._cell.record), ensure_ascii=False, separators=(",", ":")).encode()

    def __setstate__(self, state: bytes) -> None:
        """Become what a JSON says; `ValueError` where that is another kind of component."""
        from json import loads

        try:
            record = read_stage(self.stage, loads(state), ())
        except Malformed as error:
            raise ValueError(error.reason) from None
        if record is None or self._class_of(type(record)) is not type(self):
            raise ValueError(f"this is not the state of a {type(self).__name__}")
        self._cell = cell_of(record)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.__getstate__())


def _restored(kind: type[Component], state: bytes) -> Component:
    new = object.__new__(kind)
    new.__setstate__(state)
    return new


class Steps(Component):
    """What the sequences of all stages share."""

    __slots__ = ()

    def _set_steps(self, parts: list[Component]) -> None:
        cells = tuple([part._cell for part in parts])
        kind = TABLE[self.stage]["Sequence"][0]
        self._cell = Cell(kind([cell.record for cell in cells]), cells)

    def _at(self, index: object) -> int:
        from ._checks import number

        at = number(index)
        if at >= len(self._cell.steps):
            raise IndexError("Index not found")
        return at
