"""Learning merges of byte-pair encoding: again and again the most frequent pair of neighbours becomes a token.

Each merge visits the blocks of words where its pair stands and collects what changes beside it, by neighbour; then each neighbour's old and
new pair is looked up once. Pairs whose count is below a floor are in no queue: when all above it are done, the floor is lowered and the
table is gone through again. So the queue stays small, and the many rare pairs cost nothing but their place. Counts of pairs in the queue
only fall, so an entry that is out of date is put right when it comes to the top.

What decides between pairs of equal count is the `tie`: numbers of tokens, places, or texts.
"""

cimport cython
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_append, ctok_bytes_free
from ctok._native.c_pairs cimport (
    CTOK_NO_PAIR, ctok_pair, ctok_pairs, ctok_pairs_add, ctok_pairs_drop, ctok_pairs_fetch, ctok_pairs_find, ctok_pairs_free,
    ctok_pairs_hash, ctok_pairs_init, ctok_pairs_list, ctok_pairs_memory)
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, CTOK_PREFETCH, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_status)
from ctok._native.cells cimport CELL_BITS, CELL_EDGE, CELL_REST, Cells, behind
from ctok._native.growing cimport Growing, Token

cdef enum:
    LEFT = 0
    RIGHT = 1
    AHEAD = 12                  # blocks whose cells are fetched before they are visited
    QUEUED = 4096               # pairs that a lowered floor lets in at least
    BUCKETS = 512               # counts by size, eight to a power of two

    TIE_NUMBERS = 0             # smaller left id, then smaller right id
    TIE_PLACE = 1               # the pair that stands first in the text as it is now
    TIE_LARGEST = 2             # larger left text, then larger right text
    TIE_SHORTEST = 3            # fewer symbols, then the smaller text

cdef struct Entry:
    int64_t count
    uint32_t pair               # its number; by now it may be another pair's
    uint32_t sides[2]           # left and right token
    uint32_t place              # TIE_PLACE: cell; a bound from below until the entry comes to the top

cdef struct Event:
    uint32_t token              # the neighbour
    uint32_t block

cdef struct Merge:
    uint32_t left, right, id, pad
    uint64_t count


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)


cdef inline uint32_t bucket_of(int64_t count) noexcept nogil:
    """Counts by size: exact up to 15, then eight steps a power of two."""
    cdef uint32_t power = 0
    cdef uint64_t x = <uint64_t>count
    while x > 15:
        x >>= 1
        power += 1
    return power * 8 + <uint32_t>x


