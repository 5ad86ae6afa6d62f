"""SentencePiece's unigram model on a whole text, word by word.

Where no piece reaches across the start of a word, all paths go through it, and all that a word needs to know of the text before it is the
sum there. Which path is best within the word hardly ever depends on that sum: only through roundings. So the best path of a word is found
once, from 0, and kept with a limit. Each rounding moves a sum by at most 2**-24 of its size, and with n characters in the word no sum in
it is farther from 0 than the one before it by more than n times the widest score. To a place on the best path lead k tokens of it, and no
other path with more tokens than the c bytes before that place; so the best stays the best there as long as its lead over the second best,
found with the same roundings from 0,

    lead  >  (k + c) * 2**-24 * (|sum before| + n * widest score)  +  (k + c) * 2**-24 * n * widest score

and the limit is where that first ends. Where the sum is within it, the path is taken and its scores are added, as they would have been.
Else, and near the places where sums begin anew (viterbi.pyx), the word is worked out from its actual sum.

The same holds for the parts of a word between places that no piece reaches across (csrc/ctok_beside.h), of which there are far fewer
different ones. So the units that are looked up are the parts of long words, and whole words that are short or plain letters, but for a sign
behind them.
Characters that no piece has need no looking up: where some stand together, they are one unit.
Units go in blocks: all are asked first, so that what is remembered of them is fetched side by side; then those that are not known are
searched; then the tokens are given in order.
"""

from libc.math cimport INFINITY, fabsf
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_beside cimport ctok_beside, ctok_beside_cuts, ctok_beside_look, ctok_beside_part, ctok_parting
from ctok._native.c_bestpath cimport ctok_bestpath_find, ctok_bestpath_id, ctok_bestpath_steps, ctok_places, ctok_step
from ctok._native.c_merge cimport ctok_ids, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_ERR_UTF8, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.c_words cimport (
    CTOK_WORD_APART, CTOK_WORD_GROUP, CTOK_WORD_HERE, CTOK_WORD_IDS, CTOK_WORD_RUN, CTOK_WORD_STORED, CTOK_WORDS_ROOMY, ctok_answer,
    ctok_word, ctok_word_limit, ctok_word_n, ctok_words, ctok_words_ask, ctok_words_ask_short, ctok_words_cut, ctok_words_free,
    ctok_words_ids, ctok_words_init, ctok_words_look_up, ctok_words_make_room, ctok_words_put, ctok_words_recall, ctok_words_spelled)
from ctok._native.unigram cimport UnigramScratch, unigram_reserve, unigram_unreserve
from ctok._native.unigram_open cimport (
    RUN_NONE, RUN_UNKNOWN, UnigramOpen, unigram_open_feed, unigram_open_free, unigram_open_new, unigram_open_rest)
from ctok._native.viterbi cimport UnigramModel, viterbi_go_on

cdef enum:
    LONG = 1 << 14              # bytes from which on a word is encoded as an open text
    STOPS = 256 + 64            # places that ctok_words_cut may give
    UNITS = 128                 # of a block
    REMEMBERED = 63             # bytes of the longest unit that is remembered, as csrc/ctok_words.h says
    MOST = 64                   # ids that one may write: an id for each byte, filled up
    WHOLE = 12                  # bytes of the longest word that is a unit by itself
    RUN = 32                    # characters of the longest run of unknown ones that is a unit

cdef struct WordsScratch:
    ctok_words memory
    UnigramScratch room
    ctok_places places
    uint32_t words[STOPS]
    # the units of a block: where they stop and what was found; of those that are asked, which they are, and what the memory needs
    uint32_t stops[UNITS]
    ctok_answer found[UNITS]
    size_t n_units
    uint32_t numbers[UNITS]
    uint64_t keys[UNITS][2]
    ctok_word *lines[UNITS]
    uint32_t misses[UNITS]
    size_t n_asked

# A text on its way.
cdef struct Walk:
    const WordsModel *w
    WordsScratch *s
    const uint8_t *end          # of the text
    ctok_ids *ids
    ctok_ids *ends              # or NULL
    float sum                   # of the path so far
    bint unknown                # was its last token the unknown one?


# ---- tokens ----

cdef ctok_status push(Walk *k, ctok_id id, size_t end) noexcept nogil:
    if k.ends != NULL and ctok_ids_push(k.ends, <ctok_id>end) != CTOK_OK:
        return CTOK_ERR_MEMORY
    return ctok_ids_push(k.ids, id)


