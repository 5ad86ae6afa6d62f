"""Learning merges of byte-pair encoding: again and again the most frequent pair of neighbours becomes a token.

Pairs whose count is below a floor are in no queue: when all above it are done, the floor is lowered and the table is gone through again. So
the queue stays small, and the many rare pairs cost nothing but their place. Counts of pairs in the queue only fall, so an entry that is out
of date is put right when it comes to the top.

What decides between pairs of equal count is the `tie`: numbers of tokens, places, or texts.
"""

cimport cython
from libc.stdint cimport INT64_MAX, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.c_pairs cimport ctok_pair
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_status
from ctok._native.cells cimport CELL_EDGE, behind
from ctok._native.joining cimport Joining

cdef enum:
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
cdef class Learner(Joining):
    """Merges learned by how often pairs stand.

    Parameters
    ----------
    tokens, classes, prefix, longest, by_text, cells, keeps_spent, skips_known
        As for `Joining`.
    tie
        ``"numbers"``, ``"place"``, ``"largest"`` or ``"shortest"``.
    """

    cdef Entry *heap
    cdef size_t n_heap, cap_heap
    cdef int64_t floor
    cdef int tie

    def __cinit__(self, list tokens, bytes classes, bytes prefix, longest, by_text, cells, keeps_spent, skips_known, tie):
        self.tie = ("numbers", "place", "largest", "shortest").index(tie)
        self.floor = INT64_MAX

    def __dealloc__(self):
        ctok_mem_free(self.heap)

    @property
    def numbers(self):
        """Pairs alive, pairs ever numbered, size of the queue; for measurements."""
        return self.pairs.used, self.pairs.n, self.n_heap

    def forget(self):
        """As `Joining.forget`."""
        Joining.forget(self)
        ctok_mem_free(self.heap)
        self.heap = NULL
        self.n_heap = self.cap_heap = 0

    cdef ctok_status came(self, uint32_t number) noexcept nogil:
        cdef const ctok_pair *pair = &self.pairs.pairs[number]
        if pair.count > 0:
            self.is_done = False
        return self.push(number) if pair.n and pair.count >= self.floor else CTOK_OK

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
