"""From a machine to the flat tables that csrc/ctok_dfa.h describes."""

from array import array

from ...errors import PatternError
from .automaton import DEAD, Machine, build, silent_states
from .charset import NotExpressible
from .syntax import parse

__all__ = ["compile_pattern"]

Tables = tuple[int, bytes, bytes, bytes, bytes]

ACCEPT, EMIT, STOP = 1, 2, 4
CERTAIN, SILENT = 2, 4
MOST_ENTRIES = 1 << 20


def compile_pattern(pattern: str) -> Tables:
    """Return the tables of a pattern: ``(n_classes, ascii, bounds, rows, entries)``, as `Splitter` takes them.

    Raises
    ------
    NotExpressible
        The pattern is malformed, or needs a backtracking matcher.
    PatternError
        The pattern can match the empty text.

    Notes
    -----
    Costs milliseconds for usual patterns, and seconds at most: the size of the machine is bounded.
    """
    try:
        machine = build(parse(pattern))
    except RecursionError:
        raise NotExpressible("a pattern of this depth") from None
    except ValueError as error:
        raise PatternError(f"split pattern {pattern!r}: {error}, so it does not say how to cut", pattern=pattern) from None
    if len(machine.classes) > 255 or len(machine.rows) * (len(machine.classes) + 1) > MOST_ENTRIES:
        raise NotExpressible("a pattern of this size")
    ascii_classes, bounds, rows = _class_tables(machine)
    return len(machine.classes), ascii_classes, bounds, rows, _entries(machine)


def _class_tables(machine: Machine) -> tuple[bytes, bytes, bytes]:
    class_of = {i: letter for letter, atoms in enumerate(machine.classes) for i in range(atoms.bit_length()) if atoms >> i & 1}
    ascii_classes = bytes(class_of[i] for i in range(128))
    by_segment = {lo: bytearray(64) for lo, _ in machine.universe.segments}
    for i, (lo, _, p) in enumerate(machine.universe.atoms):
        if i >= 128:
            by_segment[lo][p] = class_of[i]
    bounds, rows = array("I"), bytearray()
    for lo, row in by_segment.items():
        if row != rows[-64:]:
            bounds.append(lo)
            rows += row
    return ascii_classes, bounds.tobytes(), bytes(rows)


def _entries(machine: Machine) -> bytes:
    """The transition table with the restart after a pretoken folded in; the last column says what the end of text means."""
    stride = len(machine.classes) + 1
    silent = silent_states(machine.rows)
    start = machine.rows[0]
    entries = array("I")
    for i, row in enumerate(machine.rows):
        for letter, (to, accepts) in enumerate(row[:-1]):
            if to != DEAD:
                entries.extend((to * stride, accepts))
            elif accepts and start[letter][0] != DEAD:
                entries.extend((start[letter][0] * stride, ACCEPT | EMIT))
            else:
                entries.extend((0, STOP | accepts))
        certain = all(to == DEAD and accepts for to, accepts in row)
        entries.extend((0, row[-1][1] | CERTAIN * certain | SILENT * (i in silent)))
    return entries.tobytes()
