"""The first pieces of a unigram model: the substrings that occur most, found by sorting all suffixes.

A substring is taken into account if what follows it, and what stands before it, differs between its occurrences (the ends of stretches
differ from all): else a longer one occurs as often. Its score is its count times its length. Counts are those of the words, not of the
distinct words.

What stands in one stretch only says nothing of other words, however often that one occurs: were there a piece for each stretch of a text
that stands there twice, no shorter one would be in use, and words that were not seen would have no pieces. So only some of these are kept.
"""

from libc.math cimport log
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from ctok._native.c_suffix cimport CTOK_SUFFIX_MAX, ctok_suffix_common, ctok_suffix_sort
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_mem_zeroed, ctok_status)
from ctok._native.stretches cimport Counted, PieceRules, Stretches, begin_of, code_at, is_valid

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

cdef enum:
    CODES = 0x110000
    VARIOUS = 0xFFFFFFFF

# A substring: where in the order of suffixes its occurrences begin, its length in symbols, how often it occurs.
cdef struct Seed:
    uint32_t rank
    uint32_t length
    uint64_t count
    bint is_alone               # all occurrences are in one stretch

cdef struct Open:               # a substring on the way through the suffixes in order: those below it in the stack are its beginnings
    uint32_t rank
    uint32_t length
    uint64_t count
    uint32_t before             # the symbol that stands before all its occurrences, or VARIOUS
    uint32_t owner              # the stretch that they are all in, or VARIOUS

cdef struct Search:
    const Counted *words
    const PieceRules *rules
    size_t n                    # symbols: the characters of all stretches, and a 0 behind each stretch
    uint32_t n_symbols
    uint32_t *symbols           # by code point
    uint32_t *text
    uint32_t *begins            # byte where each symbol begins (of a 0: where the stretch ends)
    uint32_t *owner             # the stretch of each symbol
    uint32_t *left              # symbols to the end of the stretch
    uint32_t *starts
    uint32_t *common
    Seed *seeds
    size_t n_seeds
    size_t cap_seeds


cdef ctok_status set_up(Search *s) noexcept nogil:
    """Number the characters in the order of their code points, and write down the text."""
    cdef const Counted *words = s.words
    cdef const uint8_t *p = words.data
    cdef size_t n_bytes = words.ends[words.n - 1] if words.n else 0
    cdef size_t at = 0, size = 0, i, k = 0, end
    cdef uint32_t code, n_symbols = 1
    s.symbols = <uint32_t *>ctok_mem_zeroed(CODES, sizeof(uint32_t))
    if s.symbols == NULL:
        return CTOK_ERR_MEMORY
    while at < n_bytes:
        s.symbols[code_at(p + at, &size)] = 1
        at += size
        s.n += 1
    s.n += words.n
    for code in range(CODES):
        if s.symbols[code]:
            s.symbols[code] = n_symbols
            n_symbols += 1
    s.n_symbols = n_symbols
    if s.n > CTOK_SUFFIX_MAX:
        return CTOK_ERR_MEMORY
    s.text = <uint32_t *>ctok_mem_alloc(s.n, sizeof(uint32_t))
    s.begins = <uint32_t *>ctok_mem_alloc(s.n, sizeof(uint32_t))
    s.owner = <uint32_t *>ctok_mem_alloc(s.n, sizeof(uint32_t))
    s.starts = <uint32_t *>ctok_mem_alloc(s.n, sizeof(uint32_t))
    s.common = <uint32_t *>ctok_mem_alloc(s.n, sizeof(uint32_t))
    if s.text == NULL or s.begins == NULL or s.owner == NULL or s.starts == NULL or s.common == NULL:
        return CTOK_ERR_MEMORY
    for i in range(words.n):
        at = begin_of(words.ends, i)
        end = words.ends[i]
        while at < end:
            s.text[k] = s.symbols[code_at(p + at, &size)]
            s.begins[k] = <uint32_t>at
            s.owner[k] = <uint32_t>i
            at += size
            k += 1
        s.text[k] = 0
        s.begins[k] = <uint32_t>end
        s.owner[k] = <uint32_t>i
        k += 1
    return CTOK_OK


