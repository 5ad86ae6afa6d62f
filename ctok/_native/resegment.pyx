"""What SentencePiece does around merging: user-defined pieces are cut out of the text before, and what is no id is taken apart behind.

Of the user-defined pieces that begin at a place the longest is taken, from left to right; what lies between two of them is merged by
itself.

Merging works with symbols. Two kinds of them are no ids: pieces that are out of use (unused), and characters that are only part of pieces.
An unused piece is taken apart into the two symbols that it was joined from, and so on. The reference notes these two whenever a pair that
gives the piece comes in sight, anywhere in the text; it always notes the same. For as long as two symbols stand side by side that spell
the piece, nothing from outside has joined with a part of it, so all that happened between its ends is what happens when the piece is merged
alone; and there two symbols are left just once. So each symbol has its parts for good, worked out beforehand.
A single character that is no id is unknown: its bytes, or with all unknown ones beside it the unknown token.
"""

cimport cython
from libc.stdint cimport UINT32_MAX, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ctok._native.c_bytes cimport (
    ctok_bytes, ctok_bytes_append, ctok_bytes_drop, ctok_bytes_free, ctok_bytes_push, ctok_bytes_reserve, ctok_bytes_set)
from ctok._native.c_merge cimport ctok_ids, ctok_ids_free, ctok_ids_push
from ctok._native.c_model cimport ctok_le32_get, ctok_le32_put
from ctok._native.c_trie cimport (
    CTOK_TRIE_ROOT, ctok_trie_free, ctok_trie_goes_on, ctok_trie_init, ctok_trie_piece, ctok_trie_step, ctok_trie_unit)
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed,
    ctok_status, ctok_token, ctok_vocab, ctok_vocab_find)
from ctok._native.mergelist cimport ListScratch, Merges, char_size, list_scratch_free, list_scratch_new, merges_encode, merges_last
from ctok._native.mergeopen cimport (
    merges_open_copy, merges_open_end, merges_open_feed, merges_open_free, merges_open_load, merges_open_new, merges_open_save)
from ctok._native.model cimport Model, Table, table_failed
from ctok._native.piecebpe cimport NORMAL, UNUSED, USER_DEFINED, PieceBPE, draw

cdef enum:
    KEEP = 4096                 # bytes of room that a text on its way keeps


@cython.no_gc_clear     # what it points into is freed after it
cdef class Resegment(Model):
    """A `PieceBPE` and what stands around it.

    Parameters
    ----------
    inner
        The model that merges.

    Notes
    -----
    Cost: about 1 microsecond for each unused piece. Immutable: any number of threads may use it.
    """

    def __cinit__(self, PieceBPE inner not None):
        self.inner = inner
        self.unk_id = inner.unk_id
        self.m.merges = &inner.m
        self.m.unk = inner.m.unk
        self._set_frozen()
        self._set_parts()
        self.model = &self.m
        set_resegment(self)

    def __dealloc__(self):
        if self.m.has_frozen:
            ctok_trie_free(&self.m.frozen)
        ctok_mem_free(self.m.frozen_id)
        ctok_mem_free(self.m.parts)
        ctok_ids_free(&self.m.part)

    @property
    def streams(self):
        """Whether ids of an open pretoken can leave before it ends."""
        return True

    def safe_cut(self):
        """As that of the model that merges."""
        return self.inner.safe_cut()

    def sample(self, pretoken, alpha, nbest_size=None, seed=None):
        """As that of the model that merges."""
        return draw(self.inner, self, pretoken, alpha, seed)

    cdef _set_frozen(self):
        cdef Table t = self.inner.table
        cdef uint32_t k, begin = 0, n = 0, at = 0, bad = 0
        cdef ctok_status status
        cdef uint8_t[::1] data = bytearray(t.ends[t.n - 1] + 1 if t.n else 1)
        cdef uint32_t[::1] ends = memoryview(bytearray(4 * t.n + 4)).cast("I")
        self.m.frozen_id = <ctok_id *>ctok_mem_alloc(<size_t>t.n + 1, sizeof(ctok_id))
        if self.m.frozen_id == NULL:
            raise MemoryError("no memory for the model")
        self.m.frozen_id[0] = CTOK_NO_ID
        for k in range(t.n):
            if self.inner.types[t.ids[k]] == USER_DEFINED and t.ends[k] > begin:
                memcpy(&data[at], t.data + begin, t.ends[k] - begin)
                self.m.begins[data[at]] = True
                at += t.ends[k] - begin
                ends[n] = at
                n += 1
                self.m.frozen_id[n] = t.ids[k]
            begin = t.ends[k]
        status = ctok_trie_init(&self.m.frozen, &data[0], &ends[0], n, NULL, 0, NULL, &bad)
        if status != CTOK_OK:
            raise table_failed(status, bad)
        self.m.has_frozen = True

    cdef _set_parts(self):
        """Work out what each symbol is taken apart into."""
        cdef const Merges *m = self.m.merges
        cdef ListScratch *s = <ListScratch *>list_scratch_new(m)
        cdef ctok_status status = CTOK_OK if s != NULL else CTOK_ERR_MEMORY
        self.m.n_symbols = m.vocab.n_ids
        self.m.parts = <uint32_t *>ctok_mem_zeroed(<size_t>self.m.n_symbols + 1, sizeof(uint32_t))
        if status == CTOK_OK and self.m.parts != NULL:
            status = take_apart_all(m, s, &self.inner.types[0] if self.inner.types.shape[0] else NULL, <uint32_t>self.inner.types.shape[0],
                                    self.m.parts, &self.m.part)
        list_scratch_free(s)
        if status != CTOK_OK or self.m.parts == NULL:
            raise MemoryError("no memory for the model")


