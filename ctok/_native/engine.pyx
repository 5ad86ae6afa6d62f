"""The engine: text in, ids out, in blocks, without Python objects.

A text is made UTF-8 where it is not (a part at a time), cut at special tokens, scanned for pretokens a block at a time, and each pretoken
is looked up in the thread's cache; what is not there goes to the vocabulary and the merge. Everything runs on a `Context`, which one call
owns while it runs.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from ctok._native.bpe cimport bpe_merge, bpe_neighbours, merge_scratch_free
from ctok._native.bpelanes cimport LANE, MergeTask, bpe_merge_many
from ctok._native.c_engine cimport (
    CTOK_CACHE_LONG, CTOK_CACHE_LONG_IDS, CTOK_CACHE_SHORT, CTOK_CACHE_SHORT_IDS, CTOK_KEY_BYTES, CTOK_LITERAL_HOLD, CTOK_LITERAL_NONE,
    CTOK_PREFIXMEMO_YES,
    ctok_cache_distinct, ctok_cache_emit, ctok_cache_find, ctok_cache_free, ctok_cache_init, ctok_cache_line, ctok_cache_long_is,
    ctok_cache_long_key, ctok_cache_long_line, ctok_cache_long_put, ctok_cache_many, ctok_cache_probe, ctok_cache_put, ctok_cache_repeat,
    ctok_key_exact, ctok_literal_result, ctok_literals_find, ctok_long_entry, ctok_prefixmemo_new, ctok_prefixmemo_slot, ctok_short_entry)
from ctok._native.c_merge cimport ctok_ids_free, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_utf8 cimport ctok_on_surrogate, ctok_utf8_count, ctok_utf8_from
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_ERR_STOPPED, CTOK_NO_ID, CTOK_OK, CTOK_PREFETCH, ctok_id, ctok_listed_fetch, ctok_listed_fetch_border,
    ctok_listed_fetch_halves, ctok_listed_gave, ctok_listed_gives,
    ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_mem_zeroed, ctok_mix, ctok_status, ctok_vocab, ctok_vocab_candidate,
    ctok_vocab_find, ctok_vocab_find_key, ctok_vocab_hash, ctok_vocab_place)
from ctok._native.c_scan cimport ctok_block
from ctok._native.c_split cimport ctok_split_block

cdef enum:
    WINDOW = 1 << 20            # bytes of a UTF-8 text taken at a time
    PART = 1 << 16              # bytes of UTF-8 made from a str at a time
    KEEP = 1 << 18              # items of scratch memory that a context keeps between calls
    KEEP_IDS = 1 << 19          # and ids: one large page


cdef Context *context_new(uint64_t seed) noexcept nogil:
    cdef Context *c = <Context *>ctok_mem_zeroed(1, sizeof(Context))
    if c == NULL:
        return NULL
    if ctok_cache_init(&c.cache, seed) != CTOK_OK:
        ctok_mem_free(c)
        return NULL
    return c


cdef void context_free(Context *c) noexcept nogil:
    ctok_cache_free(&c.cache)
    merge_scratch_free(&c.merge)
    ctok_ids_free(&c.ids)
    ctok_ids_free(&c.side)
    ctok_mem_free(c.text)
    ctok_mem_free(c.pairs)
    ctok_mem_free(c.steps)
    ctok_mem_free(c.prefixes)
    ctok_mem_free(c.beginnings)
    if c.extra != NULL:
        c.extra_free(c.extra)
    ctok_mem_free(c)


cdef void context_trim(Context *c) noexcept nogil:
    """Give back what an unusually large text made grow."""
    if c.ids.cap > KEEP_IDS:
        ctok_ids_free(&c.ids)
    if c.side.cap > KEEP:
        ctok_ids_free(&c.side)
    if c.text_cap > KEEP:
        ctok_mem_free(c.text)
        c.text = NULL
        c.text_cap = 0
    if c.merge.cap > KEEP:
        merge_scratch_free(&c.merge)


cdef ctok_status resolve(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n) noexcept nogil:
    """Append the ids of a pretoken that no cache holds."""
    cdef ctok_id whole = ctok_vocab_find(v, p, n)
    if whole != CTOK_NO_ID:
        return ctok_ids_push(&c.ids, whole)
    return bpe_merge(v, p, n, &c.merge, &c.ids, &c.bad)


cdef ctok_status resolve_long(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n) noexcept nogil:
    """The same for 16 bytes or more, through the cache of long pretokens where it can hold them."""
    cdef uint64_t key[4]
    cdef ctok_long_entry *entry
    cdef size_t before = c.ids.n
    cdef ctok_status status
    if n > CTOK_CACHE_LONG:
        return resolve(c, v, p, n)
    ctok_cache_long_key(p, n, NULL, key)
    entry = ctok_cache_long_line(&c.cache, key)
    if ctok_cache_long_is(entry, n, key):
        status = ctok_ids_reserve(&c.ids, CTOK_CACHE_LONG_IDS)
        if status == CTOK_OK:
            memcpy(c.ids.at + c.ids.n, entry.ids, sizeof(entry.ids))
            c.ids.n += entry.n
        return status
    status = resolve(c, v, p, n)
    if status == CTOK_OK and c.ids.n - before <= CTOK_CACHE_LONG_IDS:
        ctok_cache_long_put(entry, n, key, c.ids.at + before, c.ids.n - before)
    return status


cdef ctok_status resolve_short(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n, ctok_short_entry *line,
                               const uint64_t *key) noexcept nogil:
    cdef size_t before = c.ids.n
    cdef ctok_status status = resolve(c, v, p, n)
    if status == CTOK_OK and c.ids.n - before <= CTOK_CACHE_SHORT_IDS:
        ctok_cache_put(line, key, c.ids.at + before, c.ids.n - before)
    return status


cdef ctok_status encode_pretoken(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n) noexcept nogil:
    """Append the ids of one whole pretoken; after an error c.bad is the place in it."""
    cdef uint64_t key[2]
    cdef ctok_short_entry *line
    cdef const ctok_short_entry *hit
    if n > CTOK_CACHE_SHORT:
        return resolve_long(c, v, p, n)
    ctok_key_exact(p, n, key)
    line = ctok_cache_line(&c.cache, key)
    hit = ctok_cache_find(line, key)
    if hit == NULL:
        return resolve_short(c, v, p, n, line, key)
    if ctok_ids_reserve(&c.ids, CTOK_CACHE_SHORT_IDS) != CTOK_OK:
        return CTOK_ERR_MEMORY
    memcpy(c.ids.at + c.ids.n, hit.ids, sizeof(hit.ids))
    c.ids.n += hit.n
    return CTOK_OK


cdef ctok_status settle_outcome(Context *c, size_t i, const ctok_id *ids, size_t n) noexcept nogil:
    c.found[i].n = <uint32_t>n
    if n <= CTOK_CACHE_SHORT_IDS:
        memcpy(c.found[i].ids, ids, n * sizeof(ctok_id))
        return CTOK_OK
    if ctok_ids_reserve(&c.side, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    memcpy(c.side.at + c.side.n, ids, n * sizeof(ctok_id))
    c.found[i].ids[0] = <ctok_id>c.side.n
    c.side.n += n
    return CTOK_OK


cdef bint recall(Context *c, size_t i, const uint8_t *p, size_t n) noexcept nogil:
    cdef uint64_t key[4]
    cdef ctok_long_entry *entry
    if n > CTOK_CACHE_LONG:
        return False
    ctok_cache_long_key(p, n, c.keys[i], key)
    entry = ctok_cache_long_line(&c.cache, key)
    return ctok_cache_long_is(entry, n, key) and settle_outcome(c, i, entry.ids, entry.n) == CTOK_OK


cdef void remember(Context *c, size_t i, const uint8_t *p, size_t n, const ctok_id *ids, size_t n_ids, bint many) noexcept nogil:
    cdef uint64_t key[4]
    if n <= CTOK_CACHE_SHORT and n_ids <= CTOK_CACHE_SHORT_IDS:
        ctok_cache_put(ctok_cache_line(&c.cache, c.keys[i]), c.keys[i], ids, n_ids)
    elif n <= CTOK_CACHE_LONG and n_ids <= CTOK_CACHE_LONG_IDS and (n > CTOK_CACHE_SHORT or many):
        ctok_cache_long_key(p, n, c.keys[i], key)
        ctok_cache_long_put(ctok_cache_long_line(&c.cache, key), n, key, ids, n_ids)


cdef ctok_status look_up_miss(Context *c, const ctok_vocab *v, size_t i, const uint8_t *p, size_t n, size_t *n_tasks) noexcept nogil:
    """Settle a pretoken that the table of long ones or the vocabulary holds; make a task of any other."""
    cdef ctok_id whole
    if n > CTOK_CACHE_SHORT and recall(c, i, p, n):
        return CTOK_OK
    whole = ctok_vocab_find_key(v, p, n, c.keys[i])
    if whole != CTOK_NO_ID and ctok_listed_gives(v, whole):
        remember(c, i, p, n, &whole, 1, False)
        return settle_outcome(c, i, &whole, 1)
    if n <= CTOK_CACHE_SHORT and ctok_cache_many(c.keys[i]) and recall(c, i, p, n):
        return CTOK_OK
    c.tasks[n_tasks[0]].p = p
    c.tasks[n_tasks[0]].n = <uint32_t>n
    c.tasks[n_tasks[0]].number = <uint32_t>i
    n_tasks[0] += 1
    return CTOK_OK


cdef void fetch_halves(Context *c, const ctok_vocab *v, size_t n_misses) noexcept nogil:
    """The same for what ctok_listed_gives will touch."""
    cdef uint32_t learnt[BLOCK]
    cdef size_t k, n = 0
    cdef ctok_id found
    for k in range(n_misses):
        found = c.found[c.misses[k]].ids[0]
        if found != CTOK_NO_ID:
            learnt[n] = found
            n += ctok_listed_fetch_halves(v, found)
    for k in range(n):
        ctok_listed_fetch_border(v, learnt[k])


cdef void fetch_misses(Context *c, const ctok_vocab *v, const uint8_t *buf, size_t start, size_t n_misses) noexcept nogil:
    """Begin to fetch what looking them up will touch, one step for all of them after the other: slots, entries, bytes."""
    cdef size_t i, k, n, at
    cdef ctok_id *found
    for k in range(n_misses):
        i = c.misses[k]
        n = c.stops[i] - begin_of(c, start, i)
        if n > CTOK_CACHE_SHORT or ctok_cache_many(c.keys[i]):
            fetch_memory(c, i, buf + c.stops[i] - n, n)
        c.hashes[k] = ctok_vocab_hash(buf + c.stops[i] - n, n, c.keys[i]) if n <= v.longest else 0
        CTOK_PREFETCH(v.slots + ctok_vocab_place(v, c.hashes[k]))
    for k in range(n_misses):
        at = ctok_vocab_place(v, c.hashes[k])
        found = c.found[c.misses[k]].ids
        found[0] = ctok_vocab_candidate(v, c.hashes[k], &at)
        if found[0] != CTOK_NO_ID:
            CTOK_PREFETCH(v.by_id + found[0])
    for k in range(n_misses):
        found = c.found[c.misses[k]].ids
        if found[0] != CTOK_NO_ID:
            CTOK_PREFETCH(v.bytes + v.by_id[found[0]].begin)
            ctok_listed_fetch(v, found[0])
    if v.listed != NULL:
        fetch_halves(c, v, n_misses)


cdef ctok_status resolve_misses(Context *c, const ctok_vocab *v, const uint8_t *buf, size_t start, size_t n_misses) noexcept nogil:
    """Settle the pretokens that the cache does not hold: look all of them up, merge those that are no token, remember the answers."""
    cdef size_t i, k, begin, n_repeats = 0, n_tasks = 0, n_small = 0, which = 0
    cdef MergeTask task
    cdef ctok_status status = CTOK_OK
    c.side.n = 0
    n_misses = ctok_cache_distinct(&c.cache, buf, start, c.stops, c.keys, c.found, c.misses, n_misses, c.repeats, &n_repeats)
    fetch_misses(c, v, buf, start, n_misses)
    for k in range(n_misses):
        i = c.misses[k]
        begin = begin_of(c, start, i)
        status = look_up_miss(c, v, i, buf + begin, c.stops[i] - begin, &n_tasks)
        if status != CTOK_OK:
            return status
    # Small ones first, in lanes; the others one by one. The ids of all stand in c.side.
    for k in range(n_tasks):
        if c.tasks[k].n <= LANE and v.joins.slots != NULL:
            task = c.tasks[n_small]
            c.tasks[n_small] = c.tasks[k]
            c.tasks[k] = task
            n_small += 1
    status = bpe_merge_many(v, c.tasks, n_small, c.lanes, &c.side, &which, &c.bad)
    for k in range(n_small, n_tasks):
        if status != CTOK_OK:
            break
        c.tasks[k].begin = c.side.n
        status = bpe_merge(v, c.tasks[k].p, c.tasks[k].n, &c.merge, &c.side, &c.bad)
        c.tasks[k].count = c.side.n - c.tasks[k].begin
        which = k
    if status != CTOK_OK:
        c.bad += <size_t>(c.tasks[which].p - buf)
        return status
    for k in range(n_tasks):
        task = c.tasks[k]
        if task.count == 1:
            ctok_listed_gave(v, c.side.at[task.begin])
        remember(c, task.number, task.p, task.n, c.side.at + task.begin, task.count, ctok_cache_many(c.keys[task.number]))
        settle_task(c, &task)
    ctok_cache_repeat(c.found, c.repeats, n_repeats)
    return CTOK_OK


cdef ctok_status encode_block(Context *c, const ctok_vocab *v, const uint8_t *buf, size_t start, size_t n, size_t end) noexcept nogil:
    """Append the ids of the n pretokens of c.stops, the first of which begins at start; buf is readable up to end."""
    cdef size_t i, n_misses = ctok_cache_probe(&c.cache, buf, start, c.stops, n, end, c.keys, c.found, c.misses)
    cdef ctok_status status
    if n_misses:
        status = resolve_misses(c, v, buf, start, n_misses)
        if status != CTOK_OK:
            return status
    if c.counting:
        for i in range(n):
            c.counted += c.found[i].n
        return CTOK_OK
    # At most one id a byte; the last copy may write 3 more.
    if ctok_ids_reserve(&c.ids, c.stops[n - 1] - start + CTOK_CACHE_SHORT_IDS) != CTOK_OK:
        return CTOK_ERR_MEMORY
    c.ids.n += ctok_cache_emit(c.found, n, c.side.at, c.ids.at + c.ids.n)
    return CTOK_OK


cdef ctok_status encode_run(Context *c, const Engine *e, const uint8_t *buf, size_t pos, size_t end, bint at_eof,
                            size_t *stopped) noexcept nogil:
    """Append the ids of buf[pos..end) as far as its pretokens are certain; *stopped is where the open one starts."""
    cdef ctok_block b
    cdef ctok_status status
    while pos < end:
        ctok_split_block(e.splitter, buf, pos, end, at_eof, c.stops, BLOCK, &b)
        if b.n:
            status = encode_block(c, e.vocab, buf, b.first, b.n, end)
            if status != CTOK_OK:
                return status
            settle(c)
        pos = b.next
        if b.hit_end:
            break
    stopped[0] = pos
    return CTOK_OK


cdef ctok_status encode_literal(Context *c, const Engine *e, ctok_id found, size_t start) noexcept nogil:
    if e.targets[found] == CTOK_NO_ID:
        c.bad = start
        c.counted = found
        return CTOK_ERR_STOPPED
    if ctok_ids_push(&c.ids, e.targets[found]) != CTOK_OK:
        return CTOK_ERR_MEMORY
    settle(c)
    return CTOK_OK


cdef ctok_status encode_text(Context *c, const Engine *e, const uint8_t *buf, size_t end, bint at_eof, size_t *done) noexcept nogil:
    """Append the ids of buf[0..end), special tokens included, as far as they are certain; *done is where the open rest starts.

    CTOK_ERR_STOPPED: a forbidden text starts at c.bad; its number is c.counted.
    """
    cdef size_t pos = 0, start = 0, size = 0
    cdef ctok_id found = 0
    cdef ctok_literal_result r
    cdef ctok_status status
    while e.literals != NULL:
        r = ctok_literals_find(e.literals, e.only, buf, pos, end, at_eof, &start, &size, &found)
        if r == CTOK_LITERAL_NONE:
            break
        if r == CTOK_LITERAL_HOLD:
            return encode_run(c, e, buf, pos, start, False, done)
        status = encode_run(c, e, buf, pos, start, True, done)
        if status != CTOK_OK:
            return status
        status = encode_literal(c, e, found, start)
        if status != CTOK_OK:
            return status
        pos = start + size
    done[0] = pos
    return encode_run(c, e, buf, pos, end, at_eof, done) if pos < end else CTOK_OK


cdef bint remembered(Context *c, prefix_fn ask, const void *what, const uint8_t *p, size_t n) noexcept nogil:
    cdef uint64_t key[2]
    cdef uint64_t *slot
    cdef int known = 0
    if c.prefixes == NULL:
        c.prefixes = ctok_prefixmemo_new()
    if n > CTOK_KEY_BYTES or c.prefixes == NULL:
        return ask(what, p, n)
    ctok_key_exact(p, n, key)
    slot = ctok_prefixmemo_slot(c.prefixes, key, &known)
    if not known:
        slot[0] = key[0]
        slot[1] = key[1] | (CTOK_PREFIXMEMO_YES if ask(what, p, n) else 0)
    return slot[1] & CTOK_PREFIXMEMO_YES != 0


cdef bint known_neighbours(Context *c, const ctok_vocab *v, ctok_id left, ctok_id right, ctok_status *status) noexcept nogil:
    cdef uint64_t pair = <uint64_t>1 << 63 | <uint64_t>(left & 0x7FFFFFFF) << 32 | <uint64_t>right << 1
    cdef uint64_t *memo
    cdef bint answer
    status[0] = CTOK_OK
    if c.pairs == NULL:
        c.pairs = <uint64_t *>ctok_mem_zeroed(1 << PAIR_BITS, sizeof(uint64_t))
        if c.pairs == NULL:
            status[0] = CTOK_ERR_MEMORY
            return False
    memo = &c.pairs[ctok_mix(pair) >> (64 - PAIR_BITS)]
    if memo[0] & ~<uint64_t>1 == pair:
        return memo[0] & 1
    answer = bpe_neighbours(v, left, right, &c.merge, status)
    if status[0] == CTOK_OK:
        memo[0] = pair | answer
    return answer


cdef ctok_status encode_utf8(Context *c, const Engine *e, const uint8_t *buf, size_t n) noexcept nogil:
    """Append the ids of a whole UTF-8 text, window by window."""
    cdef size_t pos = 0, end, done = 0, window = WINDOW
    cdef ctok_status status
    while True:
        end = n if n - pos <= window else pos + window
        while end < n and (buf[end] & 0xC0) == 0x80:
            end -= 1
        status = encode_text(c, e, buf + pos, end - pos, end == n, &done)
        if status != CTOK_OK:
            c.bad += pos
            return status
        if end == n:
            return CTOK_OK
        pos += done
        window = WINDOW if done else window * 2


cdef size_t place_before(int kind, const void *src, size_t at, size_t chars) noexcept nogil:
    cdef uint32_t low, high
    while chars and at:
        chars -= 1
        at -= 1
        if kind == 1 or at == 0:
            continue
        low = (<const uint16_t *>src)[at] if kind == 2 else (<const uint32_t *>src)[at]
        high = (<const uint16_t *>src)[at - 1] if kind == 2 else (<const uint32_t *>src)[at - 1]
        if low >> 10 == 0xDC00 >> 10 and high >> 10 == 0xD800 >> 10:
            at -= 1
    return at


cdef ctok_status encode_wide(Context *c, const Engine *e, int kind, const void *src, size_t n, ctok_on_surrogate how) noexcept nogil:
    """The same for a str of 1, 2 or 4 bytes a character; c.bad counts characters."""
    cdef size_t at = 0, filled = 0, written = 0, done = 0
    cdef ctok_status status
    cdef uint8_t *room
    while True:
        if filled + PART // 2 > c.text_cap:
            room = <uint8_t *>ctok_mem_resize(c.text, max(<size_t>PART, 2 * c.text_cap), 1)
            if room == NULL:
                return CTOK_ERR_MEMORY
            c.text = room
            c.text_cap = max(<size_t>PART, 2 * c.text_cap)
        status = ctok_utf8_from(kind, src, n, &at, c.text + filled, c.text_cap - filled, &written, how)
        if status != CTOK_OK:
            c.bad = at
            return status
        filled += written
        status = encode_text(c, e, c.text, filled, at == n, &done)
        if status != CTOK_OK:
            while c.bad and (c.text[c.bad] & 0xC0) == 0x80:
                c.bad -= 1
            c.bad = place_before(kind, src, at, ctok_utf8_count(c.text + c.bad, filled - c.bad))
            return status
        if at == n:
            return CTOK_OK
        filled -= done
        memmove(c.text, c.text + done, filled)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
