"""The open end of a text: which ids are certain while more may come.

Two facts decide (docs/streaming.md has the proof):

* a pretoken is certain when the scanner did not look at the end of the text to find where it stops;
* inside the open pretoken every prefix has one encoding, and that of a longer text passes, token by token, through one of a few *alive*
  prefixes: the whole of what is there, the one place before it where the pretoken may still stop, and each place from which the rest
  is a proper prefix of some token. Encodings of prefixes form a tree (`last_len`, `last_id`), so what lies before the common ancestor
  of the alive prefixes is certain and leaves; the stream then goes on from there as if it were the start.

The tree is built only when it can pay: as long as all of the open pretoken is a proper prefix of one token, its start is alive; and a short
one is merged instead (survivors.pyx).
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from ctok._native.bpe cimport bpe_merge
from ctok._native.c_dfa cimport (
    ctok_dfa, ctok_scan, ctok_scan_begin, ctok_scan_feed, ctok_scan_finish, ctok_scan_may_stop_at_accept)
from ctok._native.c_engine cimport (
    CTOK_LITERAL_FOUND, CTOK_LITERAL_NONE, ctok_literal_result, ctok_literals_find, ctok_rangememo_new, ctok_rangememo_step, ctok_step)
from ctok._native.c_merge cimport ctok_ids_reserve
from ctok._native.c_utf8 cimport ctok_utf8_validate
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_status, ctok_vocab,
    ctok_vocab_find)
from ctok._native.engine cimport Context, Engine, encode_literal, encode_pretoken, encode_run, known_neighbours, settle
from ctok._native.survivors cimport MERGED, Symbols, begins_token, surviving

cdef enum:
    TREE = 1024                 # bytes of a long open pretoken for which a tree is built, where no token is longer
    KEEP = 4096                 # bytes of room that a stream keeps
    SHORT = 64                  # bytes of a short open pretoken


cdef void stream_free(Stream *s) noexcept nogil:
    ctok_mem_free(s.buf)
    ctok_mem_free(s.last_len)
    ctok_mem_free(s.last_id)
    ctok_mem_free(s.walks)
    memset(s, 0, sizeof(Stream))


cdef void forget_tree(Stream *s) noexcept nogil:
    s.known = 0
    s.n_walks = 0


cdef void stream_reset(Stream *s) noexcept nogil:
    s.base = s.scanned = s.n = 0
    s.is_open = False
    s.cut = s.patience = 0
    forget_tree(s)


cdef ctok_status stream_reserve(Stream *s, size_t more) noexcept nogil:
    cdef size_t cap
    cdef uint8_t *buf
    if s.cap - s.n >= more:
        return CTOK_OK
    cap = max(s.n + more, 64)
    if s.cap > KEEP and cap < s.cap + s.cap // 2:           # much is held for long: not a copy for every chunk
        cap = s.cap + s.cap // 2
    buf = <uint8_t *>ctok_mem_resize(s.buf, cap, 1)
    if buf == NULL:
        return CTOK_ERR_MEMORY
    s.buf = buf
    s.cap = cap
    return CTOK_OK


cdef ctok_status stream_copy(Stream *to, const Stream *source) noexcept nogil:
    cdef ctok_status status
    cdef size_t before = to.n
    to.n = 0
    status = stream_reserve(to, source.n - source.base)
    if status != CTOK_OK:
        to.n = before
        return status
    to.n = source.n - source.base
    if to.n:
        memcpy(to.buf, source.buf + source.base, to.n)
    to.base = 0
    to.scanned = source.scanned - source.base
    to.is_open = source.is_open
    to.scan = source.scan
    to.cut = source.cut
    to.patience = source.patience
    forget_tree(to)
    return CTOK_OK


cdef bint scan_fits(const Stream *s, const ctok_dfa *dfa, const uint8_t *p, size_t n) noexcept nogil:
    """stream_fits for an open pretoken: its scanner."""
    cdef const ctok_scan *scan = &s.scan
    cdef size_t accept
    if scan.state % (dfa.n_classes + 1) or scan.state >= dfa.n_states * (dfa.n_classes + 1) or scan.flags or scan.accept > scan.n:
        return False
    if scan.n != s.cut + s.scanned and (scan.n or s.cut or scan.state):
        return False
    if scan.accept and scan.accept >= s.cut:
        accept = <size_t>(scan.accept - s.cut)
        return accept == n or (p[accept] & 0xC0) != 0x80
    # What has left belongs to the pretoken: it cannot stop before.
    return scan.accept == s.cut or not ctok_scan_may_stop_at_accept(dfa, scan)


cdef bint stream_fits(const Stream *s, const Engine *e, const uint8_t *p, size_t n) noexcept nogil:
    cdef size_t lead = 0, bad = 0
    if s.scanned > n or (not s.is_open and (s.cut or s.scanned)):
        return False
    if s.is_open and (e.splitter == NULL or not scan_fits(s, e.splitter.dfa, p, n)):
        return False
    while s.cut and lead < 3 and lead < n and (p[lead] & 0xC0) == 0x80:
        lead += 1
    return ctok_utf8_validate(p + lead, n - lead, &bad) == CTOK_OK and (s.scanned == n or (p[s.scanned] & 0xC0) != 0x80)


# ---- closing pretokens ----

cdef ctok_status close_pretoken(Context *c, const Engine *e, Stream *s, uint64_t length) noexcept nogil:
    """The open pretoken is `length` bytes long: append the rest of its ids. Length 0: nothing matches here, one character is skipped."""
    cdef ctok_status status = CTOK_OK
    cdef size_t rest = <size_t>(length - s.cut) if length > s.cut else 0
    if length == 0 and s.cut == 0:
        rest = 1
        while s.base + rest < s.n and (s.buf[s.base + rest] & 0xC0) == 0x80:
            rest += 1
    elif s.cut == 0:
        status = encode_pretoken(c, e.vocab, s.buf + s.base, rest)
    else:
        status = bpe_merge(e.vocab, s.buf + s.base, rest, &c.merge, &c.ids, &c.bad)
    if status != CTOK_OK:
        c.bad += s.base
        return status
    settle(c)
    s.base += rest
    s.scanned = s.base
    s.is_open = False
    s.cut = s.patience = 0
    forget_tree(s)
    return CTOK_OK


cdef bint feed_scan(const Engine *e, const Stream *s, ctok_scan *scan, size_t *scanned, size_t stop) noexcept nogil:
    """Scan what the scanner has not seen of the open pretoken, up to `stop`. True: its stop is certain, scan.accept."""
    scanned[0] = s.base + <size_t>(s.scan.n - s.cut)
    return ctok_scan_feed(e.splitter.dfa, scan, s.buf, scanned, stop)


cdef ctok_status advance(Context *c, const Engine *e, Stream *s, size_t stop, bint final) noexcept nogil:
    """Scan buf up to `stop` and append the ids of all pretokens that are certain; with `final` the text ends at `stop`."""
    cdef ctok_status status
    cdef size_t done
    if s.is_open and s.scan.n == 0:                         # short: it is scanned again from its start
        s.is_open = False
    while True:
        if s.is_open:
            if feed_scan(e, s, &s.scan, &s.scanned, stop):
                status = close_pretoken(c, e, s, s.scan.accept)
            elif final:
                status = close_pretoken(c, e, s, ctok_scan_finish(e.splitter.dfa, &s.scan))
            else:
                return CTOK_OK
            if status != CTOK_OK:
                return status
        if s.base >= stop:
            return CTOK_OK
        done = s.base
        status = encode_run(c, e, s.buf, s.base, stop, final, &done)
        if status != CTOK_OK:
            return status
        if done != s.base:
            forget_tree(s)
            s.base = s.scanned = done
            s.patience = 0
        if s.base >= stop:
            return CTOK_OK
        ctok_scan_begin(e.splitter.dfa, &s.scan)
        s.is_open = True
        if stop - s.base <= SHORT:
            s.scanned = stop
            return CTOK_OK


cdef void compact(Stream *s) noexcept nogil:
    """Move what is kept to the front; give back the room of an unusually large chunk."""
    cdef uint8_t *buf
    s.n -= s.base
    s.scanned -= s.base
    if s.base:
        memmove(s.buf, s.buf + s.base, s.n)
    s.base = 0
    if s.cap > KEEP and s.n <= KEEP // 4:
        buf = <uint8_t *>ctok_mem_resize(s.buf, KEEP // 4, 1)
        if buf != NULL:
            s.buf = buf
            s.cap = KEEP // 4


cdef ctok_status stream_process(Context *c, const Engine *e, Stream *s, bint final) noexcept nogil:
    cdef ctok_literal_result r = CTOK_LITERAL_NONE
    cdef size_t start = 0, size = 0
    cdef ctok_id found = 0
    cdef ctok_status status
    while True:
        start = s.n
        if e.literals != NULL:
            r = ctok_literals_find(e.literals, e.only, s.buf, s.scanned, s.n, final, &start, &size, &found)
            if r == CTOK_LITERAL_NONE:
                start = s.n
        status = advance(c, e, s, start, final or r == CTOK_LITERAL_FOUND)
        if status != CTOK_OK:
            return status
        if r != CTOK_LITERAL_FOUND:
            break
        status = encode_literal(c, e, found, start)
        if status != CTOK_OK:
            return status
        s.base = s.scanned = start + size
    if final:
        stream_reset(s)
        return CTOK_OK
    compact(s)
    return release_survivors(c, e, s) if s.is_open else CTOK_OK


# ---- inside the open pretoken ----

cdef ctok_status reserve_tree(Stream *s, size_t n) noexcept nogil:
    cdef uint32_t *lens
    cdef ctok_id *ids
    cdef Walk *walks
    if s.room < n:
        n = n * 2
        lens = <uint32_t *>ctok_mem_resize(s.last_len, n, sizeof(uint32_t))
        if lens == NULL:
            return CTOK_ERR_MEMORY
        s.last_len = lens
        ids = <ctok_id *>ctok_mem_resize(s.last_id, n, sizeof(ctok_id))
        if ids == NULL:
            return CTOK_ERR_MEMORY
        s.last_id = ids
        s.room = n
    if s.walk_room < s.n_walks + 1:
        walks = <Walk *>ctok_mem_resize(s.walks, s.n_walks * 2 + 8, sizeof(Walk))
        if walks == NULL:
            return CTOK_ERR_MEMORY
        s.walks = walks
        s.walk_room = s.n_walks * 2 + 8
    return CTOK_OK


cdef inline bint fits(Context *c, const ctok_vocab *v, const Stream *s, ctok_id token, uint32_t start, ctok_status *status) noexcept nogil:
    """May this token follow the encoding of the prefix of `start` bytes?"""
    if start == 0:
        return known_neighbours(c, v, CTOK_NO_ID, token, status)
    return s.last_len[start - 1] != 0 and known_neighbours(c, v, s.last_id[start - 1], token, status)


cdef ctok_status grow_tree(Context *c, const ctok_vocab *v, Stream *s, uint8_t b) noexcept nogil:
    """Add the prefix that is one byte longer: step every walk, and find the token that ends here and fits behind what stands before it."""
    cdef uint32_t at = <uint32_t>s.known, start, alone
    cdef size_t i, kept = 0
    cdef const ctok_step *step
    cdef ctok_id last = CTOK_NO_ID
    cdef ctok_status status = reserve_tree(s, at + 1)
    if status != CTOK_OK:
        return status
    s.last_len[at] = 0
    for i in range(s.n_walks):
        start = s.walks[i].start
        step = ctok_rangememo_step(v, c.steps, s.walks[i].lo, s.walks[i].hi, at - start, b)
        if step.token != CTOK_NO_ID and last == CTOK_NO_ID:
            if fits(c, v, s, step.token, start, &status):
                last = step.token
                s.last_len[at] = at + 1 - start
            if status != CTOK_OK:
                return status
        if step.goes_on:
            s.walks[kept].start = start
            s.walks[kept].lo = step.to_lo
            s.walks[kept].hi = step.to_hi
            kept += 1
    alone = v.byte_id[b] != CTOK_NO_ID
    if last == CTOK_NO_ID and alone and fits(c, v, s, v.byte_id[b], at, &status):
        last = v.byte_id[b]
        s.last_len[at] = 1
    if v.first[b + 1] - v.first[b] > alone:
        s.walks[kept].start = at
        s.walks[kept].lo = v.first[b]
        s.walks[kept].hi = v.first[b + 1]
        kept += 1
    s.last_id[at] = last
    s.n_walks = kept
    s.known += 1
    return status


cdef bint is_unreachable_token(const ctok_vocab *v, const Stream *s, size_t n) noexcept nogil:
    """Would a pretoken of just these n bytes be one token that merging does not give? (A whole pretoken is looked up first.)"""
    return s.cut == 0 and n <= v.longest and s.last_len[n - 1] != n and ctok_vocab_find(v, s.buf + s.base, n) != CTOK_NO_ID


cdef size_t meet(const Stream *s, size_t a, size_t b) noexcept nogil:
    """Where the paths to two prefixes part."""
    while a != b:
        if a > b:
            a -= s.last_len[a - 1]
        else:
            b -= s.last_len[b - 1]
    return a


cdef size_t common_ancestor(const Engine *e, const Stream *s, const ctok_scan *scan, size_t n) noexcept nogil:
    """The longest prefix that the encodings of all alive prefixes pass through; 0 also when nothing is sure."""
    cdef size_t i, start, accept, p = n
    if is_unreachable_token(e.vocab, s, n) or s.last_len[n - 1] == 0:
        return 0
    if ctok_scan_may_stop_at_accept(e.splitter.dfa, scan):
        if scan.accept <= s.cut:                        # at the start, or it may turn out to match nothing
            return 0
        accept = <size_t>(scan.accept - s.cut)
        if is_unreachable_token(e.vocab, s, accept) or s.last_len[accept - 1] == 0:
            return 0
        p = meet(s, p, accept)
    for i in range(s.n_walks):
        start = s.walks[i].start
        # No text can pass through a prefix that has no encoding.
        if start == 0 or s.last_len[start - 1] != 0:
            p = meet(s, p, start)
            if p == 0:
                return 0
    return p


cdef void drop_front(Stream *s, size_t n) noexcept nogil:
    """The first n bytes of the open pretoken have left; the tree goes on from there."""
    cdef size_t i, kept = 0
    s.base += n
    s.cut += n
    s.known -= n
    memmove(s.last_len, s.last_len + n, s.known * sizeof(uint32_t))
    memmove(s.last_id, s.last_id + n, s.known * sizeof(ctok_id))
    for i in range(s.n_walks):
        if s.walks[i].start >= n:                       # a walk from before starts where no encoding passes
            s.walks[kept] = s.walks[i]
            s.walks[kept].start -= <uint32_t>n
            kept += 1
    s.n_walks = kept


cdef ctok_status release_tree(Context *c, const Engine *e, Stream *s, size_t *released) noexcept nogil:
    """Bring the tree up to date, append the ids that all alive prefixes share, and drop their bytes."""
    cdef size_t n = s.scanned - s.base, p, k = 0
    cdef ctok_scan scan = s.scan
    cdef ctok_status status
    released[0] = 0
    if feed_scan(e, s, &scan, &p, s.scanned):
        return CTOK_OK
    while s.known < n:
        status = grow_tree(c, e.vocab, s, s.buf[s.base + s.known])
        if status != CTOK_OK:
            return status
    released[0] = p = common_ancestor(e, s, &scan, n)
    while p:
        p -= s.last_len[p - 1]
        k += 1
    status = ctok_ids_reserve(&c.ids, k)
    if status != CTOK_OK:
        return status
    c.ids.n += k
    k = c.ids.n
    p = released[0]
    while p:
        k -= 1
        c.ids.at[k] = s.last_id[p - 1]
        p -= s.last_len[p - 1]
    if released[0]:
        drop_front(s, released[0])
        s.scan = scan
    return CTOK_OK


cdef ctok_status jump(Context *c, const Engine *e, Stream *s, size_t tree, size_t *released) noexcept nogil:
    """Leave most of a very long open pretoken behind without a tree for all of it.

    Encode what is there, take a token border `tree` bytes or more before the end, and build the tree from that border only. No token is
    longer than that, so no prefix before the border is alive. When all alive ones share their first token, the encodings from the start
    and from the border share it too, and stitch together (bpe.pyx).
    """
    cdef size_t n = s.scanned, before = c.ids.n, k = before, border = 0
    cdef uint32_t size
    cdef ctok_status status = bpe_merge(e.vocab, s.buf, n, &c.merge, &c.ids, &c.bad)
    released[0] = 0
    if status == CTOK_OK:
        while True:
            size = e.vocab.by_id[c.ids.at[k]].len
            if border + size > n - tree:
                break
            border += size
            k += 1
    c.ids.n = k
    if status != CTOK_OK or border == 0:
        c.ids.n = before
        s.patience = 2 * n
        return CTOK_ERR_MEMORY if status == CTOK_ERR_MEMORY else CTOK_OK
    forget_tree(s)
    s.base = border
    s.cut += border
    status = release_tree(c, e, s, released)
    if status == CTOK_OK and released[0] == 0:
        c.ids.n = before
        forget_tree(s)
        s.base = 0
        s.cut -= border
    if released[0] == 0:
        s.patience = 2 * n                                  # trying again at each chunk would cost the square of the length
    return status


cdef bint is_unreachable(Context *c, const Engine *e, const Stream *s, size_t n, ctok_status *status) noexcept nogil:
    """is_unreachable_token without a tree."""
    cdef ctok_id whole
    status[0] = CTOK_OK
    if s.cut or n > e.vocab.longest:
        return False
    whole = ctok_vocab_find(e.vocab, s.buf, n)
    return whole != CTOK_NO_ID and not known_neighbours(c, e.vocab, CTOK_NO_ID, whole, status)


cdef ctok_status release_merged(Context *c, const Engine *e, Stream *s, size_t *released) noexcept nogil:
    """release_tree for a short open pretoken, without a tree."""
    cdef size_t n = s.scanned, p = 0, k = 0, accept = 0
    cdef ctok_scan scan = s.scan
    cdef Symbols symbols
    cdef ctok_status status = CTOK_OK
    released[0] = 0
    forget_tree(s)
    if feed_scan(e, s, &scan, &p, n):
        return CTOK_OK
    if ctok_scan_may_stop_at_accept(e.splitter.dfa, &scan):
        if scan.accept <= s.cut:                            # at the start, or it may turn out to match nothing
            return CTOK_OK
        accept = <size_t>(scan.accept - s.cut)
        if is_unreachable(c, e, s, accept, &status):
            return status
    if status == CTOK_OK:
        status = surviving(c, e.vocab, s.buf, n, accept, &symbols, &k)
    if status == CTOK_OK:
        status = ctok_ids_reserve(&c.ids, k)
    if status != CTOK_OK or k == 0 or (symbols.n > 1 and s.cut == 0 and ctok_vocab_find(e.vocab, s.buf, n) != CTOK_NO_ID):
        return status                                       # with the last of these it may be one token that merging does not give
    memcpy(c.ids.at + c.ids.n, symbols.ids, k * sizeof(ctok_id))
    c.ids.n += k
    released[0] = symbols.stops[k - 1]
    s.base += released[0]
    s.cut += released[0]
    s.scan = scan
    return CTOK_OK


cdef ctok_status release_survivors(Context *c, const Engine *e, Stream *s) noexcept nogil:
    cdef size_t released = 0, tree = e.vocab.longest
    cdef ctok_status status = CTOK_OK
    cdef bint is_short = s.scanned <= MERGED and e.vocab.joins.slots != NULL
    if s.scanned == 0 or ((is_short or s.known == 0) and begins_token(c, e.vocab, s.buf, s.scanned, &status)) or status != CTOK_OK:
        return status
    if c.steps == NULL and not is_short:
        c.steps = ctok_rangememo_new()
        if c.steps == NULL:
            return CTOK_ERR_MEMORY
    if tree < TREE:
        tree = TREE
    if is_short:
        status = release_merged(c, e, s, &released)
    elif s.scanned > 2 * tree and s.scanned >= s.patience:
        status = jump(c, e, s, tree, &released)
    if status == CTOK_OK and released == 0 and not is_short:
        status = release_tree(c, e, s, &released)
    if released:
        s.patience = 0
    if status == CTOK_OK and s.base:
        compact(s)
        settle(c)
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
