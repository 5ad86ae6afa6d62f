"""Pairs of neighbours in words, counted and joined: what learning a vocabulary does, whatever says which pair is next.

Each merge visits the blocks of words where its pair stands and collects what changes beside it, by neighbour; then each neighbour's old and
new pair is looked up once. A class derived from `Joining` says which pair is next.
"""

cimport cython
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t

from ctok._native.c_bytes cimport ctok_bytes_append, ctok_bytes_free
from ctok._native.c_pairs cimport (
    CTOK_NO_PAIR, ctok_pair, ctok_pairs_add, ctok_pairs_drop, ctok_pairs_fetch, ctok_pairs_find, ctok_pairs_free, ctok_pairs_hash,
    ctok_pairs_init, ctok_pairs_list, ctok_pairs_memory)
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, CTOK_PREFETCH, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_status)
from ctok._native.cells cimport CELL_BITS, CELL_EDGE, CELL_REST, Cells, behind
from ctok._native.growing cimport Growing, Token

cdef enum:
    LEFT = 0
    RIGHT = 1
    AHEAD = 12                  # blocks whose cells are fetched before they are visited


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)


@cython.no_gc_clear     # what it points into is freed after it
cdef class Joining(Growing):
    """Words whose pairs are joined step by step.

    Parameters
    ----------
    tokens, classes, prefix, longest, by_text
        As for `Growing`: the symbols.
    cells
        The words; they are changed, so no other learner may have them.
    keeps_spent
        A merged pair's count is not forgotten: should the pair arise again, it goes on from there.
    skips_known
        A pair that would make a text that is a token is given up instead of being merged.
    """

    def __cinit__(self, list tokens not None, bytes classes not None, bytes prefix not None, uint32_t longest, bint by_text,
                  Cells cells not None, bint keeps_spent, bint skips_known, *_):
        if ctok_pairs_init(&self.pairs) != CTOK_OK:
            raise MemoryError("no room for training")
        self.words = cells
        self.keeps_spent, self.skips_known = keeps_spent, skips_known

    def __dealloc__(self):
        cdef int side
        ctok_pairs_free(&self.pairs)
        ctok_bytes_free(&self.merged)
        for side in range(2):
            ctok_mem_free(self.events[side])

    @property
    def n_merges(self):
        return self.merged.n // sizeof(Merge)

    @property
    def memory(self):
        """Bytes that pairs and their places take."""
        return ctok_pairs_memory(&self.pairs)

    def merges(self, size_t first=0):
        """Return the merges from number `first` on: a list of (left, right, id, count)."""
        cdef const Merge *m = <const Merge *>self.merged.at
        cdef size_t i
        return [(m[i].left, m[i].right, m[i].id, m[i].count) for i in range(first, self.merged.n // sizeof(Merge))]

    def count_pairs(self):
        """Count the pairs of all words; `run` and `replay` need it done once."""
        cdef ctok_status status
        if self.is_counted or self.words is None:
            raise ValueError("pairs are counted once")
        with nogil:
            status = self.count_all()
        check(status)
        self.is_counted = True

    def run(self, uint32_t n_tokens, uint64_t min_count, size_t most):
        """Learn up to `most` merges, while there are fewer than `n_tokens` tokens and a pair that stands at least `min_count` times.

        Returns
        -------
        int
            How many were learned. `is_done` says whether more calls can be of use.

        Raises
        ------
        MemoryError
            The learner is of no further use; `merges` tells what it learned before.
        """
        cdef ctok_status status = CTOK_OK
        cdef size_t before = self.merged.n
        if not self.is_counted:
            raise ValueError("count_pairs first")
        with nogil:
            while most and not self.is_done and self.texts.n < n_tokens and status == CTOK_OK:
                status = self.step(<int64_t>min(max(min_count, 1), <uint64_t>INT64_MAX))
                most -= 1
        check(status)
        return (self.merged.n - before) // sizeof(Merge)

    def replay(self, uint32_t left, uint32_t right):
        """Merge a given pair, whatever its count, and return the new token's id."""
        cdef ctok_status status
        if not self.is_counted or left >= self.texts.n or right >= self.texts.n:
            raise ValueError("no such pair")
        with nogil:
            status = self.merge(left, right)
        check(status)
        return (<Merge *>(self.merged.at + self.merged.n - sizeof(Merge))).id

    def forget(self):
        """Give back all memory but that of the tokens and the merges. Nothing more can be learned."""
        cdef int side
        ctok_pairs_free(&self.pairs)
        for side in range(2):
            ctok_mem_free(self.events[side])
            self.events[side] = NULL
            self.n_events[side] = self.cap_events[side] = 0
        self.words = None
        self.is_done, self.is_counted = True, False

    # ---- counting ----

    cdef ctok_status count_all(self) noexcept nogil:
        cdef const uint32_t *at = self.words.at
        cdef const uint32_t *begin = self.words.begin
        cdef uint32_t block, p, number, i, n = self.words.n
        cdef ctok_pair *pair
        for block in range(self.words.n_blocks):
            for p in range(begin[block], min(begin[block + 1], n - 1)):
                if at[p] == CELL_EDGE or at[p + 1] == CELL_EDGE or not self.may_join(at[p], at[p + 1]):
                    continue
                number = ctok_pairs_add(&self.pairs, at[p], at[p + 1])
                if number == CTOK_NO_PAIR:
                    return CTOK_ERR_MEMORY
                pair = &self.pairs.pairs[number]
                pair.count += <int64_t>self.words.count[block]
                pair.n += pair.spent != block + 1
                pair.spent = block + 1
        for i in range(self.pairs.n):
            pair = &self.pairs.pairs[i]
            pair.at = ctok_pairs_list(&self.pairs, pair.n)
            if pair.at == NULL:
                return CTOK_ERR_MEMORY
            pair.n = pair.spent = 0
        for block in range(self.words.n_blocks):
            for p in range(begin[block], min(begin[block + 1], n - 1)):
                if at[p] == CELL_EDGE or at[p + 1] == CELL_EDGE:
                    continue
                number = ctok_pairs_find(&self.pairs, at[p], at[p + 1])
                if number == CTOK_NO_PAIR:
                    continue
                pair = &self.pairs.pairs[number]
                if pair.n == 0 or pair.at[pair.n - 1] != block:
                    pair.at[pair.n] = block
                    pair.n += 1
        return CTOK_OK
    # ---- what a derived class says ----

    cdef ctok_status step(self, int64_t min_count) noexcept nogil:
        """Merge the next pair, or give one up, or find that there is none that stands so often."""
        self.is_done = True
        return CTOK_OK

    cdef ctok_status came(self, uint32_t number) noexcept nogil:
        """A merge made pairs of this number."""
        return CTOK_OK

    cdef void goes(self, uint32_t number) noexcept nogil:
        """This pair is taken out of the table."""
        pass

    # ---- one merge ----

    cdef ctok_status merge(self, uint32_t a, uint32_t b) noexcept nogil:
        cdef uint32_t c, number = ctok_pairs_find(&self.pairs, a, b), n = self.texts.n, i, n_at
        cdef const uint32_t *at
        cdef ctok_pair *pair
        cdef Merge made
        cdef int side
        if self.join(a, b, &c) != CTOK_OK:
            return CTOK_ERR_MEMORY
        if self.skips_known and c < n:
            return self.drop(number) if number != CTOK_NO_PAIR else CTOK_OK
        made.left, made.right, made.id, made.pad, made.count = a, b, c, 0, 0
        self.joined = 0
        if number != CTOK_NO_PAIR:
            pair = &self.pairs.pairs[number]
            made.count = <uint64_t>pair.count
            at, n_at = pair.at, pair.n
            for i in range(n_at):
                if i + 2 * AHEAD < n_at:
                    CTOK_PREFETCH(&self.words.begin[at[i + 2 * AHEAD]])
                    CTOK_PREFETCH(&self.words.count[at[i + 2 * AHEAD]])
                if i + AHEAD < n_at:
                    CTOK_PREFETCH(&self.words.at[self.words.begin[at[i + AHEAD]]])
                if self.visit(at[i], a, b, c) != CTOK_OK:
                    return CTOK_ERR_MEMORY
            if self.keeps_spent:
                pair.spent, pair.n = 1, 0
            elif self.drop(number) != CTOK_OK:
                return CTOK_ERR_MEMORY
            for side in range(2):
                if self.gain(side, c) != CTOK_OK:
                    return CTOK_ERR_MEMORY
            for side in range(2):
                if self.lose(side, a, b) != CTOK_OK:
                    return CTOK_ERR_MEMORY
            for side in range(2):
                if self.settle(side, c) != CTOK_OK:
                    return CTOK_ERR_MEMORY
        return ctok_bytes_append(&self.merged, <const uint8_t *>&made, sizeof(made))

    cdef ctok_status drop(self, uint32_t number) noexcept nogil:
        self.goes(number)
        return ctok_pairs_drop(&self.pairs, number)

    cdef ctok_status visit(self, uint32_t block, uint32_t a, uint32_t b, uint32_t c) noexcept nogil:
        """Merge a pair everywhere in a block, and note its neighbours."""
        cdef uint32_t *at = self.words.at
        cdef uint32_t p = self.words.begin[block], stop = self.words.begin[block + 1], q, after, head, home
        cdef int64_t count = <int64_t>self.words.count[block]
        while p < stop:
            if at[p] != a:
                p = p + 1 if at[p] >= CELL_EDGE else behind(at, p)
                continue
            q = behind(at, p)
            if at[q] != b:
                p = q
                continue
            after = behind(at, q)
            head = p - (at[p - 1] & CELL_BITS) if at[p - 1] & CELL_REST else p - 1
            if at[head] != CELL_EDGE:
                home = block
                while head < self.words.begin[home]:
                    home -= 1
                if self.note(LEFT, at[head], home, count) != CTOK_OK:
                    return CTOK_ERR_MEMORY
            self.joined += count
            at[p] = c
            at[q] = CELL_REST
            at[p + 1] = at[after - 1] = CELL_REST | (after - p)
            if at[after] != CELL_EDGE and self.note(RIGHT, at[after], block, count) != CTOK_OK:
                return CTOK_ERR_MEMORY
            p = after
        return CTOK_OK

    cdef inline ctok_status note(self, int side, uint32_t token, uint32_t block, int64_t count) noexcept nogil:
        cdef size_t n = self.n_events[side]
        cdef Event *events
        cdef Token *t = &self.tokens[token]
        if n == self.cap_events[side]:
            events = <Event *>ctok_mem_resize(self.events[side], 2 * n + 1024, sizeof(Event))
            if events == NULL:
                return CTOK_ERR_MEMORY
            self.events[side] = events
            self.cap_events[side] = 2 * n + 1024
        self.events[side][n].token = token
        self.events[side][n].block = block
        self.n_events[side] = n + 1
        if t.many[side] == 0:
            self.touched[side][self.n_touched[side]] = token
            self.n_touched[side] += 1
        t.many[side] += 1
        t.delta[side] += count
        return CTOK_OK

    cdef ctok_status gain(self, int side, uint32_t c) noexcept nogil:
        """Count the pairs of the new token with the neighbours on one side, and write down where they stand."""
        cdef uint32_t i, x, number, last
        cdef size_t k
        cdef ctok_pair *pair
        cdef Token *t
        for i in range(self.n_touched[side]):
            x = self.touched[side][i]
            t = &self.tokens[x]
            t.pair[side] = CTOK_NO_PAIR
            t.list[side] = NULL
            t.written[side] = 0
            if not (self.may_join(x, c) if side == LEFT else self.may_join(c, x)):
                continue
            number = ctok_pairs_add(&self.pairs, x if side == LEFT else c, c if side == LEFT else x)
            if number == CTOK_NO_PAIR:
                return CTOK_ERR_MEMORY
            pair = &self.pairs.pairs[number]
            t.pair[side] = number
            t.list[side] = ctok_pairs_list(&self.pairs, t.many[side] + pair.n)
            if t.list[side] == NULL:
                return CTOK_ERR_MEMORY
            pair.count += t.delta[side]
        for k in range(self.n_events[side]):
            t = &self.tokens[self.events[side][k].token]
            if t.list[side] == NULL:
                continue
            last = t.written[side]
            if last == 0 or t.list[side][last - 1] != self.events[side][k].block:
                t.list[side][last] = self.events[side][k].block
                t.written[side] = last + 1
        for i in range(self.n_touched[side]):
            t = &self.tokens[self.touched[side][i]]
            if t.pair[side] == CTOK_NO_PAIR:
                continue
            pair = &self.pairs.pairs[t.pair[side]]
            if pair.n:
                merge_lists(t.list[side], &t.written[side], pair.at, pair.n)
            pair.at, pair.n = t.list[side], t.written[side]
        return CTOK_OK

    cdef ctok_status lose(self, int side, uint32_t a, uint32_t b) noexcept nogil:
        """Take off what the neighbours on one side no longer have: their pairs with the parts of the new token."""
        cdef uint32_t i, x, number
        cdef ctok_pair *pair
        for i in range(self.n_touched[side]):
            if i + AHEAD < self.n_touched[side]:
                x = self.touched[side][i + AHEAD]
                ctok_pairs_fetch(&self.pairs, ctok_pairs_hash(x if side == LEFT else b, a if side == LEFT else x))
            x = self.touched[side][i]
            number = ctok_pairs_find(&self.pairs, x if side == LEFT else b, a if side == LEFT else x)
            if number == CTOK_NO_PAIR:
                continue
            pair = &self.pairs.pairs[number]
            pair.count -= self.tokens[x].delta[side]
            if pair.count <= 0 and not pair.spent and self.drop(number) != CTOK_OK:
                return CTOK_ERR_MEMORY
        return CTOK_OK

    cdef ctok_status settle(self, int side, uint32_t c) noexcept nogil:
        """Hand on the new pairs, and forget the neighbours of one side."""
        cdef uint32_t i
        cdef Token *t
        for i in range(self.n_touched[side]):
            t = &self.tokens[self.touched[side][i]]
            t.many[side] = 0
            t.delta[side] = 0
            if t.pair[side] != CTOK_NO_PAIR:
                if self.came(t.pair[side]) != CTOK_OK:
                    return CTOK_ERR_MEMORY
        self.n_touched[side] = 0
        self.n_events[side] = 0
        return CTOK_OK


cdef void merge_lists(uint32_t *to, uint32_t *n, const uint32_t *other, uint32_t m) noexcept nogil:
    """Merge an ascending list into another one that has room for both."""
    cdef uint32_t i = n[0], j = m, at = n[0] + m, total
    while j:
        at -= 1
        if i and to[i - 1] > other[j - 1]:
            i -= 1
            to[at] = to[i]
        else:
            j -= 1
            to[at] = other[j]
    total, at = n[0] + m, 0
    for i in range(total):
        if at == 0 or to[at - 1] != to[i]:
            to[at] = to[i]
            at += 1
    n[0] = at


cdef int check(ctok_status status) except -1:
    if status != CTOK_OK:
        raise MemoryError("no room for training")
    return 0