cdef ctok_status take_apart(const Merges *m, ListScratch *s, const uint8_t *types, uint32_t n_pieces, const uint8_t *p, size_t n,
                            ctok_ids *todo, ctok_ids *parts) noexcept nogil:
    """Append the parts of the symbol p[0..n). `todo` is scratch: where the ends of what is still to be taken apart stand."""
    cdef size_t at = 0, stop, place = 0
    cdef ctok_id symbol
    cdef ctok_status status
    todo.n = 0
    status = ctok_ids_push(todo, <ctok_id>n)
    while todo.n and status == CTOK_OK:
        stop = todo.at[todo.n - 1]
        symbol = ctok_vocab_find(m.vocab, p + at, stop - at)
        if symbol < n_pieces and types[symbol] == UNUSED:
            status = merges_last(m, s, p + at, stop - at, &place)
            if status == CTOK_OK and place:
                status = ctok_ids_push(todo, <ctok_id>(at + place))
                continue
        if status == CTOK_OK:
            status = ctok_ids_push(parts, symbol if symbol < n_pieces and types[symbol] == NORMAL else symbol | UNKNOWN_PART)
        todo.n -= 1
        at = stop
    return status


cdef ctok_status take_apart_all(const Merges *m, ListScratch *s, const uint8_t *types, uint32_t n_pieces, uint32_t *begins,
                                ctok_ids *parts) noexcept nogil:
    cdef uint32_t i
    cdef ctok_token t
    cdef ctok_ids todo
    cdef ctok_status status = CTOK_OK
    memset(&todo, 0, sizeof(todo))
    for i in range(m.vocab.n_ids):
        t = m.vocab.by_id[i]
        begins[i] = <uint32_t>parts.n
        if t.len and status == CTOK_OK:
            status = take_apart(m, s, types, n_pieces, m.vocab.bytes + t.begin, t.len, &todo, parts)
        if parts.n > UINT32_MAX // 2:
            status = CTOK_ERR_MEMORY
    begins[m.vocab.n_ids] = <uint32_t>parts.n
    ctok_ids_free(&todo)
    return status


# ---- symbols to ids ----

cdef inline ctok_status give(Outlet *o, ctok_id id) noexcept nogil:
    if ctok_ids_push(o.ids, id) != CTOK_OK:
        return CTOK_ERR_MEMORY
    return ctok_ids_push(o.ends, o.at) if o.ends != NULL else CTOK_OK