cdef ctok_status keep(Search *s, const Open *node) noexcept nogil:
    """Take a substring into account if it may be a piece, does not occur once only, and no longer one may stand for it."""
    cdef size_t cap, from_, end
    cdef const uint8_t *p = s.words.data
    cdef Seed *seeds
    if node.length < 2 or node.count < 2 or node.length > s.rules.max_length:
        return CTOK_OK
    from_ = s.starts[node.rank]
    end = s.begins[from_ + node.length]
    if not is_valid(s.rules, p + s.begins[from_], end - s.begins[from_]):
        return CTOK_OK
    if node.before != VARIOUS and is_valid(s.rules, p + s.begins[from_ - 1], end - s.begins[from_ - 1]):
        return CTOK_OK
    if s.n_seeds == s.cap_seeds:
        cap = s.cap_seeds + s.cap_seeds // 2 + 1024
        seeds = <Seed *>ctok_mem_resize(s.seeds, cap, sizeof(Seed))
        if seeds == NULL:
            return CTOK_ERR_MEMORY
        s.seeds = seeds
        s.cap_seeds = cap
    s.seeds[s.n_seeds].rank = node.rank
    s.seeds[s.n_seeds].length = node.length
    s.seeds[s.n_seeds].count = node.count
    s.seeds[s.n_seeds].is_alone = node.owner != VARIOUS
    s.n_seeds += 1
    return CTOK_OK


cdef ctok_status collect(Search *s, Open *stack) noexcept nogil:
    """Go through the suffixes in order. The stack (as deep as the longest stretch has symbols, and 2) holds the beginnings that the current
    one shares with what may follow, and itself."""
    cdef size_t i, top = 0, from_
    cdef uint32_t common, length
    cdef Open below
    for i in range(s.n):
        from_ = s.starts[i]
        if s.text[from_] == 0:
            continue
        common = s.common[i]
        below.count = 0
        while top and stack[top - 1].length > common:
            top -= 1
            if below.count:
                add(&stack[top], &below)
            below = stack[top]
            if keep(s, &below) != CTOK_OK:
                return CTOK_ERR_MEMORY
        if below.count and top and stack[top - 1].length == common:
            add(&stack[top - 1], &below)
        elif below.count and common:
            below.length = common
            stack[top] = below
            top += 1
        length = s.left[from_]
        below.rank = <uint32_t>i
        below.length = length
        below.count = s.words.counts[s.owner[from_]]
        below.before = s.text[from_ - 1] if from_ and s.text[from_ - 1] else VARIOUS
        below.owner = s.owner[from_]
        if length == common:
            add(&stack[top - 1], &below)
        else:
            stack[top] = below
            top += 1
    below.count = 0
    while top:
        top -= 1
        if below.count:
            add(&stack[top], &below)
        below = stack[top]
        if keep(s, &below) != CTOK_OK:
            return CTOK_ERR_MEMORY
    return CTOK_OK


cdef inline void add(Open *node, const Open *part) noexcept nogil:
    """Count the occurrences of a longer substring for one of its beginnings."""
    node.count += part.count
    if node.before != part.before:
        node.before = VARIOUS
    if node.owner != part.owner:
        node.owner = VARIOUS


cdef inline double score(const Seed *s) noexcept nogil:
    return <double>s.count * s.length


cdef int by_score(const void *a, const void *b) noexcept nogil:
    """Highest score first; of equal ones that which comes first in the order of strings."""
    cdef const Seed *x = <const Seed *>a
    cdef const Seed *y = <const Seed *>b
    if score(x) != score(y):
        return -1 if score(x) > score(y) else 1
    return by_string(a, b)


cdef int by_count(const void *a, const void *b) noexcept nogil:
    """Those of several stretches first, then the most frequent; of equal ones that which comes first in the order of strings."""
    cdef const Seed *x = <const Seed *>a
    cdef const Seed *y = <const Seed *>b
    if x.is_alone != y.is_alone:
        return 1 if x.is_alone else -1
    if x.is_alone and x.count != y.count:
        return -1 if x.count > y.count else 1
    return by_string(a, b)


cdef int by_string(const void *a, const void *b) noexcept nogil:
    cdef const Seed *x = <const Seed *>a
    cdef const Seed *y = <const Seed *>b
    if x.rank != y.rank:
        return -1 if x.rank < y.rank else 1
    return (x.length > y.length) - (x.length < y.length)


cdef ctok_status search(Search *s) noexcept nogil:
    cdef Open *stack
    cdef size_t i, deepest = 0
    cdef ctok_status status = set_up(s)
    if status == CTOK_OK:
        status = ctok_suffix_sort(s.text, s.n, s.n_symbols, s.starts)
    if status == CTOK_OK:
        status = ctok_suffix_common(s.text, s.n, s.starts, s.common)
    if status != CTOK_OK:
        return status
    s.left = <uint32_t *>ctok_mem_alloc(s.n, sizeof(uint32_t))
    if s.left == NULL:
        return CTOK_ERR_MEMORY
    for i in range(s.n, 0, -1):
        s.left[i - 1] = s.left[i] + 1 if s.text[i - 1] else 0
        deepest = max(deepest, <size_t>s.left[i - 1])
    stack = <Open *>ctok_mem_alloc(deepest + 2, sizeof(Open))
    if stack == NULL:
        return CTOK_ERR_MEMORY
    status = collect(s, stack)
    ctok_mem_free(stack)
    return status