cdef inline int64_t lowest_of(uint32_t bucket) noexcept nogil:
    """The smallest count of a bucket."""
    if bucket < 16:
        return bucket
    return <int64_t>(8 + bucket % 8) << (bucket // 8 - 1)


@cython.no_gc_clear     # what it points into is freed after it
cdef class Learner(Growing):
    """Merges learned step by step.

    Parameters
    ----------
    tokens, classes, prefix, longest, by_text
        As for `Growing`: the symbols.
    cells
        The words; they are changed, so no other learner may have them.
    tie
        ``"numbers"``, ``"place"``, ``"largest"`` or ``"shortest"``.
    keeps_spent
        A merged pair's count is not forgotten: should the pair arise again, it goes on from there.
    skips_known
        A pair that would make a text that is a token is given up instead of being merged.
    """

    cdef Cells words
    cdef ctok_pairs pairs
    cdef ctok_bytes merged          # Merge structs
    cdef Event *events[2]
    cdef size_t n_events[2]
    cdef size_t cap_events[2]
    cdef uint32_t n_touched[2]
    cdef Entry *heap
    cdef size_t n_heap, cap_heap
    cdef int64_t floor
    cdef int tie
    cdef bint keeps_spent, skips_known
    cdef readonly bint is_done      # no pair is left that may be merged
    cdef readonly bint is_counted   # the pairs of the words are counted

    def __cinit__(self, list tokens not None, bytes classes not None, bytes prefix not None, uint32_t longest, bint by_text,
                  Cells cells not None, tie, bint keeps_spent, bint skips_known):
        if ctok_pairs_init(&self.pairs) != CTOK_OK:
            raise MemoryError("no room for training")
        self.words = cells
        self.keeps_spent, self.skips_known = keeps_spent, skips_known
        self.tie = ("numbers", "place", "largest", "shortest").index(tie)
        self.floor = INT64_MAX

    def __dealloc__(self):
        cdef int side
        ctok_pairs_free(&self.pairs)
        ctok_bytes_free(&self.merged)
        ctok_mem_free(self.heap)
        for side in range(2):
            ctok_mem_free(self.events[side])

    @property
    def n_merges(self):
        return self.merged.n // sizeof(Merge)

    @property
    def memory(self):
        """Bytes that pairs and their places take."""
        return ctok_pairs_memory(&self.pairs)

    @property
    def numbers(self):
        """Pairs alive, pairs ever numbered, size of the queue; for measurements."""
        return self.pairs.used, self.pairs.n, self.n_heap

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
        ctok_mem_free(self.heap)
        self.heap = NULL
        self.n_heap = self.cap_heap = 0
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

    # ---- the queue ----

    cdef bint before(self, const Entry *a, const Entry *b) noexcept nogil:
        """Whether a is merged before b."""
        cdef int order
        if a.count != b.count:
            return a.count > b.count
        if self.tie == TIE_PLACE:
            return a.place < b.place
        if self.tie == TIE_NUMBERS:
            return a.sides[0] < b.sides[0] or (a.sides[0] == b.sides[0] and a.sides[1] < b.sides[1])
        if self.tie == TIE_LARGEST:
            order = self.order(a.sides[0], b.sides[0])
            return order > 0 or (order == 0 and self.order(a.sides[1], b.sides[1]) > 0)
        order = <int>(self.tokens[a.sides[0]].length + self.tokens[a.sides[1]].length) - <int>(
            self.tokens[b.sides[0]].length + self.tokens[b.sides[1]].length)
        return order < 0 or (order == 0 and self.order_joined(a.sides, b.sides) < 0)

    cdef void sift_down(self, size_t i) noexcept nogil:
        cdef Entry moved = self.heap[i]
        cdef size_t child
        while 2 * i + 1 < self.n_heap:
            child = 2 * i + 1
            if child + 1 < self.n_heap and self.before(&self.heap[child + 1], &self.heap[child]):
                child += 1
            if not self.before(&self.heap[child], &moved):
                break
            self.heap[i] = self.heap[child]
            i = child
        self.heap[i] = moved

    cdef ctok_status push(self, uint32_t number) noexcept nogil:
        cdef const ctok_pair *pair = &self.pairs.pairs[number]
        cdef Entry *heap
        cdef Entry moved
        cdef size_t i = self.n_heap
        if i == self.cap_heap:
            heap = <Entry *>ctok_mem_resize(self.heap, 2 * i + 1024, sizeof(Entry))
            if heap == NULL:
                return CTOK_ERR_MEMORY
            self.heap = heap
            self.cap_heap = 2 * i + 1024
        moved.count, moved.pair = pair.count, number
        moved.sides[0], moved.sides[1] = pair.left, pair.right
        moved.place = self.words.begin[pair.at[0]] if self.tie == TIE_PLACE else 0
        self.n_heap += 1
        while i and self.before(&moved, &self.heap[(i - 1) // 2]):
            self.heap[i] = self.heap[(i - 1) // 2]
            i = (i - 1) // 2
        self.heap[i] = moved
        return CTOK_OK

    cdef void pop(self) noexcept nogil:
        self.n_heap -= 1
        if self.n_heap:
            self.heap[0] = self.heap[self.n_heap]
            self.sift_down(0)

    cdef ctok_status lower_floor(self) noexcept nogil:
        """Let pairs of smaller counts into the empty queue; if there are none, all is done."""
        cdef uint32_t[BUCKETS] many
        cdef uint32_t i, bucket
        cdef uint64_t total = 0
        cdef int64_t before = self.floor
        cdef const ctok_pair *pair
        memset(many, 0, sizeof(many))
        for i in range(self.pairs.n):
            pair = &self.pairs.pairs[i]
            if pair.n and 0 < pair.count < before:
                many[bucket_of(pair.count)] += 1
                total += 1
        self.is_done = total == 0
        bucket, total = BUCKETS, 0
        while bucket > 1 and total < QUEUED:
            bucket -= 1
            total += many[bucket]
        self.floor = min(lowest_of(bucket), before)
        for i in range(self.pairs.n):
            pair = &self.pairs.pairs[i]
            if pair.n and self.floor <= pair.count < before and self.push(i) != CTOK_OK:
                return CTOK_ERR_MEMORY
        return CTOK_OK

    cdef uint32_t first_place(self, ctok_pair *pair) noexcept nogil:
        """The cell where a pair stands first, or CELL_EDGE; blocks at the front of its list where it stands no more are taken off."""
        cdef uint32_t p, stop, next
        cdef const uint32_t *at = self.words.at
        while pair.n:
            p, stop = self.words.begin[pair.at[0]], self.words.begin[pair.at[0] + 1]
            while p < stop:
                if at[p] >= CELL_EDGE:
                    p += 1
                    continue
                next = behind(at, p)
                if at[p] == pair.left and at[next] == pair.right:
                    return p
                p = next
            pair.at += 1
            pair.n -= 1
        return CELL_EDGE

    cdef ctok_status step(self, int64_t min_count) noexcept nogil:
        """Take the best pair and merge it; or put right, or give up, what is at the top of the queue."""
        cdef Entry *top
        cdef ctok_pair *pair
        cdef uint32_t place = 0
        while True:
            if self.n_heap == 0:
                if self.floor <= min_count or self.is_done:
                    self.is_done = True
                    return CTOK_OK
                if self.lower_floor() != CTOK_OK:
                    return CTOK_ERR_MEMORY
                continue
            top = &self.heap[0]
            pair = &self.pairs.pairs[top.pair]
            if pair.n == 0 or pair.count < self.floor or pair.left != top.sides[0] or pair.right != top.sides[1]:
                self.pop()
                continue
            if self.tie == TIE_PLACE:
                place = self.first_place(pair)
                if place == CELL_EDGE:
                    self.pop()
                    continue
            if pair.count != top.count or place != top.place:
                top.count, top.place = pair.count, place
                self.sift_down(0)
                continue
            break
        if pair.count < min_count:
            self.is_done = True
            return CTOK_OK
        self.pop()
        return self.merge(pair.left, pair.right)

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
            return ctok_pairs_drop(&self.pairs, number) if number != CTOK_NO_PAIR else CTOK_OK
        made.left, made.right, made.id, made.pad, made.count = a, b, c, 0, 0
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
            elif ctok_pairs_drop(&self.pairs, number) != CTOK_OK:
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
            if pair.count <= 0 and not pair.spent and ctok_pairs_drop(&self.pairs, number) != CTOK_OK:
                return CTOK_ERR_MEMORY
        return CTOK_OK

    cdef ctok_status settle(self, int side, uint32_t c) noexcept nogil:
        """Queue the new pairs that are frequent enough, and forget the neighbours of one side."""
        cdef uint32_t i
        cdef ctok_pair *pair
        cdef Token *t
        for i in range(self.n_touched[side]):
            t = &self.tokens[self.touched[side][i]]
            t.many[side] = 0
            t.delta[side] = 0
            if t.pair[side] != CTOK_NO_PAIR:
                pair = &self.pairs.pairs[t.pair[side]]
                if pair.n and pair.count >= self.floor and self.push(t.pair[side]) != CTOK_OK:
                    return CTOK_ERR_MEMORY
                if pair.count > 0:
                    self.is_done = False
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