cdef ctok_status give_known(Outlet *o, ctok_id id) noexcept nogil:
    o.unknown = False
    return give(o, id)


cdef ctok_status give_unknown(const Resegmenting *r, Outlet *o, const uint8_t *p, size_t n) noexcept nogil:
    """An unknown character, whose bytes are counted already."""
    cdef size_t i
    cdef ctok_status status = CTOK_OK
    if r.merges.byte_fallback:
        for i in range(n):
            if status == CTOK_OK:
                status = give_known(o, r.merges.byte_token[p[i]])
        return status
    if not o.unknown:
        o.unknown = True
        return give(o, r.unk)
    if o.ends != NULL and o.ends.n:
        o.ends.at[o.ends.n - 1] = o.at
    return CTOK_OK


cdef ctok_status give_symbol(const Resegmenting *r, Outlet *o, ctok_id symbol) noexcept nogil:
    cdef const ctok_vocab *v = r.merges.vocab
    cdef uint32_t i
    cdef ctok_id part
    cdef ctok_token t
    cdef ctok_status status = CTOK_OK
    for i in range(r.parts[symbol], r.parts[symbol + 1]):
        part = r.part.at[i]
        t = v.by_id[part & ~<ctok_id>UNKNOWN_PART]
        o.at += t.len
        if status == CTOK_OK:
            status = give_unknown(r, o, v.bytes + t.begin, t.len) if part & UNKNOWN_PART else give_known(o, part)
    return status


cdef ctok_status give_all(const Resegmenting *r, Outlet *o, const ctok_id *ids, const ctok_id *ends, size_t n) noexcept nogil:
    """Append what the result of merging gives. `ends` (relative to o.at before) may be NULL where o.ends is."""
    cdef size_t i
    cdef uint32_t base = o.at
    cdef ctok_status status = CTOK_OK
    for i in range(n):
        if is_symbol(r, ids[i]):
            status = give_symbol(r, o, ids[i])
        else:
            if ends != NULL:
                o.at = base + ends[i]
            if ids[i] == r.unk and not r.merges.byte_fallback:
                status = give_unknown(r, o, NULL, 0)
            else:
                status = give_known(o, ids[i])
        if status != CTOK_OK:
            return status
    return CTOK_OK


# ---- user-defined pieces ----

cdef size_t frozen_at(const Resegmenting *r, const uint8_t *p, size_t n, ctok_id *id, bint *goes_on) noexcept nogil:
    """Bytes of the longest user-defined piece at p, 0 if there is none; *goes_on: what is there is the beginning of a longer one."""
    cdef uint64_t unit = ctok_trie_unit(&r.frozen, CTOK_TRIE_ROOT)
    cdef size_t i = 0, length = 0
    goes_on[0] = False
    if not r.begins[p[0]]:
        return 0
    while i < n and ctok_trie_step(&r.frozen, &unit, p[i]):
        i += 1
        if ctok_trie_piece(unit):
            length = i
            id[0] = r.frozen_id[ctok_trie_piece(unit)]
    goes_on[0] = i == n and ctok_trie_goes_on(unit)
    return length


cdef size_t find_frozen(const Resegmenting *r, const uint8_t *p, size_t n, bint final, size_t *length, ctok_id *id) noexcept nogil:
    cdef size_t at = 0, size
    cdef bint goes_on = False
    while at < n:
        length[0] = frozen_at(r, p + at, n - at, id, &goes_on)
        if not final and goes_on:
            length[0] = 0
            return at
        if length[0]:
            return at
        size = char_size(p[at])
        if size > n - at:
            return n if final else at
        at += size
    length[0] = 0
    return n


# ---- a whole text ----

cdef void set_resegment(Resegment model):
    model.ops.encode = resegment_encode
    model.ops.scratch_new = resegment_scratch_new
    model.ops.scratch_free = resegment_scratch_free
    model.ops.open_new = resegment_open_new
    model.ops.open_feed = resegment_open_feed
    model.ops.open_end = resegment_open_end
    model.ops.open_copy = resegment_open_copy
    model.ops.open_free = resegment_open_free
    model.ops.open_save = resegment_open_save
    model.ops.open_load = resegment_open_load


