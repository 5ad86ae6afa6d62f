"""From the tree of a split pattern to the tables of csrc/ctok_dfa.h.

The pattern becomes a non-deterministic machine whose threads stand in order of preference, as a backtracking matcher would try them;
the states of the deterministic one are such ordered lists. Accepts come one character late: what a thread at its end does is decided when
the next character (or the end of the text) is known, so a look-ahead of one character costs nothing, and a thread that accepts cuts off
all threads behind it for exactly those characters.

Characters and the end of text are *letters* 0..n_classes; a set of letters is an int. A thread is ``(node, letters)``: with a
look-ahead or a possessive loop on the way to its node, only those next letters keep it alive.
"""

from collections.abc import Callable, Iterator
from typing import Any

from .charset import CharSet, NotExpressible, Universe
from .syntax import Node

__all__ = ["DEAD", "Machine", "build", "silent_states"]

DEAD = -1
MOST_NODES = 20_000
MOST_STATES = 4_000
MOST_ROW_VISITS = 400_000

MATCH, CHAR, SPLIT, GUARD = range(4)

Rows = list[list[tuple[int, bool]]]


class Nfa:
    """Nodes ``(kind, ...)``: MATCH; CHAR(letters, next); SPLIT([next, ...]) in order of preference; GUARD(letters, next)."""

    def __init__(self, letters_of: Callable[[CharSet], int], end: int) -> None:
        self.nodes: list[tuple[Any, ...]] = [(MATCH,)]
        self.letters_of = letters_of  # set -> letters
        self.end = end  # the letter "end of text", as a set

    def add(self, *node: Any) -> int:
        if len(self.nodes) >= MOST_NODES:
            raise NotExpressible("a pattern of this size")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def build(self, tree: Node, then: int) -> int:
        """Return the node at which matching of `tree` and then of node `then` starts."""
        kind = tree[0]
        if kind == "set":
            return self.add(CHAR, self.letters_of(tree[1]), then)
        if kind == "ahead":
            return self.add(GUARD, self.letters_of(tree[1]) | (self.end if tree[2] else 0), then)
        if kind == "cat":
            for part in reversed(tree[1]):
                then = self.build(part, then)
            return then
        if kind == "alt":
            return self.add(SPLIT, [self.build(branch, then) for branch in tree[1]])
        return self.repeat(tree[1], tree[2], tree[3], tree[4], then)

    def repeat(self, body: Node, least: int, most: int | None, kind: str, then: int) -> int:
        leave = then
        if kind == "possessive":
            if body[0] != "set":
                raise NotExpressible("a possessive group")
            leave = self.add(GUARD, ~self.letters_of(body[1]), then)
        order = -1 if kind == "lazy" else 1
        if most is None:
            if _may_be_empty(body):
                raise NotExpressible("an endless loop over nothing")
            targets: list[int] = []
            at = self.add(SPLIT, targets)
            targets += [self.build(body, at), leave][::order]
        else:
            at = then
            for _ in range(most - least):
                at = self.add(SPLIT, [self.build(body, at), leave][::order])
        for _ in range(least):
            at = self.build(body, at)
        return at


def _may_be_empty(tree: Node) -> bool:
    kind = tree[0]
    if kind == "cat":
        return all(map(_may_be_empty, tree[1]))
    if kind == "alt":
        return any(map(_may_be_empty, tree[1]))
    if kind == "repeat":
        return tree[2] == 0 or _may_be_empty(tree[1])
    return bool(kind == "ahead")


def _sets(tree: Node) -> Iterator[CharSet]:
    """Yield every set of a tree."""
    if tree[0] in ("set", "ahead"):
        yield tree[1]
    elif tree[0] == "repeat":
        yield from _sets(tree[1])
    else:
        for part in tree[1]:
            yield from _sets(part)


class Machine:
    """A deterministic machine. `rows[state][letter]` is ``(next state or DEAD, accepts)``; the last letter is the end of the text.

    Attributes
    ----------
    universe
        What the atoms are.
    classes
        Atoms of each letter, as bits; disjoint, together everything.
    rows
        State 0 is the start.
    """

    def __init__(self, universe: Universe, classes: list[int], rows: Rows) -> None:
        self.universe = universe
        self.classes = classes
        self.rows = rows


def build(tree: Node) -> Machine:
    """Return the smallest `Machine` of a tree.

    Raises
    ------
    NotExpressible
        Too many states, or a construct that only a backtracking matcher can run.
    ValueError
        The pattern can match the empty text.
    """
    universe = Universe(list(_sets(tree)))
    members = {s: universe.members(s) for s in _sets(tree)}
    classes = _classes(universe, set(members.values()))
    letters = {s: sum(1 << i for i, atoms in enumerate(classes) if atoms & bits) for s, bits in members.items()}
    nfa = Nfa(letters.__getitem__, 1 << len(classes))
    start = nfa.build(tree, 0)
    rows = _settle(_prune(_determinise(nfa, start, len(classes))))
    if any(accepts for _, accepts in rows[0]):
        raise ValueError("the pattern can match nothing")
    classes, rows = _merge_classes(classes, _minimise(rows))
    return Machine(universe, classes, _number(rows))


