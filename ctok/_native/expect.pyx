"""Training a unigram model: how often each piece is expected, which are worth keeping.

All counts are sums of whole numbers: a share in a stretch is rounded to a multiple of a unit that is small enough, so that sums do not
depend on the order of addition. Any number of threads, and any order of words, give the same model to the last bit.

The sums over all ways through a stretch are sums of products, not of logarithms. Each piece's probability is multiplied by a constant for
each of its bytes, which cancels out; where the sums of a long stretch still leave the range of numbers, they are shifted.
"""

from libc.math cimport exp, ldexp, log, rint
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from ctok._native.c_pool cimport CTOK_POOL_MAX, ctok_pool_run, ctok_pool_ticket
from ctok._native.c_trie cimport CTOK_TRIE_ROOT, ctok_trie_free, ctok_trie_init, ctok_trie_piece, ctok_trie_step, ctok_trie_unit
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_mem_zeroed, ctok_status)
from ctok._native.stretches cimport Counted, Stretches, begin_of, char_size

cdef enum:
    BLOCK = 512                 # stretches that a worker takes at a time
    NO_PIECE = 0xFFFFFFFF
    SHIFT = 500                 # binary places by which sums are shifted

cdef double RATE = 1.5          # nats a byte that texts have, more or less
cdef double LOW = ldexp(1.0, -SHIFT)
cdef double HIGH = ldexp(1.0, SHIFT)
cdef double LOG_SHIFT = SHIFT * 0.6931471805599453
cdef double LEAST = 0.5         # a piece that is expected less often is dropped

cdef struct Job:
    const PieceTable *m
    const Counted *words
    double scale
    Worker *workers
    size_t ticket
    ctok_status status
    # for `prune`
    const int64_t *counts
    double *losses
    double token_cost
    double total


cdef double digamma(double x) noexcept nogil:
    """The derivative of the logarithm of the gamma function, x > 0."""
    cdef double result = 0, f
    while x < 7:
        result -= 1 / x
        x += 1
    x -= 0.5
    f = 1 / (x * x)
    return result + log(x) + f * (1.0 / 24 - f * (7.0 / 960 - f * (31.0 / 8064 - f * (127.0 / 30720))))


# ---- one stretch ----

cdef ctok_status forward(Worker *w, const uint8_t *p, size_t n, size_t *n_edges, int *shifted) noexcept nogil:
    """Find all pieces that may stand in a stretch, and the sum over all ways to each place."""
    cdef const PieceTable *m = w.m
    cdef double *ahead = w.ahead
    cdef double here
    cdef size_t s = 0, e, k = 0, i
    cdef uint64_t unit
    cdef uint32_t piece
    cdef Edge *edges
    memset(ahead, 0, (n + 1) * sizeof(double))
    ahead[0] = 1
    shifted[0] = 0
    w.shifts[0] = 0
    while s < n:
        if w.cap_edges - k < m.longest:
            edges = <Edge *>ctok_mem_resize(w.edges, w.cap_edges * 2 + m.longest, sizeof(Edge))
            if edges == NULL:
                return CTOK_ERR_MEMORY
            w.edges = edges
            w.cap_edges = w.cap_edges * 2 + m.longest
        if ahead[s] < LOW or ahead[s] > HIGH:
            here = HIGH if ahead[s] < LOW else LOW
            shifted[0] += 1 if ahead[s] < LOW else -1
            for i in range(s, min(n, s + m.longest) + 1):
                ahead[i] *= here
        w.shifts[s] = shifted[0]
        here = ahead[s]
        unit = ctok_trie_unit(&m.trie, CTOK_TRIE_ROOT)
        e = s
        while e < n and ctok_trie_step(&m.trie, &unit, p[e]):
            e += 1
            piece = ctok_trie_piece(unit)
            if piece:
                edges = &w.edges[k]
                edges.weight = m.weights[piece - 1]
                edges.piece = piece - 1
                edges.start = <uint32_t>s
                edges.end = <uint32_t>e
                ahead[e] += here * edges.weight
                k += 1
        s += char_size(p[s])
    w.shifts[n] = shifted[0]
    n_edges[0] = k
    return CTOK_OK