cdef void *resegment_scratch_new(const void *model) noexcept nogil:
    cdef ResegmentScratch *s = <ResegmentScratch *>ctok_mem_zeroed(1, sizeof(ResegmentScratch))
    if s != NULL:
        s.merging = <ListScratch *>list_scratch_new((<const Resegmenting *>model).merges)
        if s.merging == NULL:
            ctok_mem_free(s)
            return NULL
    return s


cdef void resegment_scratch_free(void *scratch) noexcept nogil:
    cdef ResegmentScratch *s = <ResegmentScratch *>scratch
    if s != NULL:
        list_scratch_free(s.merging)
        ctok_ids_free(&s.ids)
        ctok_ids_free(&s.ends)
        ctok_mem_free(s)


cdef ctok_status encode_between(const Resegmenting *r, ResegmentScratch *s, Outlet *o, const uint8_t *p, size_t n) noexcept nogil:
    """A stretch without user-defined pieces."""
    cdef ctok_status status
    s.ids.n = s.ends.n = 0
    status = merges_encode(r.merges, s.merging, p, n, &s.ids, &s.ends if o.ends != NULL else NULL)
    if status == CTOK_OK:
        status = give_all(r, o, s.ids.at, s.ends.at if o.ends != NULL else NULL, s.ids.n)
    return status


cdef ctok_status resegment_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                  ctok_ids *ends) noexcept nogil:
    cdef const Resegmenting *r = <const Resegmenting *>model
    cdef size_t before = ids.n, before_ends = ends.n if ends != NULL else 0, at = 0, start, length = 0
    cdef ctok_id id = CTOK_NO_ID
    cdef Outlet o
    cdef ctok_status status = CTOK_OK
    o.ids = ids
    o.ends = ends
    o.at = 0
    o.unknown = False
    while at < n and status == CTOK_OK:
        start = at + find_frozen(r, p + at, n - at, True, &length, &id)
        if start > at:
            status = encode_between(r, <ResegmentScratch *>scratch, &o, p + at, start - at)
        at = start + length
        o.at = <uint32_t>at
        if length and status == CTOK_OK:
            status = give_known(&o, id)
    if status != CTOK_OK:
        ids.n = before
        if ends != NULL:
            ends.n = before_ends
    return status


# ---- a text that arrives ----

cdef void *open_around(const Resegmenting *r, void *inner) noexcept nogil:
    """Around what is merged, which it takes over; NULL if either is missing."""
    cdef ResegmentOpen *o = NULL
    if inner != NULL:
        o = <ResegmentOpen *>ctok_mem_zeroed(1, sizeof(ResegmentOpen))
    if o == NULL:
        merges_open_free(inner)
        return NULL
    o.model = r
    o.inner = inner
    return o


cdef void *resegment_open_new(const void *model) noexcept nogil:
    cdef const Resegmenting *r = <const Resegmenting *>model
    return open_around(r, merges_open_new(r.merges))


cdef void resegment_open_free(void *state) noexcept nogil:
    cdef ResegmentOpen *o = <ResegmentOpen *>state
    if o != NULL:
        merges_open_free(o.inner)
        ctok_bytes_free(&o.text)
        ctok_ids_free(&o.work)
        ctok_mem_free(o)


cdef ctok_status put_out(ResegmentOpen *o, ctok_ids *ids) noexcept nogil:
    """What merging gave has become certain."""
    cdef Outlet out
    cdef ctok_status status
    out.ids = ids
    out.ends = NULL
    out.at = 0
    out.unknown = o.unknown
    status = give_all(o.model, &out, o.work.at, NULL, o.work.n)
    o.unknown = out.unknown
    o.work.n = 0
    return status


cdef ctok_status merge_more(ResegmentOpen *o, const uint8_t *p, size_t n, bint end, ctok_ids *ids) noexcept nogil:
    cdef ctok_status status = merges_open_feed(o.inner, p, n, &o.work)
    if status == CTOK_OK and end:
        status = merges_open_end(o.inner, &o.work)
    return put_out(o, ids) if status == CTOK_OK else status