cdef ctok_status give(Walk *k, ctok_id id, const uint8_t *p, size_t n, size_t end) noexcept nogil:
    """The next token is p[0..n), which ends at `end` of the text; w.none: an unknown character."""
    cdef const UnigramModel *m = k.w.m
    cdef size_t i
    cdef bint unknown = k.unknown
    cdef ctok_status status = CTOK_OK
    k.unknown = id == k.w.none
    if not k.unknown:
        return push(k, id, end)
    if m.byte_fallback:
        for i in range(n):
            if status == CTOK_OK:
                status = push(k, m.byte_ids[p[i]], end)
        return status
    if not unknown:
        return push(k, m.unk, end)
    if k.ends != NULL:
        k.ends.at[k.ends.n - 1] = <ctok_id>end
    return CTOK_OK


# ---- one word, from the actual sum ----

cdef ctok_status work_out(Walk *k, const uint8_t *p, size_t n, size_t end) noexcept nogil:
    """The word p[0..n), which ends at `end` of the text."""
    if n <= REMEMBERED and k.w.remembers and fabsf(k.sum) + n * k.w.widest < k.w.limit:
        return work_out_short(k, p, n, end)
    if n > LONG and k.ends == NULL:
        return work_out_long(k, p, n)
    return work_out_any(k, p, n, end)


cdef ctok_status work_out_short(Walk *k, const uint8_t *p, size_t n, size_t end) noexcept nogil:
    """One in which sums do not begin anew."""
    cdef ctok_places *at = &k.s.places
    cdef ctok_step steps[REMEMBERED]
    cdef ctok_step *first
    cdef size_t i, count, start = 0
    cdef ctok_status status = CTOK_OK
    ctok_bestpath_find(&k.w.paths, at, p, n, k.end, k.sum)
    if at.best[n] == -INFINITY:
        return CTOK_ERR_UTF8
    count = ctok_bestpath_steps(&k.w.paths, at, n, steps + REMEMBERED)
    first = steps + (REMEMBERED - count)
    for i in range(count):
        if status == CTOK_OK:
            status = give(k, first[i].id, p + start, first[i].end - start, end - n + first[i].end)
        start = first[i].end
    k.sum = at.best[n]
    return status


cdef ctok_status work_out_any(Walk *k, const uint8_t *p, size_t n, size_t end) noexcept nogil:
    cdef UnigramScratch *s = &k.s.room
    cdef uint32_t piece
    cdef size_t i, next = 0, at = n, count = 0
    cdef ctok_status status = unigram_reserve(s, n + 1)
    if status != CTOK_OK:
        return status
    for i in range(n + 1):
        s.nodes[i].size = 0
    s.nodes[0].score = k.sum
    status = viterbi_go_on(k.w.m, s.nodes, p, n, &next, NULL, False)
    if status == CTOK_OK and next != n:
        status = CTOK_ERR_UTF8
    if status != CTOK_OK:
        return status
    while at:
        s.stops[count] = <uint32_t>at
        count += 1
        at -= s.nodes[at].size
    while count and status == CTOK_OK:
        count -= 1
        i = s.stops[count]
        piece = s.nodes[i].piece
        status = give(k, k.w.m.id_of[piece] if piece else k.w.none, p + i - s.nodes[i].size, s.nodes[i].size, end - n + i)
    k.sum = <float>s.nodes[n].score
    return status


cdef ctok_status work_out_long(Walk *k, const uint8_t *p, size_t n) noexcept nogil:
    """With room for what is not certain only, instead of for all places."""
    cdef UnigramOpen *open = <UnigramOpen *>unigram_open_new(k.w.m)
    cdef ctok_status status
    if open == NULL:
        return CTOK_ERR_MEMORY
    open.nodes[0].score = k.sum
    if k.unknown and not k.w.m.byte_fallback:
        open.run = RUN_UNKNOWN
    status = unigram_open_feed(open, p, n, k.ids)
    if status == CTOK_OK:
        status = unigram_open_rest(open, k.ids)
    k.sum = <float>open.nodes[0].score
    k.unknown = open.run != RUN_NONE
    unigram_open_free(open)
    return status


# ---- one word, whatever the sum ----