def _classes(universe: Universe, sets: set[int]) -> list[int]:
    """Atoms that no set tells apart, together: a list of disjoint sets of atoms."""
    parts = [universe.everything]
    for bits in sets:
        parts = [piece for part in parts for piece in (part & bits, part & ~bits) if piece]
    return parts


def _follow(nfa: Nfa, starts: list[int], all_letters: int) -> tuple[tuple[int, int], ...]:
    """The threads that live after stepping to `starts`, best first: a tuple of (node, letters)."""
    threads: list[tuple[int, int]] = []
    seen: dict[int, int] = {}
    uncut = all_letters
    stack = [(node, all_letters) for node in reversed(starts)]
    while stack:
        index, letters = stack.pop()
        letters &= uncut & ~seen.get(index, 0)
        if not letters:
            continue
        seen[index] = seen.get(index, 0) | letters
        node = nfa.nodes[index]
        if node[0] == SPLIT:
            stack += [(target, letters) for target in reversed(node[1])]
        elif node[0] == GUARD:
            stack.append((node[2], letters & node[1]))
        elif node[0] == MATCH:
            threads.append((index, letters))
            uncut &= ~letters
        elif letters & node[1]:
            threads.append((index, letters & node[1]))
    return tuple(threads)


def _determinise(nfa: Nfa, start: int, n_classes: int) -> Rows:
    all_letters = (2 << n_classes) - 1
    states: dict[tuple[tuple[int, int], ...], int] = {}
    todo = [_follow(nfa, [start], all_letters)]
    states[todo[0]] = 0
    rows: Rows = []
    for threads in todo:  # grows while it is walked
        row = []
        for letter in range(n_classes + 1):
            alive = [nfa.nodes[i] for i, letters in threads if letters >> letter & 1]
            accepts = any(node[0] == MATCH for node in alive)
            after = _follow(nfa, [node[2] for node in alive if node[0] == CHAR], all_letters)
            if after and after not in states:
                if len(states) >= MOST_STATES:
                    raise NotExpressible("a pattern of this many states")
                states[after] = len(states)
                todo.append(after)
            row.append((states[after] if after else DEAD, accepts))
        rows.append(row)
    return rows


def _leading_to(rows: Rows, found: set[int], passes: Callable[[bool], bool]) -> set[int]:
    """The states from which a state of `found` can be reached over transitions whose accept `passes`."""
    before: list[list[int]] = [[] for _ in rows]
    for i, row in enumerate(rows):
        for to, accepts in row:
            if to != DEAD and passes(accepts):
                before[to].append(i)
    queue = list(found)
    for state in queue:  # grows while it is walked
        fresh = [i for i in before[state] if i not in found]
        found.update(fresh)
        queue += fresh
    return found


def _prune(rows: Rows) -> Rows:
    """Send every state from which nothing can be accepted any more to DEAD."""
    live = _leading_to(rows, {i for i, row in enumerate(rows) if any(accepts for _, accepts in row)}, lambda accepts: True)
    return [[(to if to in live else DEAD, accepts) for to, accepts in row] for row in rows]


def silent_states(rows: Rows) -> set[int]:
    """The states from which some text leads to the end of the match without another accept."""
    ends = {i for i, row in enumerate(rows) if any(to == DEAD and not accepts for to, accepts in row)}
    return _leading_to(rows, ends, lambda accepts: not accepts)


def _settle(rows: Rows) -> Rows:
    """Drop the accepts that another one is sure to follow: what is left is a place where some text really stops."""
    decisive = silent_states(rows) | {DEAD}
    return [[(to, accepts and to in decisive) for to, accepts in row] for row in rows]


def _minimise(rows: Rows) -> Rows:
    """Merge the states that no text tells apart. State 0 stays the start.

    A machine with long chains needs as many rounds as a chain is long; then it stays as it is, which is as right and only larger.
    """
    block, count = [0] * len(rows), 1
    for _ in range(max(1, MOST_ROW_VISITS // len(rows))):
        keys: dict[tuple[tuple[int, bool], ...], int] = {}
        for row in rows:
            keys.setdefault(tuple((to if to == DEAD else block[to], accepts) for to, accepts in row), len(keys))
        block = [keys[tuple((to if to == DEAD else block[to], accepts) for to, accepts in row)] for row in rows]
        if len(keys) == count:
            return [[*key] for key in keys]
        count = len(keys)
    return rows


def _merge_classes(classes: list[int], rows: Rows) -> tuple[list[int], Rows]:
    """Join the classes that every state treats alike; order them by their first atom."""
    columns: dict[tuple[tuple[int, bool], ...], int] = {}
    for letter, atoms in enumerate(classes):
        key = tuple(row[letter] for row in rows)
        columns[key] = columns.get(key, 0) | atoms
    ordered = sorted(columns, key=lambda column: columns[column] & -columns[column])
    merged = [[*(column[i] for column in ordered), row[-1]] for i, row in enumerate(rows)]
    return [columns[column] for column in ordered], merged


def _number(rows: Rows) -> Rows:
    """Number the states in the order in which a walk from the start meets them; drop those it does not meet."""
    number, order = {0: 0}, [0]
    for state in order:  # grows while it is walked
        for to, _ in rows[state]:
            if to != DEAD and to not in number:
                number[to] = len(order)
                order.append(to)
    return [[(to if to == DEAD else number[to], accepts) for to, accepts in rows[state]] for state in order]
