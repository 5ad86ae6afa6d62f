"""Learning merges by how much belongs together: the pair with the highest count(ab) / (count(a) * count(b)) becomes a token.

A merge of a and b changes the scores of all pairs that hold one of the two, up or down; so each token has chains of the pairs in which it
is left or right, and each pair knows its place in the queue. Quotients are compared without rounding, and equal ones by the numbers of
the two tokens.
"""

cimport cython
from libc.stdint cimport INT64_MAX, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.c_pairs cimport CTOK_NO_PAIR, ctok_pair
from ctok._native.c_quotient cimport ctok_quotient, ctok_quotient_order, ctok_quotient_value
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_status
from ctok._native.cells cimport CELL_EDGE
from ctok._native.joining cimport Joining

cdef enum:
    NOWHERE = 0xFFFFFFFF        # of a pair: in no queue

cdef double NEAR = 1.0 + 1e-14  # scores that are farther apart than that are in the order of their values

cdef struct Entry:
    double value                # of the quotient, about
    ctok_quotient score
    uint32_t pair
    uint32_t sides[2]           # left and right token

# A pair in the chains of its tokens.
cdef struct Link:
    uint32_t next[2]            # in the chain of the left token, in that of the right one
    uint32_t before[2]
    uint32_t place              # in the queue
    uint32_t is_in              # the chains

cdef struct Share:
    uint64_t count              # how often a token stands in the words
    uint32_t first[2]           # of its chains as left, as right token


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)


cdef inline bint before(const Entry *a, const Entry *b) noexcept nogil:
    """Whether a is merged before b."""
    cdef int order
    if a.value > b.value * NEAR:
        return True
    if b.value > a.value * NEAR:
        return False
    order = ctok_quotient_order(a.score, b.score)
    if order:
        return order > 0
    return a.sides[0] < b.sides[0] or (a.sides[0] == b.sides[0] and a.sides[1] < b.sides[1])