cdef const ctok_answer *find(Walk *k, const uint8_t *p, size_t n, size_t i) noexcept nogil:
    """Find and remember the best path of p[0..n), the word asked as number i, and how long it is the best; NULL if there is none: it is not
    UTF-8."""
    cdef const WordsModel *w = k.w
    cdef WordsScratch *s = k.s
    cdef size_t j, count, n_chars = ctok_bestpath_find(&w.paths, &s.places, p, n, k.end, 0)
    cdef bint is_none, unknown = False
    cdef double far = INFINITY
    cdef ctok_step steps[REMEMBERED]
    cdef ctok_step *first
    cdef ctok_id ids[REMEMBERED]
    if s.places.best[n] == -INFINITY:
        return NULL
    count = ctok_bestpath_steps(&w.paths, &s.places, n, steps + REMEMBERED)
    first = steps + (REMEMBERED - count)
    for j in range(count):                              # j + 1 tokens, against as many as there are bytes
        is_none = first[j].id == w.none
        ids[j] = w.m.unk if is_none else first[j].id
        unknown |= is_none
        far = min(far, first[j].lead / <double>(j + 1 + first[j].end))
    # A 500th less than the bound says, for the roundings of this calculation and of the answer.
    far = min(far * 16744448.0 - 2 * <double>n_chars * w.widest - 1, <double>w.limit - <double>n_chars * w.widest)
    if far < 0 or (unknown and w.m.byte_fallback):
        far = 0
    return ctok_words_put(&s.memory, s.lines[i], s.keys[i], p, n, ids, count, unknown, <float>far, w.none)


# ---- units of which there is one path ----

cdef ctok_answer words_one(const WordsModel *w, ctok_id id) noexcept nogil:
    cdef ctok_answer found
    found.ids[0] = w.m.unk if id == w.none else id
    found.ids[1] = found.ids[2] = w.none
    if id != w.none:
        found.n = ctok_word_n(1, 0, w.limit_of_one)
    else:
        found.n = ctok_word_n(1, CTOK_WORD_APART, 0 if w.m.byte_fallback else w.limit_of_one)
    return found


cdef inline ctok_answer words_run(const WordsModel *w, size_t count) noexcept nogil:
    cdef ctok_answer found
    cdef double limit = 0 if w.m.byte_fallback else w.limit - <double>count * w.widest
    found.ids[0] = found.ids[1] = found.ids[2] = w.none
    found.n = ctok_word_n(count, CTOK_WORD_RUN, <float>limit)
    return found


# ---- blocks of units ----

cdef inline void ask(Walk *k, const uint8_t *p, size_t start, size_t stop, size_t n) noexcept nogil:
    """The next unit is p[start..stop), to be looked up."""
    cdef WordsScratch *s = k.s
    s.lines[s.n_asked] = ctok_words_ask(&s.memory, p, start, stop, n, s.keys[s.n_asked])
    s.numbers[s.n_asked] = <uint32_t>s.n_units
    s.n_asked += 1
    s.stops[s.n_units] = <uint32_t>stop
    s.n_units += 1


cdef inline void settle(WordsScratch *s, ctok_answer found, size_t stop) noexcept nogil:
    """The next unit ends at `stop` and is known."""
    s.found[s.n_units] = found
    s.stops[s.n_units] = <uint32_t>stop
    s.n_units += 1


cdef void look_up(Walk *k, const uint8_t *p, size_t start) noexcept nogil:
    """Answer all units, the first of which starts at `start`; those that must be worked out get the limit 0."""
    cdef WordsScratch *s = k.s
    cdef size_t i, j, begin, size, n_misses
    cdef const ctok_answer *found
    n_misses = ctok_words_look_up(s.keys, s.lines, s.numbers, s.n_asked, s.found, s.misses)
    for j in range(n_misses):
        i = s.numbers[s.misses[j]]
        begin = s.stops[i - 1] if i else start
        size = s.stops[i] - begin
        s.found[i].n = 0
        if size > REMEMBERED:
            continue
        found = ctok_words_recall(&s.memory, s.lines[s.misses[j]], s.keys[s.misses[j]], p + begin, size)
        if found == NULL:
            found = find(k, p + begin, size, s.misses[j])
        if found != NULL:
            s.found[i] = found[0]


cdef inline float give_stored(const float *score_by_id, const ctok_id *ids, size_t n, ctok_id *to, float sum) noexcept nogil:
    """Give n ids by groups, and return the sum behind them."""
    cdef size_t i = 0
    while i < n:
        memcpy(to + i, ids + i, CTOK_WORD_GROUP * sizeof(ctok_id))
        sum = (((sum + score_by_id[ids[i]]) + score_by_id[ids[i + 1]]) + score_by_id[ids[i + 2]]) + score_by_id[ids[i + 3]]
        i += CTOK_WORD_GROUP
    return sum


cdef inline size_t give_apart(const WordsModel *w, const ctok_id *ids, size_t n, ctok_id *to, float *sum, bint *unknown) noexcept nogil:
    """Give n ids, an unknown one for each such character: of those that stand together the first. Returns how many are given."""
    cdef ctok_id unk = w.m.unk
    cdef size_t i, given = 0
    cdef bint before = unknown[0]
    cdef float after = sum[0]
    for i in range(n):
        to[given] = ids[i]
        given += not (before and ids[i] == unk)
        before = ids[i] == unk
        after += w.score_by_id[ids[i]]
    unknown[0] = before
    sum[0] = after
    return given