cdef void leave_alone(Search *s, size_t size) noexcept nogil:
    """Of the substrings of one stretch keep the most frequent: a quarter of `size`, and as many as it takes to have three times `size`."""
    cdef size_t i, n_shared = 0, kept
    for i in range(s.n_seeds):
        n_shared += not s.seeds[i].is_alone
    kept = max(size // 4, 3 * size - min(3 * size, n_shared))
    if kept < s.n_seeds - n_shared:
        qsort(s.seeds, s.n_seeds, sizeof(Seed), by_count)
        s.n_seeds = n_shared + kept


cdef ctok_status select(Search *s, size_t most) noexcept nogil:
    """Leave the characters and the best substrings, `most` in all, in the order of strings."""
    cdef size_t i, n_chars = s.n_symbols - 1, from_
    cdef Seed *seeds
    cdef Seed *last = NULL
    if s.n_seeds and s.n_seeds + n_chars > most:
        qsort(s.seeds, s.n_seeds, sizeof(Seed), by_score)
        s.n_seeds = most - n_chars if most > n_chars else 0
    seeds = <Seed *>ctok_mem_resize(s.seeds, s.n_seeds + n_chars, sizeof(Seed))
    if seeds == NULL:
        return CTOK_ERR_MEMORY
    s.seeds = seeds
    for i in range(s.n):
        from_ = s.starts[i]
        if s.text[from_] == 0:
            continue
        if last == NULL or s.text[s.starts[last.rank]] != s.text[from_]:
            last = &s.seeds[s.n_seeds]
            last.rank = <uint32_t>i
            last.length = 1
            last.count = 0
            s.n_seeds += 1
        last.count += s.words.counts[s.owner[from_]]
    if s.n_seeds:
        qsort(s.seeds, s.n_seeds, sizeof(Seed), by_string)
    return CTOK_OK


def find_seeds(Stretches stretches not None, size_t most, size_t size=0):
    """Return all characters and the substrings with the highest scores, `most` in all, as (data, ends, scores): their UTF-8 one behind the
    other in ascending order, cumulative ends (uint32), logarithms of their shares in the sum of all scores (float64), as bytes.

    Parameters
    ----------
    size
        The size of the vocabulary that is aimed at. Of substrings that stand in one stretch only, `size` // 4 are kept, the most frequent,
        and as many more as it takes to have three times `size`. 0: all are kept.

    Raises
    ------
    MemoryError
        There is no memory, or the stretches have 2**31 characters or more.

    Notes
    -----
    Cost: linear in the characters of the stretches, some 30 bytes each; then sorting what was found.
    """
    cdef Search s
    cdef ctok_status status
    memset(&s, 0, sizeof(Search))
    s.words = &stretches.c
    s.rules = &stretches.rules.r
    try:
        with nogil:
            status = search(&s)
            if status == CTOK_OK and size:
                leave_alone(&s, size)
            if status == CTOK_OK:
                status = select(&s, most)
        if status != CTOK_OK:
            raise MemoryError("no memory to sort the suffixes of so many words")
        return tables(&s)
    finally:
        ctok_mem_free(s.symbols)
        ctok_mem_free(s.text)
        ctok_mem_free(s.begins)
        ctok_mem_free(s.owner)
        ctok_mem_free(s.left)
        ctok_mem_free(s.starts)
        ctok_mem_free(s.common)
        ctok_mem_free(s.seeds)


cdef tuple tables(Search *s):
    cdef size_t i, from_, n_bytes = 0, size
    cdef uint8_t *data
    cdef uint32_t *ends
    cdef double *scores
    cdef double total = 0
    for i in range(s.n_seeds):
        from_ = s.starts[s.seeds[i].rank]
        n_bytes += s.begins[from_ + s.seeds[i].length] - s.begins[from_]
        total += score(&s.seeds[i])
    if n_bytes > <size_t>0xFFFFFFFF:
        raise MemoryError("the first pieces have 4 GiB or more in all")
    made = (PyBytes_FromStringAndSize(NULL, n_bytes), PyBytes_FromStringAndSize(NULL, s.n_seeds * 4),
            PyBytes_FromStringAndSize(NULL, s.n_seeds * 8))
    data = <uint8_t *>PyBytes_AS_STRING(made[0])
    ends = <uint32_t *>PyBytes_AS_STRING(made[1])
    scores = <double *>PyBytes_AS_STRING(made[2])
    n_bytes = 0
    for i in range(s.n_seeds):
        from_ = s.starts[s.seeds[i].rank]
        size = s.begins[from_ + s.seeds[i].length] - s.begins[from_]
        memcpy(data + n_bytes, s.words.data + s.begins[from_], size)
        n_bytes += size
        ends[i] = <uint32_t>n_bytes
        scores[i] = log(score(&s.seeds[i])) - log(total)
    return made


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