cdef void backward(Worker *w, size_t n, size_t n_edges, double count) noexcept nogil:
    """Add each piece's share in all ways, times `count`, to its sum."""
    cdef double *back = w.back
    cdef double way
    cdef Edge *edge
    memset(back, 0, (n + 1) * sizeof(double))
    back[n] = 1 / w.ahead[n]
    while n_edges:
        n_edges -= 1
        edge = &w.edges[n_edges]
        way = edge.weight * back[edge.end]
        back[edge.start] += way
        w.sums[edge.piece] += <int64_t>(w.ahead[edge.start] * way * count + 0.5)


cdef void backward_shifted(Worker *w, size_t n, size_t n_edges, double count) noexcept nogil:
    """The same where sums were shifted on the way."""
    cdef double way
    cdef Edge *edge
    memset(w.back, 0, (n + 1) * sizeof(double))
    w.back[n] = 1 / w.ahead[n]
    while n_edges:
        n_edges -= 1
        edge = &w.edges[n_edges]
        way = ldexp(edge.weight * w.back[edge.end], SHIFT * (w.shifts[edge.end] - w.shifts[edge.start]))
        w.back[edge.start] += way
        w.sums[edge.piece] += <int64_t>rint(w.ahead[edge.start] * way * count)


cdef ctok_status expect(Worker *w, const uint8_t *p, size_t n, uint64_t count, double scale) noexcept nogil:
    cdef size_t n_edges = 0
    cdef int shifted = 0
    cdef double times = <double>count * scale
    if forward(w, p, n, &n_edges, &shifted) != CTOK_OK:
        return CTOK_ERR_MEMORY
    if shifted or w.shifts[n]:
        backward_shifted(w, n, n_edges, times)
    else:
        backward(w, n, n_edges, times)
    w.gain += <int64_t>rint((log(w.ahead[n]) - LOG_SHIFT * shifted - RATE * <double>n) * times / 64)
    return CTOK_OK


cdef double best_path(Worker *w, const uint8_t *p, size_t n, uint32_t but) noexcept nogil:
    """Find the best path through p[0..n) without the piece `but`, left in w.last; returns its score. The longer last piece wins a tie."""
    cdef const PieceTable *m = w.m
    cdef size_t s = 0, e
    cdef uint64_t unit
    cdef uint32_t piece
    cdef double score
    for e in range(n + 1):
        w.back[e] = -1e300
    w.back[0] = 0
    while s < n:
        unit = ctok_trie_unit(&m.trie, CTOK_TRIE_ROOT)
        e = s
        while e < n and ctok_trie_step(&m.trie, &unit, p[e]):
            e += 1
            piece = ctok_trie_piece(unit)
            if piece and piece - 1 != but:
                score = w.back[s] + m.scores[piece - 1]
                if score > w.back[e]:
                    w.back[e] = score
                    w.last[e] = piece - 1
        s += char_size(p[s])
    return w.back[n]


cdef inline size_t size_of(const PieceTable *m, uint32_t piece) noexcept nogil:
    return m.ends[piece] - begin_of(m.ends, piece)


# ---- all stretches, or all pieces, on threads ----

cdef void expect_all(void *arg, size_t worker) noexcept nogil:
    cdef Job *job = <Job *>arg
    cdef Worker *w = &job.workers[worker]
    cdef size_t begin, i, at
    while job.status == CTOK_OK:
        begin = ctok_pool_ticket(&job.ticket) * BLOCK
        if begin >= job.words.n:
            return
        for i in range(begin, min(begin + BLOCK, <size_t>job.words.n)):
            at = begin_of(job.words.ends, i)
            if expect(w, job.words.data + at, job.words.ends[i] - at, job.words.counts[i], job.scale) != CTOK_OK:
                job.status = CTOK_ERR_MEMORY
                return


cdef void count_all(void *arg, size_t worker) noexcept nogil:
    """How often each piece stands in the best paths."""
    cdef Job *job = <Job *>arg
    cdef Worker *w = &job.workers[worker]
    cdef size_t begin, i, at, e
    while True:
        begin = ctok_pool_ticket(&job.ticket) * BLOCK
        if begin >= job.words.n:
            return
        for i in range(begin, min(begin + BLOCK, <size_t>job.words.n)):
            at = begin_of(job.words.ends, i)
            e = job.words.ends[i] - at
            best_path(w, job.words.data + at, e, NO_PIECE)
            while e:
                w.sums[w.last[e]] += <int64_t>job.words.counts[i]
                e -= size_of(w.m, w.last[e])