cdef ctok_status advance(ResegmentOpen *o, const uint8_t *p, size_t n, bint final, ctok_ids *ids, size_t *done) noexcept nogil:
    """Take out user-defined pieces, and merge what lies between, up to where more text could tell otherwise."""
    cdef size_t at = 0, length = 1
    cdef ctok_id id = CTOK_NO_ID
    cdef ctok_status status = CTOK_OK
    done[0] = 0
    while length and status == CTOK_OK:
        at = done[0] + find_frozen(o.model, p + done[0], n - done[0], final, &length, &id)
        status = merge_more(o, p + done[0], at - done[0], length != 0, ids)
        if length and status == CTOK_OK:
            o.unknown = False
            status = ctok_ids_push(ids, id)
        done[0] = at + length
    return status


cdef ctok_status resegment_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef ResegmentOpen *o = <ResegmentOpen *>state
    cdef size_t done = 0
    cdef ctok_status status
    if n == 0:
        return CTOK_OK
    if o.text.n == 0:
        status = advance(o, p, n, False, ids, &done)
        return ctok_bytes_append(&o.text, p + done, n - done) if status == CTOK_OK else status
    status = ctok_bytes_append(&o.text, p, n)
    if status == CTOK_OK:
        status = advance(o, o.text.at, o.text.n, False, ids, &done)
    if status == CTOK_OK:
        ctok_bytes_drop(&o.text, done)
    if o.text.n == 0 and o.text.cap > KEEP:
        ctok_bytes_free(&o.text)
    return status


cdef void reset(ResegmentOpen *o) noexcept nogil:
    o.text.n = o.work.n = 0
    o.unknown = False
    merges_open_load(o.inner, NULL, 0)


cdef ctok_status resegment_open_end(void *state, ctok_ids *ids) noexcept nogil:
    cdef ResegmentOpen *o = <ResegmentOpen *>state
    cdef size_t done = 0
    cdef ctok_status status = advance(o, o.text.at, o.text.n, True, ids, &done)
    if status == CTOK_OK:
        status = merge_more(o, NULL, 0, True, ids)
    reset(o)
    return status


cdef void *resegment_open_copy(const void *state) noexcept nogil:
    cdef const ResegmentOpen *o = <const ResegmentOpen *>state
    cdef ResegmentOpen *other = <ResegmentOpen *>open_around(o.model, merges_open_copy(o.inner))
    if other != NULL:
        other.unknown = o.unknown
        if ctok_bytes_set(&other.text, &o.text) != CTOK_OK:
            resegment_open_free(other)
            return NULL
    return other


cdef ctok_status resegment_open_save(const void *state, ctok_bytes *out) noexcept nogil:
    """A byte that says whether an unknown token is open, how many bytes are held, these, and the state of merging."""
    cdef const ResegmentOpen *o = <const ResegmentOpen *>state
    if ctok_bytes_reserve(out, 5 + o.text.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    ctok_bytes_push(out, o.unknown)
    ctok_le32_put(out.at + out.n, <uint32_t>o.text.n)
    out.n += 4
    ctok_bytes_append(out, o.text.at, o.text.n)
    return merges_open_save(o.inner, out)


cdef ctok_status resegment_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil:
    cdef ResegmentOpen *o = <ResegmentOpen *>state
    cdef uint32_t held
    cdef ctok_id id
    cdef size_t length = 0
    cdef ctok_status status = CTOK_ERR_FORMAT
    reset(o)
    if n == 0:
        return CTOK_OK
    held = ctok_le32_get(p + 1) if n >= 5 else UINT32_MAX
    if held <= n and 5 + <size_t>held <= n and p[0] <= 1 and find_frozen(o.model, p + 5, held, False, &length, &id) == 0 and length == 0:
        status = merges_open_load(o.inner, p + 5 + held, n - 5 - held)
        if status == CTOK_OK and held:
            status = ctok_bytes_append(&o.text, p + 5, held)
        o.unknown = p[0]
    if status != CTOK_OK:
        reset(o)
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