cdef ctok_status give_units(Walk *k, const uint8_t *p, size_t start) noexcept nogil:
    """Give the tokens of all units. There is room for those of the units to come as long as each stands in its answer, and for MOST."""
    cdef WordsScratch *s = k.s
    cdef const float *score_by_id = k.w.score_by_id
    cdef const ctok_answer *found
    cdef ctok_ids *ids = k.ids
    cdef ctok_id unk = k.w.m.unk
    cdef size_t i, n, n_ids = ids.n, n_units = s.n_units
    cdef float sum = k.sum
    cdef bint unknown = k.unknown
    cdef ctok_status status = ctok_ids_reserve(ids, CTOK_WORD_HERE * n_units + MOST)
    for i in range(n_units):
        if status != CTOK_OK:
            return status
        found = &s.found[i]
        n = found.n & CTOK_WORD_IDS
        if not fabsf(sum) < ctok_word_limit(found.n):
            ids.n = n_ids
            k.sum = sum
            k.unknown = unknown
            start = s.stops[i - 1] if i else start
            status = work_out(k, p + start, s.stops[i] - start, s.stops[i])
            n_ids = ids.n
            sum = k.sum
            unknown = k.unknown
        elif not found.n & (CTOK_WORD_APART | CTOK_WORD_STORED | CTOK_WORD_RUN):
            memcpy(ids.at + n_ids, found.ids, sizeof(found.ids))
            n_ids += n
            sum = ((sum + score_by_id[found.ids[0]]) + score_by_id[found.ids[1]]) + score_by_id[found.ids[2]]
            unknown = False
            continue
        elif found.n & CTOK_WORD_RUN:
            for _ in range(n):
                sum += score_by_id[unk]
            ids.at[n_ids] = unk
            n_ids += not unknown
            unknown = True
            continue
        elif found.n & CTOK_WORD_APART:
            n_ids += give_apart(k.w, ctok_words_ids(&s.memory, found), n, ids.at + n_ids, &sum, &unknown)
        else:
            sum = give_stored(score_by_id, s.memory.store + found.ids[0], n, ids.at + n_ids, sum)
            n_ids += n
            unknown = False
        ids.n = n_ids
        if status == CTOK_OK:
            status = ctok_ids_reserve(ids, CTOK_WORD_HERE * (n_units - i) + MOST)
    ids.n = n_ids
    k.sum = sum
    k.unknown = unknown
    return status


cdef ctok_status end_block(Walk *k, const uint8_t *p, size_t *start) noexcept nogil:
    """Give the tokens of the units gathered, the first of which starts at *start, and begin anew behind them."""
    cdef WordsScratch *s = k.s
    cdef ctok_status status
    look_up(k, p, start[0])
    status = give_units(k, p, start[0])
    start[0] = s.stops[s.n_units - 1]
    s.n_units = s.n_asked = 0
    ctok_words_make_room(&s.memory, UNITS)
    return status


cdef ctok_status take_apart(Walk *k, const uint8_t *p, size_t at, size_t stop, size_t n, size_t *start) noexcept nogil:
    """The units of a long word p[at..stop): its parts."""
    cdef const ctok_beside *beside = &k.w.paths.beside
    cdef ctok_parting c
    cdef size_t begin, size, count, most = 1 if k.w.m.byte_fallback else RUN
    cdef uint32_t node
    cdef ctok_status status = CTOK_OK
    c.p = p
    c.at = at
    c.end = stop
    ctok_beside_look(beside, &c)
    while c.at < stop and status == CTOK_OK:
        begin = c.at
        size = c.size
        node = c.one.node
        count = ctok_beside_part(beside, &c, most)
        if count:
            settle(k.s, words_run(k.w, count), c.at)
        elif c.at - begin == size and p[begin] < 0xF0:
            settle(k.s, words_one(k.w, ctok_bestpath_id(&k.w.paths, node)), c.at)
        else:
            ask(k, p, begin, c.at, n)
        if k.s.n_units == UNITS:
            status = end_block(k, p, start)
    return status


cdef ctok_status ask_word(Walk *k, const uint8_t *p, size_t pos, size_t stop, size_t n, size_t *start) noexcept nogil:
    """The units of the word p[pos..stop): its parts, if it is long or signs stand behind it."""
    if stop - pos > WHOLE or k.w.is_tail[p[stop - 1]]:
        return take_apart(k, p, pos, stop, n, start)
    ask(k, p, pos, stop, n)
    return end_block(k, p, start) if k.s.n_units == UNITS else CTOK_OK


