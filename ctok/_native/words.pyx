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
different ones. So a word that is not remembered is put together from its parts; it holds as long as all of them do.
"""

from libc.math cimport INFINITY, fabsf
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_beside cimport ctok_beside_char, ctok_beside_next
from ctok._native.c_bestpath cimport ctok_bestpath_find, ctok_places, ctok_places_node, ctok_places_start
from ctok._native.c_merge cimport ctok_ids, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_trie cimport ctok_trie_piece, ctok_trie_unit
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_ERR_UTF8, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.c_words cimport (
    CTOK_WORD_APART, CTOK_WORD_HERE, CTOK_WORD_IDS, ctok_word, ctok_word_limit, ctok_words, ctok_words_cut, ctok_words_find,
    ctok_words_free, ctok_words_ids, ctok_words_init, ctok_words_probe, ctok_words_put)
from ctok._native.unigram cimport UnigramScratch, unigram_reserve, unigram_unreserve
from ctok._native.unigram_open cimport (
    RUN_NONE, RUN_UNKNOWN, UnigramOpen, unigram_open_feed, unigram_open_free, unigram_open_new, unigram_open_rest)
from ctok._native.viterbi cimport UnigramModel, viterbi_go_on

cdef enum:
    LONG = 1 << 14              # bytes from which on a word is encoded as an open text
    STOPS = 256 + 64            # places that ctok_words_cut may give
    REMEMBERED = 63             # bytes of the longest word that is remembered

# What is known of a part of a text.
cdef struct Answer:
    const ctok_id *ids          # its tokens, one for each unknown character
    size_t n
    float limit                 # as long as the sum before it is less far from 0, these are right
    bint unknown
    ctok_id room[REMEMBERED + 1]

cdef struct WordsScratch:
    ctok_words memory
    UnigramScratch room
    ctok_places places
    uint32_t stops[STOPS]
    uint64_t keys[STOPS][2]
    ctok_word *lines[STOPS]

# A text on its way.
cdef struct Walk:
    const WordsModel *w
    WordsScratch *s
    ctok_ids *ids
    ctok_ids *ends              # or NULL
    float sum                   # of the path so far
    bint unknown                # was its last token the unknown one?


# ---- tokens ----

cdef ctok_status push(Walk *k, ctok_id id, size_t end) noexcept nogil:
    if k.ends != NULL and ctok_ids_push(k.ends, <ctok_id>end) != CTOK_OK:
        return CTOK_ERR_MEMORY
    return ctok_ids_push(k.ids, id)


cdef ctok_status give(Walk *k, uint32_t piece, const uint8_t *p, size_t n, size_t end) noexcept nogil:
    """The next token is p[0..n), which ends at `end` of the text."""
    cdef const UnigramModel *m = k.w.m
    cdef size_t i
    cdef bint unknown = k.unknown
    cdef ctok_status status = CTOK_OK
    k.unknown = piece == 0
    if piece:
        return push(k, m.id_of[piece], end)
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


cdef ctok_status give_ids(Walk *k, const ctok_id *ids, size_t n) noexcept nogil:
    """Remembered tokens, unknown ones among them: an id for each character."""
    cdef const float *score_by_id = k.w.score_by_id
    cdef ctok_id unk = k.w.m.unk
    cdef ctok_id *to
    cdef size_t i
    cdef float sum = k.sum
    cdef bint before = k.unknown, unknown
    if ctok_ids_reserve(k.ids, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    to = k.ids.at + k.ids.n
    for i in range(n):
        sum += score_by_id[ids[i]]
        unknown = ids[i] == unk
        to[0] = ids[i]
        to += not (unknown and before)
        before = unknown
    k.ids.n = to - k.ids.at
    k.sum = sum
    k.unknown = before
    return CTOK_OK


# ---- one word, from the actual sum ----

cdef ctok_status work_out(Walk *k, const uint8_t *p, size_t n, size_t end) noexcept nogil:
    """The word p[0..n), which ends at `end` of the text."""
    cdef UnigramScratch *s = &k.s.room
    cdef size_t i, next = 0, at = n, count = 0
    cdef ctok_status status
    if n > LONG and k.ends == NULL:
        return work_out_long(k, p, n)
    status = unigram_reserve(s, n + 1)
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
        status = give(k, s.nodes[i].piece, p + i - s.nodes[i].size, s.nodes[i].size, end - n + i)
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

cdef bint find(const WordsModel *w, ctok_places *at, const uint8_t *p, size_t n, Answer *found) noexcept nogil:
    """The best path of p[0..n), and how long it is the best; False if there is none: it is not UTF-8."""
    cdef size_t place = n, first = REMEMBERED + 1, n_chars = ctok_bestpath_find(&w.paths, at, p, n), i
    cdef uint32_t node
    cdef double far = INFINITY
    cdef double lead[REMEMBERED + 1]
    cdef size_t ends[REMEMBERED + 1]
    if at.best[n] == -INFINITY:
        return False
    found.unknown = False
    while place:
        first -= 1
        node = ctok_places_node(at, place)
        found.room[first] = w.m.id_of[piece_at(w.m, node)]
        found.unknown |= node == 0
        lead[first] = at.best[place] - at.second[place]
        ends[first] = place
        place = ctok_places_start(at, place)
    for i in range(first, REMEMBERED + 1):              # there are i + 1 - first tokens, against as many as there are bytes
        far = min(far, lead[i] / <double>(i + 1 - first + ends[i]))
    found.ids = found.room + first
    found.n = REMEMBERED + 1 - first
    # A 500th less than the bound says, for the roundings of this calculation and of the entry.
    far = min(far * 16744448.0 - 2 * <double>n_chars * w.widest - 1, <double>w.limit)
    found.limit = <float>far if far > 0 else 0
    return True


cdef bint recall(Walk *k, const uint8_t *p, size_t n, const uint64_t *key, const ctok_word *line, Answer *found) noexcept nogil:
    """What the memory holds for p[0..n)."""
    cdef const ctok_word *hit = ctok_words_find(line, key)
    found.ids = ctok_words_ids(&k.s.memory, hit, p, n) if hit != NULL else NULL
    if found.ids == NULL:
        return False
    found.n = hit.n & CTOK_WORD_IDS
    found.limit = ctok_word_limit(hit.n)
    return True


cdef ctok_status give_part(Walk *k, const uint8_t *p, size_t n, size_t end, const uint64_t *key, ctok_word *line,
                           Answer *found) noexcept nogil:
    """A part of a word, in which there is nowhere to cut."""
    if not recall(k, p, n, key, line, found):
        if not find(k.w, &k.s.places, p, n, found):
            return work_out(k, p, n, end)
        if found.unknown and k.w.m.byte_fallback:
            found.limit = -1
            return work_out(k, p, n, end)
        ctok_words_put(&k.s.memory, line, key, p, n, found.ids, found.n, found.unknown, found.limit, k.w.none)
    if fabsf(k.sum) < found.limit:
        return give_ids(k, found.ids, found.n)
    return work_out(k, p, n, end)


cdef inline uint32_t piece_at(const UnigramModel *m, uint32_t node) noexcept nogil:
    return ctok_trie_piece(ctok_trie_unit(&m.trie, node)) if node else 0


cdef ctok_status give_character(Walk *k, uint32_t piece, const uint8_t *p, size_t n, size_t end, Answer *found) noexcept nogil:
    """A part that is a single character: there is one path."""
    found.room[0] = k.w.m.id_of[piece]
    found.ids = found.room
    found.n = 1
    found.limit = k.w.limit if piece or not k.w.m.byte_fallback else -1
    if not fabsf(k.sum) < k.w.limit:
        return work_out(k, p, n, end)
    k.sum += <float>k.w.m.score_of[piece]
    return give(k, piece, p, n, end)


cdef void add_part(Answer *whole, const Answer *part) noexcept nogil:
    whole.limit = min(whole.limit, part.limit)
    if whole.limit > 0:
        memcpy(whole.room + whole.n, part.ids, part.n * sizeof(ctok_id))
        whole.n += part.n


cdef ctok_status give_parts(Walk *k, const uint8_t *p, size_t n, size_t end, const uint64_t *key, ctok_word *line,
                            bint remember) noexcept nogil:
    """A word part by part."""
    cdef Answer whole, part
    cdef const ctok_beside_char *first
    cdef size_t at = 0, next, size, i
    cdef uint32_t stop
    cdef uint64_t part_key[1][2]
    cdef ctok_word *part_line
    cdef ctok_status status = CTOK_OK
    whole.n = 0
    whole.limit = k.w.limit if n <= REMEMBERED and remember else -1
    while at < n and status == CTOK_OK:
        next = ctok_beside_next(&k.w.paths.beside, p, at, n, &first, &size)
        part.limit = -1
        if next - at == size and p[at] < 0xF0:
            status = give_character(k, piece_at(k.w.m, first.node), p + at, size, end - n + next, &part)
        elif at == 0 and next == n and n <= REMEMBERED:
            return give_part(k, p, n, end, key, line, &part)
        elif next - at <= REMEMBERED:
            stop = <uint32_t>next
            ctok_words_probe(&k.s.memory, p, at, &stop, 1, n, REMEMBERED, part_key, &part_line)
            status = give_part(k, p + at, next - at, end - n + next, part_key[0], part_line, &part)
        else:
            status = work_out(k, p + at, next - at, end - n + next)
        add_part(&whole, &part)
        at = next
    # Before a part the sum is farther from 0 than before the word by what stands between them.
    whole.limit -= <float>(64 * k.w.widest + 1)
    if status == CTOK_OK and whole.limit > 0:
        whole.unknown = False
        for i in range(whole.n):
            whole.unknown |= whole.room[i] == k.w.m.unk
        ctok_words_put(&k.s.memory, line, key, p, n, whole.room, whole.n, whole.unknown, whole.limit, k.w.none)
    return status


cdef ctok_status look_further(Walk *k, const uint8_t *p, size_t n, size_t end, const uint64_t *key, ctok_word *line) noexcept nogil:
    """A word that the memory of short ones does not settle at once."""
    cdef Answer found
    cdef bint is_known
    if not k.w.remembers:
        return work_out(k, p, n, end)
    is_known = n <= REMEMBERED and recall(k, p, n, key, line, &found)
    if is_known and fabsf(k.sum) < found.limit:
        return give_ids(k, found.ids, found.n)
    return give_parts(k, p, n, end, key, line, not is_known)


# ---- texts ----

cdef ctok_status walk_block(Walk *k, const uint8_t *p, size_t start, size_t n_words, size_t n) noexcept nogil:
    """The words of p[start..) that stop at s.stops."""
    cdef WordsScratch *s = k.s
    cdef const float *score_by_id = k.w.score_by_id
    cdef const ctok_word *hit
    cdef ctok_ids *ids = k.ids
    cdef size_t i, n_ids = ids.n, room
    cdef float sum = k.sum
    cdef ctok_status status
    ctok_words_probe(&s.memory, p, start, s.stops, n_words, n, REMEMBERED, s.keys, s.lines)
    if ctok_ids_reserve(ids, CTOK_WORD_HERE * n_words) != CTOK_OK:
        return CTOK_ERR_MEMORY
    room = ids.cap - CTOK_WORD_HERE
    for i in range(n_words):
        hit = s.lines[i]
        if hit.key[0] != s.keys[i][0] or hit.key[1] != s.keys[i][1]:
            hit += 1
        if (hit.key[0] == s.keys[i][0] and hit.key[1] == s.keys[i][1] and fabsf(sum) < ctok_word_limit(hit.n)
                and not hit.n & CTOK_WORD_APART and n_ids <= room):
            memcpy(ids.at + n_ids, hit.ids, sizeof(hit.ids))
            n_ids += hit.n & CTOK_WORD_IDS
            sum = ((sum + score_by_id[hit.ids[0]]) + score_by_id[hit.ids[1]]) + score_by_id[hit.ids[2]]
            k.unknown = False
        else:
            ids.n = n_ids
            k.sum = sum
            status = look_further(k, p + start, s.stops[i] - start, s.stops[i], s.keys[i], s.lines[i])
            if status == CTOK_OK:
                status = ctok_ids_reserve(ids, CTOK_WORD_HERE)
            if status != CTOK_OK:
                return status
            n_ids = ids.n
            sum = k.sum
            room = ids.cap - CTOK_WORD_HERE
        start = s.stops[i]
    ids.n = n_ids
    k.sum = sum
    return CTOK_OK


cdef ctok_status walk_words(Walk *k, const uint8_t *p, size_t n) noexcept nogil:
    cdef WordsScratch *s = k.s
    cdef size_t pos = 0, found, i, start
    cdef ctok_status status = CTOK_OK
    if k.ends == NULL and s.memory.lines == NULL and ctok_words_init(&s.memory, k.w.seed) != CTOK_OK:
        return CTOK_ERR_MEMORY
    while pos < n and status == CTOK_OK:
        found = ctok_words_cut(p, pos, n, s.stops)
        if k.ends == NULL:
            status = walk_block(k, p, pos, found, n)
        else:
            start = pos
            for i in range(found):
                if status == CTOK_OK:
                    status = work_out(k, p + start, s.stops[i] - start, s.stops[i])
                start = s.stops[i]
        pos = s.stops[found - 1]
    return status


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
    k.ids = ids
    k.ends = ends
    k.sum = 0
    k.unknown = False
    if k.w.by_words:
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