@cython.no_gc_clear     # what it points into is freed after it
cdef class LikelyLearner(Joining):
    """Merges learned by likelihood.

    Parameters
    ----------
    tokens, classes, prefix, longest, by_text, cells, keeps_spent, skips_known
        As for `Joining`. A known text must be given up.

    Notes
    -----
    A merge costs as many steps as its tokens have neighbours. All calls of `run` get the same `min_count`.
    """

    cdef Entry *heap
    cdef Link *links            # by number of the pair
    cdef Share *shares          # by number of the token
    cdef uint32_t n_heap, cap_heap, cap_links, cap_shares
    cdef int64_t floor          # what stands less often is in no chain; INT64_MAX: there are no chains yet

    def __cinit__(self, list tokens, bytes classes, bytes prefix, longest, by_text, cells, keeps_spent, skips_known):
        self.floor = INT64_MAX

    def __dealloc__(self):
        ctok_mem_free(self.heap)
        ctok_mem_free(self.links)
        ctok_mem_free(self.shares)

    @property
    def memory(self):
        """Bytes that pairs, their places and the queue take."""
        cdef size_t own = self.cap_heap * sizeof(Entry) + self.cap_links * sizeof(Link) + self.cap_shares * sizeof(Share)
        return Joining.memory.__get__(self) + own

    def forget(self):
        """As `Joining.forget`."""
        Joining.forget(self)
        ctok_mem_free(self.heap)
        ctok_mem_free(self.links)
        ctok_mem_free(self.shares)
        self.heap, self.links, self.shares = NULL, NULL, NULL
        self.n_heap = self.cap_heap = self.cap_links = self.cap_shares = 0

    # ---- room ----

    cdef ctok_status reserve_links(self) noexcept nogil:
        """Room for all pairs that there is room for."""
        cdef uint32_t cap = self.pairs.cap
        cdef Link *links
        if cap > self.cap_links:
            links = <Link *>ctok_mem_resize(self.links, cap, sizeof(Link))
            if links == NULL:
                return CTOK_ERR_MEMORY
            memset(links + self.cap_links, 0, (cap - self.cap_links) * sizeof(Link))
            self.links, self.cap_links = links, cap
        return CTOK_OK

    cdef ctok_status reserve_shares(self) noexcept nogil:
        """Room for all tokens that there is room for."""
        cdef uint32_t cap = self.cap_tokens, i
        cdef Share *shares
        if cap > self.cap_shares:
            shares = <Share *>ctok_mem_resize(self.shares, cap, sizeof(Share))
            if shares == NULL:
                return CTOK_ERR_MEMORY
            for i in range(self.cap_shares, cap):
                shares[i].count = 0
                shares[i].first[0] = shares[i].first[1] = CTOK_NO_PAIR
            self.shares, self.cap_shares = shares, cap
        return CTOK_OK

    # ---- chains ----

    cdef void link(self, uint32_t number) noexcept nogil:
        cdef const ctok_pair *pair = &self.pairs.pairs[number]
        cdef Link *link = &self.links[number]
        cdef uint32_t *first
        cdef int side
        for side in range(2):
            first = &self.shares[pair.right if side else pair.left].first[side]
            link.before[side], link.next[side] = CTOK_NO_PAIR, first[0]
            if first[0] != CTOK_NO_PAIR:
                self.links[first[0]].before[side] = number
            first[0] = number
        link.is_in, link.place = True, NOWHERE

    cdef void unlink(self, uint32_t number) noexcept nogil:
        cdef const ctok_pair *pair = &self.pairs.pairs[number]
        cdef Link *link = &self.links[number]
        cdef int side
        for side in range(2):
            if link.before[side] != CTOK_NO_PAIR:
                self.links[link.before[side]].next[side] = link.next[side]
            else:
                self.shares[pair.right if side else pair.left].first[side] = link.next[side]
            if link.next[side] != CTOK_NO_PAIR:
                self.links[link.next[side]].before[side] = link.before[side]
        link.is_in = False

    cdef ctok_status came(self, uint32_t number) noexcept nogil:
        if self.floor == INT64_MAX or self.pairs.pairs[number].count < self.floor:
            return CTOK_OK
        if self.reserve_links() != CTOK_OK or self.reserve_shares() != CTOK_OK:
            return CTOK_ERR_MEMORY
        if not self.links[number].is_in:
            self.link(number)
        return CTOK_OK

    cdef void goes(self, uint32_t number) noexcept nogil:
        if number < self.cap_links and self.links[number].is_in:
            self.take_out(self.links[number].place)
            self.unlink(number)

    # ---- the queue ----

    cdef inline void put(self, uint32_t place, const Entry *entry) noexcept nogil:
        self.heap[place] = entry[0]
        self.links[entry.pair].place = place

    cdef void sift_down(self, uint32_t i) noexcept nogil:
        cdef Entry moved = self.heap[i]
        cdef uint64_t child
        while 2 * <uint64_t>i + 1 < self.n_heap:
            child = 2 * <uint64_t>i + 1
            if child + 1 < self.n_heap and before(&self.heap[child + 1], &self.heap[child]):
                child += 1
            if not before(&self.heap[child], &moved):
                break
            self.put(i, &self.heap[child])
            i = <uint32_t>child
        self.put(i, &moved)

    cdef void sift(self, uint32_t i) noexcept nogil:
        """Bring an entry to its place, up or down."""
        cdef Entry moved = self.heap[i]
        cdef uint32_t begun = i
        while i and before(&moved, &self.heap[(i - 1) // 2]):
            self.put(i, &self.heap[(i - 1) // 2])
            i = (i - 1) // 2
        if i < begun:
            self.put(i, &moved)
        else:
            self.sift_down(i)

    cdef void take_out(self, uint32_t place) noexcept nogil:
        if place == NOWHERE:
            return
        self.links[self.heap[place].pair].place = NOWHERE
        self.n_heap -= 1
        if place < self.n_heap:
            self.put(place, &self.heap[self.n_heap])
            self.sift(place)

    cdef Entry *entry_of(self, uint32_t number) noexcept nogil:
        """The entry of a pair, at the end of the queue if it has none; NULL: no memory."""
        cdef const ctok_pair *pair = &self.pairs.pairs[number]
        cdef Entry *entry
        cdef uint64_t cap = <uint64_t>self.cap_heap + self.cap_heap // 2 + 1024
        if self.links[number].place == NOWHERE:
            if self.n_heap == self.cap_heap:
                entry = <Entry *>ctok_mem_resize(self.heap, cap, sizeof(Entry)) if cap < NOWHERE else NULL
                if entry == NULL:
                    return NULL
                self.heap, self.cap_heap = entry, <uint32_t>cap
            self.links[number].place = self.n_heap
            self.n_heap += 1
        entry = &self.heap[self.links[number].place]
        entry.pair = number
        entry.sides[0], entry.sides[1] = pair.left, pair.right
        entry.score.n = <uint64_t>pair.count
        entry.score.a, entry.score.b = self.shares[pair.left].count, self.shares[pair.right].count
        entry.value = ctok_quotient_value(entry.score)
        return entry

    cdef ctok_status requeue(self, uint32_t token) noexcept nogil:
        """Bring all pairs of a token to where they belong."""
        cdef uint32_t number, next
        cdef int side
        for side in range(2):
            number = self.shares[token].first[side]
            while number != CTOK_NO_PAIR:
                next = self.links[number].next[side]
                if self.pairs.pairs[number].count < self.floor:
                    self.goes(number)
                elif self.entry_of(number) == NULL:
                    return CTOK_ERR_MEMORY
                else:
                    self.sift(self.links[number].place)
                number = next
        return CTOK_OK

    # ---- learning ----

    cdef ctok_status begin(self, int64_t min_count) noexcept nogil:
        """Count the tokens of the words, and queue the pairs."""
        cdef const uint32_t *at = self.words.at
        cdef uint32_t block, p, i
        if self.reserve_links() != CTOK_OK or self.reserve_shares() != CTOK_OK:
            return CTOK_ERR_MEMORY
        for block in range(self.words.n_blocks):
            for p in range(self.words.begin[block], self.words.begin[block + 1]):
                if at[p] < CELL_EDGE:
                    self.shares[at[p]].count += self.words.count[block]
        self.floor = min_count
        for i in range(self.pairs.n):
            if self.pairs.pairs[i].n and self.pairs.pairs[i].count >= min_count:
                self.link(i)
                if self.entry_of(i) == NULL:
                    return CTOK_ERR_MEMORY
        i = self.n_heap // 2
        while i:
            i -= 1
            self.sift_down(i)
        return CTOK_OK

    cdef ctok_status step(self, int64_t min_count) noexcept nogil:
        cdef uint32_t a, b, c = self.texts.n
        if self.floor == INT64_MAX and self.begin(min_count) != CTOK_OK:
            return CTOK_ERR_MEMORY
        if self.n_heap == 0:
            self.is_done = True
            return CTOK_OK
        a, b = self.heap[0].sides[0], self.heap[0].sides[1]
        if self.merge(a, b) != CTOK_OK:
            return CTOK_ERR_MEMORY
        if self.texts.n == c:
            return CTOK_OK
        if self.reserve_links() != CTOK_OK or self.reserve_shares() != CTOK_OK:
            return CTOK_ERR_MEMORY
        self.shares[a].count -= <uint64_t>self.joined
        self.shares[b].count -= <uint64_t>self.joined
        self.shares[c].count += <uint64_t>self.joined
        if self.requeue(a) != CTOK_OK or (b != a and self.requeue(b) != CTOK_OK):
            return CTOK_ERR_MEMORY
        return self.requeue(c)