cdef inline size_t ask_plain(Walk *k, const uint8_t *p, size_t pos, size_t i, size_t found) noexcept nogil:
    """Ask words from number i < found on, the first of which starts at pos, as long as they are units by themselves, but for one sign
    behind them, and there is room for them in the block. Returns the number of the next one."""
    cdef WordsScratch *s = k.s
    cdef const WordsModel *w = k.w
    cdef const ctok_beside *beside = &w.paths.beside
    cdef ctok_words memory = s.memory
    cdef size_t stop, size, has_tail, n_units = s.n_units, n_asked = s.n_asked
    cdef uint8_t last
    while i < found and n_units < UNITS - 1 and s.words[i] - pos > 3:
        stop = s.words[i]
        last = p[stop - 1]
        has_tail = w.is_tail[last] & ctok_beside_cuts(beside, beside.chars + last, p[stop - 2])
        size = stop - pos - has_tail
        if (has_tail and w.is_tail[p[stop - 2]]) or (size > WHOLE and not (w.spells and ctok_words_spelled(p + pos, size))):
            break
        s.lines[n_asked] = ctok_words_ask_short(&memory, p + pos, size, s.keys[n_asked])
        s.numbers[n_asked] = <uint32_t>n_units
        s.stops[n_units] = <uint32_t>(stop - has_tail)
        s.stops[n_units + 1] = <uint32_t>stop                   # which counts if there is a sign
        s.found[n_units + 1] = w.tails[last & 127]
        n_asked += 1
        n_units += 1 + has_tail
        i += 1
        pos = stop
    s.n_units = n_units
    s.n_asked = n_asked
    return i


# ---- texts ----

cdef ctok_status walk_units(Walk *k, const uint8_t *p, size_t n) noexcept nogil:
    cdef WordsScratch *s = k.s
    cdef size_t pos = 0, start = 0, found, i
    cdef bint roomy
    cdef ctok_status status = CTOK_OK
    if s.memory.lines == NULL and ctok_words_init(&s.memory, k.w.seed) != CTOK_OK:
        return CTOK_ERR_MEMORY
    s.n_units = s.n_asked = 0
    while pos < n:
        found = ctok_words_cut(p, pos, n, s.words)
        roomy = s.words[found - 1] + CTOK_WORDS_ROOMY <= n
        i = 0
        while i < found:
            if roomy:
                i = ask_plain(k, p, pos, i, found)
                pos = s.words[i - 1] if i else pos
            if s.n_units == UNITS:
                status = end_block(k, p, &start)
            elif i < found:
                status = ask_word(k, p, pos, s.words[i], n, &start)
                pos = s.words[i]
                i += 1
            if status != CTOK_OK:
                return status
    return end_block(k, p, &start) if s.n_units else CTOK_OK


cdef ctok_status walk_words(Walk *k, const uint8_t *p, size_t n) noexcept nogil:
    """Word by word, each from the actual sum."""
    cdef size_t pos = 0, found, i
    cdef ctok_status status = CTOK_OK
    while pos < n:
        found = ctok_words_cut(p, pos, n, k.s.words)
        for i in range(found):
            status = work_out(k, p + pos, k.s.words[i] - pos, k.s.words[i])
            if status != CTOK_OK:
                return status
            pos = k.s.words[i]
    return CTOK_OK


cdef void *words_scratch_new(const void *model) noexcept nogil:
    return ctok_mem_zeroed(1, sizeof(WordsScratch))


cdef void words_scratch_free(void *scratch) noexcept nogil:
    cdef WordsScratch *s = <WordsScratch *>scratch
    if s != NULL:
        ctok_words_free(&s.memory)
        unigram_unreserve(&s.room)
        ctok_mem_free(s)


cdef ctok_status words_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    cdef Walk k
    cdef size_t first = ids.n, first_end = ends.n if ends != NULL else 0
    cdef ctok_status status = CTOK_OK
    k.w = <const WordsModel *>model
    k.s = <WordsScratch *>scratch
    k.end = p + n
    k.ids = ids
    k.ends = ends
    k.sum = 0
    k.unknown = False
    if k.w.by_words and k.w.remembers and ends == NULL:
        status = walk_units(&k, p, n)
    elif k.w.by_words:
        status = walk_words(&k, p, n)
    elif n:
        status = work_out(&k, p, n, n)
    if status != CTOK_OK:
        ids.n = first
        if ends != NULL:
            ends.n = first_end
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