cdef void weigh_all(void *arg, size_t worker) noexcept nogil:
    """What dropping a piece costs: its occurrences become the best path through it without it. Infinity: keep it; -1: it is not used."""
    cdef Job *job = <Job *>arg
    cdef Worker *w = &job.workers[worker]
    cdef size_t begin, i
    while True:
        begin = ctok_pool_ticket(&job.ticket) * BLOCK
        if begin >= job.m.n:
            return
        for i in range(begin, min(begin + BLOCK, <size_t>job.m.n)):
            job.losses[i] = loss(w, job, <uint32_t>i)


cdef double loss(Worker *w, const Job *job, uint32_t piece) noexcept nogil:
    cdef const PieceTable *m = job.m
    cdef size_t n = size_of(m, piece), e = n
    cdef const uint8_t *p = m.data + m.ends[piece] - n
    cdef double count = <double>job.counts[piece], without = 0, n_without = 0
    if char_size(p[0]) == n:
        return 1e300
    if count == 0 or best_path(w, p, n, piece) > m.scores[piece]:
        return -1
    while e:
        without += log(<double>job.counts[w.last[e]] + count)
        n_without += 1
        e -= size_of(m, w.last[e])
    without -= n_without * log(job.total + count * (n_without - 1))
    return max(count * (log(count) - log(job.total) - without + job.token_cost * (n_without - 1)), 0.0)


# ---- the model ----

