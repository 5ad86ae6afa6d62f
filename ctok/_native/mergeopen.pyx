"""A pretoken that arrives, encoded by a list of merges: which ids are certain.

What bpe.pyx says of its windows holds for any text of symbols and any list: the encoding of a prefix that ends where a token ends is the
encoding's prefix, and tokens form an encoding when each two neighbours do. So every prefix has one last token, encodings form a tree
(`last_len`, `last_id`), and that of a longer text passes through one of a few *alive* prefixes: all of what is there, and each place from
which the rest is a proper prefix of some token. What lies before their common ancestor is certain and leaves; the rest goes on as if it
were the start (docs/streaming.md).

Characters that are no tokens stand outside: whatever they give joins with nothing, so what is before them is certain. Those that
give nothing at all are as if they were not there.

All this needs symbols that do not depend on where the pretoken ends, and unknown ones that no merge names. Models that are otherwise
(`Merges.streams`: a prefix or suffix, dropout, merges that add nothing, merges of unknown tokens) hold the pretoken until it ends. With
`ignore_merges` it is held as long as all of it may be one token.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memmove, memset

from ctok._native.c_merge cimport ctok_ids, ctok_ids_free, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_mergelist cimport ctok_pair_answer, ctok_pair_remember
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_append, ctok_bytes_free, ctok_bytes_reserve
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize,
    ctok_mem_zeroed, ctok_range_goes_on, ctok_range_root, ctok_range_step, ctok_range_token, ctok_status,
    ctok_vocab_begins, ctok_vocab_find)
from ctok._native.mergelist cimport (
    AFFIXES, UNKNOWN_DROPPED, UNKNOWN_TOKEN, ListScratch, Merges, Sink, char_size, list_scratch_free, list_scratch_new, list_scratch_trim,
    merges_encode, merges_merge, plain_unit, put_unknown)

cdef enum:
    TREE = 1024                 # bytes of long text for which a tree is built, where no token is longer
    KEEP = 4096                 # bytes of room that a pretoken keeps
    WAITING = 1                 # flags of a saved state; the bytes of an unfinished character are counted above them
    RAW = 2


# ---- the state ----

cdef void forget_tree(MergesOpen *o) noexcept nogil:
    o.known = 0
    o.n_walks = 0


cdef void reset(MergesOpen *o) noexcept nogil:
    o.text.n = o.base = o.patience = o.retry = 0
    o.n_part = 0
    o.waiting = False
    o.raw = not o.model.streams or o.model.ignore_merges
    o.range = ctok_range_root(o.model.vocab)
    forget_tree(o)


cdef void *merges_open_new(const void *model) noexcept nogil:
    cdef MergesOpen *o = <MergesOpen *>ctok_mem_zeroed(1, sizeof(MergesOpen))
    if o == NULL:
        return NULL
    o.model = <const Merges *>model
    o.scratch = <ListScratch *>list_scratch_new(model)
    if o.scratch == NULL:
        ctok_mem_free(o)
        return NULL
    reset(o)
    return o


cdef void merges_open_free(void *state) noexcept nogil:
    cdef MergesOpen *o = <MergesOpen *>state
    if o != NULL:
        list_scratch_free(o.scratch)
        ctok_bytes_free(&o.text)
        ctok_ids_free(&o.work)
        ctok_mem_free(o.last_len)
        ctok_mem_free(o.last_id)
        ctok_mem_free(o.walks)
        ctok_mem_free(o)


cdef void *merges_open_copy(const void *state) noexcept nogil:
    cdef const MergesOpen *o = <const MergesOpen *>state
    cdef MergesOpen *other = <MergesOpen *>merges_open_new(o.model)
    cdef size_t n = o.text.n - o.base
    if other == NULL:
        return NULL
    if (n and ctok_bytes_append(&other.text, o.text.at + o.base, n) != CTOK_OK) or copy_tree(other, o) != CTOK_OK:
        merges_open_free(other)
        return NULL
    other.raw = o.raw
    other.range = o.range
    memcpy(other.part, o.part, sizeof(o.part))
    other.n_part = o.n_part
    other.waiting = o.waiting
    other.patience = o.patience
    other.retry = o.retry
    return other


cdef ctok_status merges_open_save(const void *state, ctok_bytes *out) noexcept nogil:
    """A byte of flags, the unfinished character, the text."""
    cdef const MergesOpen *o = <const MergesOpen *>state
    cdef uint8_t flags = <uint8_t>((WAITING if o.waiting else 0) | (RAW if o.raw else 0) | o.n_part << 2)
    if ctok_bytes_reserve(out, 1 + o.n_part + o.text.n - o.base) != CTOK_OK:
        return CTOK_ERR_MEMORY
    ctok_bytes_append(out, &flags, 1)
    ctok_bytes_append(out, o.part, o.n_part)
    return ctok_bytes_append(out, o.text.at + o.base, o.text.n - o.base) if o.text.n > o.base else CTOK_OK


cdef bint is_text(const Merges *m, const uint8_t *p, size_t n) noexcept nogil:
    """Are all characters whole, and tokens?"""
    cdef size_t i = 0, size = 1
    while i < n:
        if not m.byte_level:
            size = char_size(p[i])
        if size > n - i or plain_unit(m, p + i, size) == CTOK_NO_ID:
            return False
        i += size
    return True


cdef bint load_raw(MergesOpen *o, const uint8_t *p, size_t n) noexcept nogil:
    cdef size_t i
    if o.waiting or o.n_part or not (not o.model.streams or o.model.ignore_merges):
        return False
    for i in range(n if o.model.streams else 0):
        o.range = ctok_range_step(o.model.vocab, o.range, p[i])
    return o.range.lo < o.range.hi or n == 0 or not o.model.streams


cdef ctok_status merges_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil:
    cdef MergesOpen *o = <MergesOpen *>state
    cdef const Merges *m = o.model
    cdef bint good
    reset(o)
    if n == 0:
        return CTOK_OK
    o.waiting = p[0] & WAITING
    o.raw = (p[0] & RAW) != 0
    o.n_part = p[0] >> 2
    good = o.n_part <= 3 and o.n_part < n
    if good:
        memcpy(o.part, p + 1, o.n_part)
        p += 1 + o.n_part
        n -= 1 + o.n_part
        if o.raw:
            good = load_raw(o, p, n)
        else:
            good = m.streams and (not o.n_part or (not m.byte_level and char_size(o.part[0]) > o.n_part)) and is_text(m, p, n)
            good = good and not (o.waiting and (n or m.unknown != UNKNOWN_TOKEN))
    if good and (n == 0 or ctok_bytes_append(&o.text, p, n) == CTOK_OK):
        return CTOK_OK
    reset(o)
    return CTOK_ERR_MEMORY if good else CTOK_ERR_FORMAT


cdef bint merges_open_waits(const void *model, const uint8_t *p, size_t n) noexcept nogil:
    cdef const Merges *m = <const Merges *>model
    if not m.streams:
        return True
    if n > m.vocab.longest:
        return False
    if m.ignore_merges and ctok_vocab_find(m.vocab, p, n) != CTOK_NO_ID:
        return True
    return ctok_vocab_begins(m.vocab, p, n) and (m.ignore_merges or is_text(m, p, n))


# ---- the tree ----

cdef ctok_status reserve_tree(MergesOpen *o, size_t n) noexcept nogil:
    cdef uint32_t *lens
    cdef ctok_id *ids
    cdef OpenWalk *walks
    if o.room < n:
        n = n * 2
        lens = <uint32_t *>ctok_mem_resize(o.last_len, n, sizeof(uint32_t))
        o.last_len = o.last_len if lens == NULL else lens
        ids = <ctok_id *>ctok_mem_resize(o.last_id, n, sizeof(ctok_id))
        o.last_id = o.last_id if ids == NULL else ids
        if lens == NULL or ids == NULL:
            return CTOK_ERR_MEMORY
        o.room = n
    if o.walk_room < o.n_walks + 1:
        walks = <OpenWalk *>ctok_mem_resize(o.walks, o.n_walks * 2 + 8, sizeof(OpenWalk))
        if walks == NULL:
            return CTOK_ERR_MEMORY
        o.walks = walks
        o.walk_room = o.n_walks * 2 + 8
    return CTOK_OK


cdef ctok_status copy_tree(MergesOpen *to, const MergesOpen *source) noexcept nogil:
    if source.known == 0:
        return CTOK_OK
    to.n_walks = source.n_walks
    if reserve_tree(to, source.known) != CTOK_OK:
        return CTOK_ERR_MEMORY
    to.known = source.known
    memcpy(to.last_len, source.last_len, source.known * sizeof(uint32_t))
    memcpy(to.last_id, source.last_id, source.known * sizeof(ctok_id))
    memcpy(to.walks, source.walks, source.n_walks * sizeof(OpenWalk))
    return CTOK_OK


cdef bint are_neighbours(MergesOpen *o, ctok_id left, ctok_id right, const uint8_t *border, size_t size,
                         ctok_status *status) noexcept nogil:
    """Are these tokens the encoding of their text? left CTOK_NO_ID: is the right one? `size` bytes of the right one stand at `border`."""
    cdef const Merges *m = o.model
    cdef int answer = ctok_pair_answer(m.neighbours, left, right)
    cdef size_t before = 0
    if answer >= 0:
        return answer
    if left != CTOK_NO_ID:
        before = m.vocab.by_id[left].len
    o.work.n = 0
    status[0] = merges_merge(m, o.scratch, border - before, before + size, &o.work, NULL)
    if status[0] != CTOK_OK:
        return False
    if left == CTOK_NO_ID:
        answer = o.work.n == 1 and o.work.at[0] == right
    else:
        answer = o.work.n == 2 and o.work.at[0] == left and o.work.at[1] == right
    ctok_pair_remember(m.neighbours, left, right, answer)
    return answer


cdef ctok_status grow_tree(MergesOpen *o, size_t size) noexcept nogil:
    """Add the prefix that is one character longer: step every walk, and find the token that ends here and fits behind what is before it."""
    cdef size_t i, k, kept = 0, at = o.known, last = o.known + size - 1
    cdef const uint8_t *text = o.text.at + o.base
    cdef OpenWalk w
    cdef ctok_id found
    cdef ctok_status status = reserve_tree(o, at + size)
    if status != CTOK_OK:
        return status
    o.walks[o.n_walks].start = <uint32_t>at
    o.walks[o.n_walks].range = ctok_range_root(o.model.vocab)
    memset(o.last_len + at, 0, size * sizeof(uint32_t))
    for i in range(o.n_walks + 1):
        w = o.walks[i]
        for k in range(size):
            w.range = ctok_range_step(o.model.vocab, w.range, text[at + k])
        if w.range.lo == w.range.hi:
            continue
        found = ctok_range_token(o.model.vocab, w.range)
        if found != CTOK_NO_ID and o.last_len[last] == 0:
            if are_neighbours(o, o.last_id[w.start - 1] if w.start else CTOK_NO_ID, found, text + w.start, w.range.depth, &status):
                o.last_len[last] = w.range.depth
                o.last_id[last] = found
            if status != CTOK_OK:
                return status
        if ctok_range_goes_on(o.model.vocab, w.range):
            o.walks[kept] = w
            kept += 1
    o.n_walks = kept
    o.known += size
    return CTOK_OK


cdef size_t meet(const MergesOpen *o, size_t a, size_t b) noexcept nogil:
    """Where the paths to two prefixes part."""
    while a != b:
        if a > b:
            a -= o.last_len[a - 1]
        else:
            b -= o.last_len[b - 1]
    return a


cdef size_t common_ancestor(const MergesOpen *o) noexcept nogil:
    cdef size_t i, p = o.known
    for i in range(o.n_walks):
        if p:
            p = meet(o, p, o.walks[i].start)
    return p


cdef void drop_front(MergesOpen *o, size_t n) noexcept nogil:
    """The first n bytes of the text have left; the tree goes on from there."""
    cdef size_t i
    o.base += n
    o.known -= n
    memmove(o.last_len, o.last_len + n, o.known * sizeof(uint32_t))
    memmove(o.last_id, o.last_id + n, o.known * sizeof(ctok_id))
    for i in range(o.n_walks):
        o.walks[i].start -= <uint32_t>n


cdef ctok_status release_tree(MergesOpen *o, ctok_ids *ids, size_t *released) noexcept nogil:
    """Bring the tree up to date, append the ids that all alive prefixes share, and drop their bytes."""
    cdef size_t n = o.text.n - o.base, p, k = 0, size = 1
    cdef ctok_status status
    released[0] = 0
    while o.known < n:
        if not o.model.byte_level:
            size = char_size(o.text.at[o.base + o.known])
        status = grow_tree(o, size)
        if status != CTOK_OK:
            return status
    released[0] = p = common_ancestor(o)
    while p:
        p -= o.last_len[p - 1]
        k += 1
    if ctok_ids_reserve(ids, k) != CTOK_OK:
        return CTOK_ERR_MEMORY
    ids.n += k
    k = ids.n
    p = released[0]
    while p:
        k -= 1
        ids.at[k] = o.last_id[p - 1]
        p -= o.last_len[p - 1]
    if released[0]:
        drop_front(o, released[0])
    return CTOK_OK


cdef ctok_status jump(MergesOpen *o, size_t tree, ctok_ids *ids, size_t *released) noexcept nogil:
    """Leave most of a very long text behind without a tree for all of it (as in stream.pyx).

    Encode what is there, take a token border `tree` bytes or more before the end, and build the tree from that border only. No token is
    longer than that, so no prefix before the border is alive. When all alive ones share their first token, the encodings from the start
    and from the border share it too, and stitch together.
    """
    cdef size_t base = o.base, n = o.text.n - o.base, before = ids.n, k = before, border = 0
    cdef uint32_t size
    cdef ctok_status status = merges_merge(o.model, o.scratch, o.text.at + base, n, ids, NULL)
    released[0] = 0
    if status != CTOK_OK:
        return status
    while True:
        size = o.model.vocab.by_id[ids.at[k]].len
        if border + size > n - tree:
            break
        border += size
        k += 1
    ids.n = k
    if border:
        forget_tree(o)
        o.base += border
        status = release_tree(o, ids, released)
    if status == CTOK_OK and released[0] == 0:
        ids.n = before
        forget_tree(o)
        o.base = base
        o.patience = 2 * n                                  # trying again at each chunk would cost the square of the length
    return status


cdef void compact(MergesOpen *o) noexcept nogil:
    """Move what is held to the front; give back the room of an unusually large chunk."""
    o.text.n -= o.base
    if o.base and o.text.n:
        memmove(o.text.at, o.text.at + o.base, o.text.n)
    o.base = 0
    if o.text.cap > KEEP and o.text.n == 0:
        ctok_bytes_free(&o.text)
    if o.scratch.symbols.cap > KEEP:
        list_scratch_trim(o.scratch)


cdef ctok_status release(MergesOpen *o, ctok_ids *ids) noexcept nogil:
    cdef size_t released = 0, tree = max(<size_t>TREE, <size_t>o.model.vocab.longest), n = o.text.n - o.base
    cdef ctok_status status = CTOK_OK
    if o.known == 0 and 0 < n < o.model.vocab.longest and ctok_vocab_begins(o.model.vocab, o.text.at + o.base, n):
        compact(o)                                          # all of it may still be one token
        return CTOK_OK
    if n > 2 * tree and n >= o.patience:
        status = jump(o, tree, ids, &released)
    if status == CTOK_OK and released == 0 and n >= o.retry:
        status = release_tree(o, ids, &released)
    if released:
        o.patience = o.retry = 0
    elif n > 2 * tree:                                      # alive prefixes whose paths part so early take long to compare
        o.retry = n + n // 32
    compact(o)
    return status


# ---- characters ----

cdef ctok_status close_text(MergesOpen *o, ctok_ids *ids) noexcept nogil:
    """What is held ends here: nothing joins with what follows."""
    cdef ctok_status status = CTOK_OK
    if o.text.n > o.base:
        status = merges_merge(o.model, o.scratch, o.text.at + o.base, o.text.n - o.base, ids, NULL)
    o.text.n = o.base = o.patience = o.retry = 0
    forget_tree(o)
    return status


cdef ctok_status take_unknown(MergesOpen *o, const uint8_t *p, size_t size, ctok_ids *ids) noexcept nogil:
    cdef Sink k
    cdef ctok_id out[AFFIXES + 8]
    cdef size_t i
    cdef ctok_status status
    memset(&k, 0, sizeof(k))
    k.ids = out
    k.waiting = o.waiting
    status = put_unknown(o.model, &k, p, size, 0)
    o.waiting = k.waiting
    for i in range(k.n):
        if status == CTOK_OK:
            status = ctok_ids_push(ids, out[i])
    return status


cdef bint gives_nothing(const Merges *m, const uint8_t *p, size_t size) noexcept nogil:
    """Is an unknown character left out? Where there are byte tokens this asks for the answer itself."""
    cdef Sink k
    cdef ctok_id out[AFFIXES + 8]
    if m.unknown != UNKNOWN_DROPPED:
        return False
    memset(&k, 0, sizeof(k))
    k.ids = out
    put_unknown(m, &k, p, size, 0)
    return k.n == 0


cdef ctok_status take_one(MergesOpen *o, const uint8_t *p, size_t size, ctok_ids *ids) noexcept nogil:
    cdef ctok_status status = CTOK_OK
    if plain_unit(o.model, p, size) != CTOK_NO_ID:
        if o.waiting:
            o.waiting = False
            status = ctok_ids_push(ids, o.model.unk)
        return ctok_bytes_append(&o.text, p, size) if status == CTOK_OK else status
    if gives_nothing(o.model, p, size):
        return CTOK_OK
    status = close_text(o, ids)
    return take_unknown(o, p, size, ids) if status == CTOK_OK else status


cdef ctok_status take_all(MergesOpen *o, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    """Take characters; the last one may be unfinished, and the first one go on with what is in `part`."""
    cdef size_t i = 0, size = 1
    cdef ctok_status status = CTOK_OK
    while i < n and status == CTOK_OK:
        if o.n_part or not o.model.byte_level:
            size = char_size(o.part[0] if o.n_part else p[i])
        if o.n_part or size > n - i:
            o.part[o.n_part] = p[i]
            o.n_part += 1
            i += 1
            if o.n_part == size:
                o.n_part = 0
                status = take_one(o, o.part, size, ids)
        else:
            status = take_one(o, p + i, size, ids)
            i += size
    return status


cdef ctok_status merges_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef MergesOpen *o = <MergesOpen *>state
    cdef size_t i
    cdef ctok_bytes held
    cdef ctok_status status
    if n == 0:
        return CTOK_OK
    if o.raw:
        if ctok_bytes_append(&o.text, p, n) != CTOK_OK:
            return CTOK_ERR_MEMORY
        if not o.model.streams:
            return CTOK_OK
        for i in range(n):
            o.range = ctok_range_step(o.model.vocab, o.range, p[i])
            if o.range.lo == o.range.hi:
                break
        if o.range.lo < o.range.hi:
            return CTOK_OK
        o.raw = False
        held = o.text
        memset(&o.text, 0, sizeof(o.text))
        status = take_all(o, held.at, held.n, ids)
        ctok_bytes_free(&held)
    else:
        status = take_all(o, p, n, ids)
    return release(o, ids) if status == CTOK_OK else status


cdef ctok_status finish(MergesOpen *o, ctok_ids *ids) noexcept nogil:
    cdef uint32_t size = o.n_part
    cdef ctok_status status = CTOK_OK
    if o.raw:
        return merges_encode(o.model, o.scratch, o.text.at, o.text.n, ids, NULL)
    o.n_part = 0
    if size:
        status = take_one(o, o.part, size, ids)             # not UTF-8: an unknown character, as far as it goes
    if status == CTOK_OK:
        status = close_text(o, ids)
    if status == CTOK_OK and o.waiting:
        status = ctok_ids_push(ids, o.model.unk)
    return status


cdef ctok_status merges_open_end(void *state, ctok_ids *ids) noexcept nogil:
    cdef ctok_status status = finish(<MergesOpen *>state, ids)
    reset(<MergesOpen *>state)
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
