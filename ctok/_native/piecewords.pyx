"""SentencePiece's word model: what stands between blanks is a piece or unknown.

A word begins at the start of the text and at each U+2581, which belongs to it. Unknown words that stand side by side are one unknown token,
or all of their bytes. An open word is a place in the tree of pieces; where it leaves the tree it is unknown for certain.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_append, ctok_bytes_free, ctok_bytes_push, ctok_bytes_reserve, ctok_bytes_set
from ctok._native.c_merge cimport ctok_ids, ctok_ids_push
from ctok._native.c_trie cimport (
    CTOK_TRIE_ROOT, ctok_trie, ctok_trie_child, ctok_trie_find, ctok_trie_free, ctok_trie_init, ctok_trie_piece, ctok_trie_unit)
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed,
    ctok_status)
from ctok._native.model cimport Model, Table, nothing_free, nothing_new, table_failed
from ctok._native.piecebpe cimport NORMAL, USER_DEFINED, check_pieces, set_byte_tokens

cdef const uint8_t *BLANK = <const uint8_t *>b"\xe2\x96\x81"     # U+2581


cdef class PieceWords(Model):
    """The word model.

    Parameters
    ----------
    tokens, types, unk_id, byte_fallback
        As in `stagespecs.sentencepiece.Pieces`.

    Raises
    ------
    SpecError
        The table is out of byte order; with `byte_fallback`, a byte without a piece.
    """

    def __cinit__(self, tokens, const uint8_t[::1] types, unk_id, bint byte_fallback=False):
        cdef Table t = Table(tokens)
        cdef uint32_t k, begin = 0, n = 0, at = 0, bad = 0
        cdef uint8_t[::1] data = bytearray(t.ends[t.n - 1] + 1 if t.n else 1)
        cdef uint32_t[::1] ends = memoryview(bytearray(4 * t.n + 4)).cast("I")
        cdef ctok_status status
        check_pieces(t, types)
        self.unk_id = self.m.unk = unk_id
        self.m.byte_fallback = byte_fallback
        set_byte_tokens(t, types, byte_fallback, self.m.byte_token)
        self.m.id_of = <ctok_id *>ctok_mem_alloc(<size_t>t.n + 1, sizeof(ctok_id))
        if self.m.id_of == NULL:
            raise MemoryError("no memory for the model")
        self.m.id_of[0] = CTOK_NO_ID
        for k in range(t.n):
            if types[t.ids[k]] in (NORMAL, USER_DEFINED):
                memcpy(&data[at], t.data + begin, t.ends[k] - begin)
                at += t.ends[k] - begin
                ends[n] = at
                n += 1
                self.m.id_of[n] = t.ids[k]
            begin = t.ends[k]
        status = ctok_trie_init(&self.m.trie, &data[0], &ends[0], n, NULL, 0, NULL, &bad)
        if status != CTOK_OK:
            raise table_failed(status, bad)
        self.model = &self.m
        set_words(self)

    def __dealloc__(self):
        ctok_trie_free(&self.m.trie)
        ctok_mem_free(self.m.id_of)

    @property
    def streams(self):
        """Whether ids of an open pretoken can leave before it ends."""
        return True


cdef void set_words(PieceWords model):
    model.ops.encode = words_encode
    model.ops.scratch_new = nothing_new
    model.ops.scratch_free = nothing_free
    model.ops.open_new = words_open_new
    model.ops.open_feed = words_open_feed
    model.ops.open_end = words_open_end
    model.ops.open_copy = words_open_copy
    model.ops.open_free = words_open_free
    model.ops.open_save = words_open_save
    model.ops.open_load = words_open_load


# ---- a whole text ----

cdef ctok_status give(ctok_id id, size_t end, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    if ctok_ids_push(ids, id) != CTOK_OK:
        return CTOK_ERR_MEMORY
    return ctok_ids_push(ends, <ctok_id>end) if ends != NULL else CTOK_OK


cdef ctok_status give_unknown(const Words *m, const uint8_t *p, size_t n, size_t end, bint *unknown, ctok_ids *ids,
                              ctok_ids *ends) noexcept nogil:
    """Append what an unknown word p[0..n) gives; *unknown: the id before it is that of one."""
    cdef size_t i
    cdef ctok_status status = CTOK_OK
    if m.byte_fallback:
        for i in range(n):
            if status == CTOK_OK:
                status = give(m.byte_token[p[i]], end, ids, ends)
    elif not unknown[0]:
        unknown[0] = True
        status = give(m.unk, end, ids, ends)
    elif ends != NULL:
        ends.at[ends.n - 1] = <ctok_id>end
    return status


cdef size_t next_word(const uint8_t *p, size_t at, size_t n) noexcept nogil:
    """Where the next word begins behind `at`; n if there is none."""
    at += 1
    while at + 3 <= n:
        if p[at] == BLANK[0] and p[at + 1] == BLANK[1] and p[at + 2] == BLANK[2]:
            return at
        at += 1
    return n


cdef ctok_status words_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    cdef const Words *m = <const Words *>model
    cdef size_t at = 0, stop, before = ids.n, before_ends = ends.n if ends != NULL else 0
    cdef bint unknown = False
    cdef ctok_id found
    cdef ctok_status status = CTOK_OK
    while at < n and status == CTOK_OK:
        stop = next_word(p, at, n)
        found = m.id_of[ctok_trie_find(&m.trie, p + at, stop - at)]
        if found == CTOK_NO_ID:
            status = give_unknown(m, p + at, stop - at, stop, &unknown, ids, ends)
        else:
            unknown = False
            status = give(found, stop, ids, ends)
        at = stop
    if status != CTOK_OK:
        ids.n = before
        if ends != NULL:
            ends.n = before_ends
    return status


# ---- a text that arrives ----

cdef void begin_word(WordsOpen *o) noexcept nogil:
    o.word.n = 0
    o.at = CTOK_TRIE_ROOT
    o.is_word = o.is_unknown = False


cdef void reset(WordsOpen *o) noexcept nogil:
    begin_word(o)
    o.unknown = False
    o.n_blank = 0


cdef void *words_open_new(const void *model) noexcept nogil:
    cdef WordsOpen *o = <WordsOpen *>ctok_mem_zeroed(1, sizeof(WordsOpen))
    if o != NULL:
        o.model = <const Words *>model
        reset(o)
    return o


cdef void words_open_free(void *state) noexcept nogil:
    cdef WordsOpen *o = <WordsOpen *>state
    if o != NULL:
        ctok_bytes_free(&o.word)
        ctok_mem_free(o)


cdef ctok_status fall(WordsOpen *o, ctok_ids *ids) noexcept nogil:
    """The word is no piece: what is there of it leaves."""
    cdef ctok_status status = give_unknown(o.model, o.word.at, o.word.n, 0, &o.unknown, ids, NULL)
    o.is_unknown = True
    o.word.n = 0
    return status


cdef ctok_status take(WordsOpen *o, uint8_t b, ctok_ids *ids) noexcept nogil:
    """One more byte of the word."""
    cdef const ctok_trie *t = &o.model.trie
    cdef size_t child
    o.is_word = True
    if o.is_unknown:
        return ctok_ids_push(ids, o.model.byte_token[b]) if o.model.byte_fallback else CTOK_OK
    if ctok_bytes_push(&o.word, b) != CTOK_OK:
        return CTOK_ERR_MEMORY
    child = ctok_trie_child(t, ctok_trie_unit(t, o.at), b)
    if not child:
        return fall(o, ids)
    o.at = <uint32_t>child
    return CTOK_OK


cdef ctok_status end_word(WordsOpen *o, ctok_ids *ids) noexcept nogil:
    cdef ctok_id found = o.model.id_of[ctok_trie_piece(ctok_trie_unit(&o.model.trie, o.at))]
    cdef ctok_status status = CTOK_OK
    if o.is_word and not o.is_unknown:
        if found == CTOK_NO_ID:
            status = fall(o, ids)
        else:
            o.unknown = False
            status = ctok_ids_push(ids, found)
    begin_word(o)
    return status


cdef ctok_status take_blank(WordsOpen *o, uint32_t n, ctok_ids *ids) noexcept nogil:
    """The first n bytes of U+2581 belong to the word."""
    cdef uint32_t i
    cdef ctok_status status = CTOK_OK
    o.n_blank = 0
    for i in range(n):
        if status == CTOK_OK:
            status = take(o, BLANK[i], ids)
    return status


cdef ctok_status words_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef WordsOpen *o = <WordsOpen *>state
    cdef size_t i
    cdef ctok_status status = CTOK_OK
    for i in range(n):
        if p[i] == BLANK[o.n_blank]:
            o.n_blank += 1
            if o.n_blank == 3:
                status = end_word(o, ids)
                if status == CTOK_OK:
                    status = take_blank(o, 3, ids)
        else:
            if o.n_blank:
                status = take_blank(o, o.n_blank, ids)
            if status == CTOK_OK and p[i] == BLANK[0]:
                o.n_blank = 1
            elif status == CTOK_OK:
                status = take(o, p[i], ids)
        if status != CTOK_OK:
            return status
    return CTOK_OK


cdef ctok_status words_open_end(void *state, ctok_ids *ids) noexcept nogil:
    cdef WordsOpen *o = <WordsOpen *>state
    cdef ctok_status status = take_blank(o, o.n_blank, ids)
    if status == CTOK_OK:
        status = end_word(o, ids)
    reset(o)
    return status


cdef void *words_open_copy(const void *state) noexcept nogil:
    cdef const WordsOpen *o = <const WordsOpen *>state
    cdef WordsOpen *other = <WordsOpen *>words_open_new(o.model)
    cdef ctok_bytes word
    if other != NULL:
        word = other.word
        if ctok_bytes_set(&word, &o.word) != CTOK_OK:
            words_open_free(other)
            return NULL
        other[0] = o[0]
        other.word = word
    return other


cdef ctok_status words_open_save(const void *state, ctok_bytes *out) noexcept nogil:
    """A byte of flags, and the word as far as it is held."""
    cdef const WordsOpen *o = <const WordsOpen *>state
    cdef uint8_t flags = <uint8_t>(o.is_word | o.is_unknown << 1 | o.unknown << 2 | o.n_blank << 3)
    if ctok_bytes_reserve(out, 1 + o.word.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    ctok_bytes_push(out, flags)
    return ctok_bytes_append(out, o.word.at, o.word.n)


cdef ctok_status words_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil:
    cdef WordsOpen *o = <WordsOpen *>state
    cdef const ctok_trie *t = &o.model.trie
    cdef size_t i, child = 1
    reset(o)
    if n == 0:
        return CTOK_OK
    o.is_word = p[0] & 1
    o.is_unknown = p[0] >> 1 & 1
    o.unknown = p[0] >> 2 & 1
    o.n_blank = p[0] >> 3
    for i in range(1, n):
        if child:
            child = ctok_trie_child(t, ctok_trie_unit(t, o.at), p[i])
            o.at = <uint32_t>child
    if not child or o.n_blank > 2 or (o.is_unknown and (n > 1 or not o.is_word)) or (not o.is_unknown and o.is_word != (n > 1)):
        reset(o)
        return CTOK_ERR_FORMAT
    if ctok_bytes_append(&o.word, p + 1, n - 1) != CTOK_OK:
        reset(o)
        return CTOK_ERR_MEMORY
    return CTOK_OK


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