cdef class PieceModel:
    """A unigram model in training.

    Parameters
    ----------
    stretches
        What it is trained on.
    data, ends, scores
        The pieces: their UTF-8 one behind the other in ascending order, cumulative ends (uint32), logarithms of probabilities (float64),
        as buffers. Each character of the stretches must be a piece; characters are never dropped.
    scale
        A power of two. Shares of pieces in stretches are multiples of 1 / scale; scale times the characters of all stretches, each times
        its count, must be below 2**62.
    """

    def __cinit__(self, Stretches stretches not None, const uint8_t[::1] data, ends, scores, double scale):
        cdef const uint32_t[::1] e = memoryview(ends).cast("B").cast("I")
        cdef const double[::1] c = memoryview(scores).cast("B").cast("d")
        cdef size_t n = e.shape[0]
        if c.shape[0] != e.shape[0] or n == 0 or e[n - 1] != data.shape[0] or n > 0x7FFFFFF:
            raise ValueError("the tables of pieces do not fit together")
        self.stretches = stretches
        self.scale = scale
        self.m.n = <uint32_t>n
        self.m.data = <uint8_t *>ctok_mem_alloc(data.shape[0], 1)
        self.m.ends = <uint32_t *>ctok_mem_alloc(n, sizeof(uint32_t))
        self.m.scores = <double *>ctok_mem_alloc(n, sizeof(double))
        self.m.weights = <double *>ctok_mem_alloc(n, sizeof(double))
        if self.m.data == NULL or self.m.ends == NULL or self.m.scores == NULL or self.m.weights == NULL:
            raise MemoryError("no memory for the pieces")
        memcpy(self.m.data, &data[0], data.shape[0])
        memcpy(self.m.ends, &e[0], n * sizeof(uint32_t))
        memcpy(self.m.scores, &c[0], n * sizeof(double))
        self.changed()

    def __dealloc__(self):
        free_table(&self.m)

    def __len__(self):
        return self.m.n

    def __iter__(self):
        cdef uint32_t i
        for i in range(self.m.n):
            yield (self.m.data + self.m.ends[i] - size_of(&self.m, i))[:size_of(&self.m, i)], self.m.scores[i]

    def tables(self):
        """Return (data, ends, scores) as the constructor takes them."""
        return (<bytes>self.m.data[:self.m.ends[self.m.n - 1]],
                <bytes>(<char *>self.m.ends)[:self.m.n * sizeof(uint32_t)],
                <bytes>(<char *>self.m.scores)[:self.m.n * sizeof(double)])

    def expected(self, int num_threads=1):
        """Return how often each piece is expected, as a list of floats in the order of the pieces; sets `gain`."""
        return [total / self.scale for total in self.totals(expect_all, num_threads)]

    def counted(self, int num_threads=1):
        """Return how often each piece stands in the best paths, as a list of ints in the order of the pieces."""
        return self.totals(count_all, num_threads)

    cdef list totals(self, void (*work)(void *, size_t) noexcept nogil, int num_threads):
        """What `work` adds up, by piece."""
        cdef int64_t *sums = <int64_t *>ctok_mem_zeroed(self.m.n, sizeof(int64_t))
        cdef uint32_t i
        if sums == NULL:
            raise MemoryError("no memory for the counts of pieces")
        try:
            self.run(work, sums, num_threads)
            return [sums[i] for i in range(self.m.n)]
        finally:
            ctok_mem_free(sums)

    def improve(self, int num_threads=1):
        """One step of expectation and maximisation. Pieces that are expected less than half a time are dropped. Sets `gain`, the logarithm
        of the probability of all words before the step."""
        cdef int64_t *sums = <int64_t *>ctok_mem_zeroed(self.m.n, sizeof(int64_t))
        if sums == NULL:
            raise MemoryError("no memory for the counts of pieces")
        try:
            self.run(expect_all, sums, num_threads)
            maximise(&self.m, sums, self.scale)
        finally:
            ctok_mem_free(sums)
        self.changed()

    def prune(self, size_t size, int num_threads=1, double token_cost=0):
        """Drop pieces that no best path uses, those that others spell better, and of the rest those whose loss costs least, down to `size`
        pieces. Scores stay.

        A loss is that in the logarithm of the words' probability, and `token_cost` for each token more."""
        cdef int64_t *sums = <int64_t *>ctok_mem_zeroed(self.m.n, sizeof(int64_t))
        cdef double *losses = <double *>ctok_mem_zeroed(self.m.n, sizeof(double))
        try:
            if sums == NULL or losses == NULL:
                raise MemoryError("no memory for the counts of pieces")
            self.run(count_all, sums, num_threads)
            self.run(weigh_all, sums, num_threads, losses, token_cost)
            keep_best(&self.m, losses, size)
        finally:
            ctok_mem_free(losses)
            ctok_mem_free(sums)
        self.changed()

    cdef int run(self, void (*work)(void *, size_t) noexcept nogil, int64_t *sums, int num_threads, double *losses=NULL,
                 double token_cost=0) except -1:
        """Run `work` on threads; their sums are added up in `sums`, which is what `prune` counted if there are `losses`."""
        cdef size_t n = max(1, min(num_threads, <int>CTOK_POOL_MAX)), i, hired = 0
        cdef uint32_t k
        cdef int64_t gain = 0
        cdef Job job
        memset(&job, 0, sizeof(Job))
        job.m = &self.m
        job.words = &self.stretches.c
        job.scale = self.scale
        job.counts = sums
        job.losses = losses
        job.token_cost = token_cost
        if losses != NULL:
            for k in range(self.m.n):
                job.total += <double>sums[k]
        job.workers = <Worker *>ctok_mem_zeroed(n, sizeof(Worker))
        if job.workers == NULL:
            raise MemoryError("no memory for training")
        try:
            while hired < n and hire(&job.workers[hired], &self.m, self.stretches.c.longest) == CTOK_OK:
                hired += 1
            if hired == 0:
                raise MemoryError("no memory for training")
            with nogil:
                ctok_pool_run(hired, work, &job)
                if losses == NULL:
                    for i in range(hired):
                        gain += job.workers[i].gain
                        for k in range(self.m.n):
                            sums[k] += job.workers[i].sums[k]
                    self.gain = <double>gain / self.scale * 64
            if job.status != CTOK_OK:
                raise MemoryError("no memory for training")
        finally:
            for i in range(n):
                dismiss(&job.workers[i])
            ctok_mem_free(job.workers)
        return 0

    cdef int changed(self) except -1:
        """Make what follows from the pieces."""
        cdef uint32_t bad = 0, i
        cdef ctok_status status
        ctok_trie_free(&self.m.trie)
        memset(&self.m.trie, 0, sizeof(self.m.trie))
        self.m.longest = 0
        for i in range(self.m.n):
            self.m.longest = max(self.m.longest, size_of(&self.m, i))
            self.m.weights[i] = exp(self.m.scores[i] + RATE * <double>size_of(&self.m, i))
        with nogil:
            status = ctok_trie_init(&self.m.trie, self.m.data, self.m.ends, self.m.n, NULL, 0, NULL, &bad)
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory for the tree of pieces")
        if status != CTOK_OK:
            raise ValueError(f"piece {bad} is out of order")
        return 0


cdef ctok_status hire(Worker *w, const PieceTable *m, size_t longest) noexcept nogil:
    cdef size_t n = max(longest, m.longest) + 1
    w.m = m
    w.sums = <int64_t *>ctok_mem_zeroed(m.n, sizeof(int64_t))
    w.ahead = <double *>ctok_mem_alloc(n, sizeof(double))
    w.back = <double *>ctok_mem_alloc(n, sizeof(double))
    w.shifts = <int *>ctok_mem_alloc(n, sizeof(int))
    w.last = <uint32_t *>ctok_mem_alloc(n, sizeof(uint32_t))
    w.cap_edges = 0
    return CTOK_ERR_MEMORY if not (w.sums and w.ahead and w.back and w.shifts and w.last) else CTOK_OK


cdef void dismiss(Worker *w) noexcept nogil:
    ctok_mem_free(w.sums)
    ctok_mem_free(w.ahead)
    ctok_mem_free(w.back)
    ctok_mem_free(w.shifts)
    ctok_mem_free(w.last)
    ctok_mem_free(w.edges)


cdef void free_table(PieceTable *m) noexcept nogil:
    ctok_mem_free(m.data)
    ctok_mem_free(m.ends)
    ctok_mem_free(m.scores)
    ctok_mem_free(m.weights)
    ctok_trie_free(&m.trie)


cdef void keep_piece(PieceTable *m, uint32_t *kept, uint32_t *end, uint32_t i, uint32_t begin, uint32_t stop, double score) noexcept nogil:
    """Move piece i, bytes begin to stop, behind those kept so far."""
    cdef uint32_t k
    for k in range(stop - begin):
        m.data[end[0] + k] = m.data[begin + k]
    end[0] += stop - begin
    m.ends[kept[0]] = end[0]
    m.scores[kept[0]] = score
    kept[0] += 1


cdef void maximise(PieceTable *m, const int64_t *sums, double scale) noexcept nogil:
    """New scores from expected counts. The digamma function in place of the logarithm prefers few pieces."""
    cdef double total = 0, count
    cdef uint32_t i, kept = 0, end = 0, begin = 0, stop
    for i in range(m.n):
        count = <double>sums[i] / scale
        if count >= LEAST:
            total += count
    total = digamma(max(total, LEAST))
    for i in range(m.n):
        stop = m.ends[i]
        count = <double>sums[i] / scale
        if count >= LEAST or char_size(m.data[begin]) == stop - begin:
            keep_piece(m, &kept, &end, i, begin, stop, digamma(max(count, LEAST)) - total)
        begin = stop
    m.n = kept


cdef struct Loss:
    double loss
    uint32_t piece


cdef int by_loss(const void *a, const void *b) noexcept nogil:
    cdef const Loss *x = <const Loss *>a
    cdef const Loss *y = <const Loss *>b
    if x.loss != y.loss:
        return -1 if x.loss > y.loss else 1
    return (x.piece > y.piece) - (x.piece < y.piece)


cdef int keep_best(PieceTable *m, double *losses, size_t size) except -1:
    """Keep the `size` pieces whose loss costs most, the first of equal ones. Negative ones are dropped in any case."""
    cdef Loss *order = <Loss *>ctok_mem_alloc(m.n, sizeof(Loss))
    cdef size_t n = 0
    cdef uint32_t i, kept = 0, end = 0, begin = 0, stop
    if order == NULL:
        raise MemoryError("no memory to sort the pieces")
    for i in range(m.n):
        if losses[i] >= 0:
            order[n].loss = losses[i]
            order[n].piece = i
            n += 1
    with nogil:
        qsort(order, n, sizeof(Loss), by_loss)
        for i in range(<uint32_t>min(size, n), <uint32_t>n):
            if losses[order[i].piece] < 1e300:
                losses[order[i].piece] = -1
        ctok_mem_free(order)
        for i in range(m.n):
            stop = m.ends[i]
            if losses[i] >= 0:
                keep_piece(m, &kept, &end, i, begin, stop, m.scores[i])
            begin = stop
        m.n = kept
    return 0


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
