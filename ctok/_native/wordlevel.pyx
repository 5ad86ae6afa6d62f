"""WordLevel: a pretoken is a token, or unknown.

An open pretoken is a place in the tree of tokens; where it leaves the tree, it is unknown for certain.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_reserve
from ctok._native.c_model cimport ctok_le32_get, ctok_le32_put
from ctok._native.c_trie cimport (
    CTOK_TRIE_ROOT, ctok_trie, ctok_trie_child, ctok_trie_find, ctok_trie_free, ctok_trie_init, ctok_trie_is_node, ctok_trie_piece,
    ctok_trie_step, ctok_trie_unit)
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.model cimport Model, Table, give_one, nothing_free, nothing_new, table_failed, table_find, table_ids


cdef class WordLevel(Model):
    """The WordLevel model: a pretoken is a token, or unknown.

    Parameters
    ----------
    tokens
        A `spec.TokenTable` of texts in UTF-8. Of equal ones the last counts.
    unk_token
        The token of all others. It need not be in the table: then `encode` refuses them.

    Raises
    ------
    SpecError
        The table is out of byte order.
    """

    def __cinit__(self, tokens, str unk_token="<unk>"):
        cdef Table table = Table(tokens)
        cdef uint32_t bad = 0, k = 0
        cdef ctok_status status = ctok_trie_init(&self.m.trie, table.data, table.ends, table.n, NULL, 0, NULL, &bad)
        if status == CTOK_OK:
            status = table_ids(table, &self.m.id_of)
        if status != CTOK_OK:
            raise table_failed(status, bad)
        while k < table.n and table.ends[k] == 0:
            k += 1
        self.m.empty = self.m.id_of[k]
        self.m.unk = table_find(&self.m.trie, self.m.id_of, unk_token.encode()) if unk_token else self.m.empty
        if self.m.empty == CTOK_NO_ID:
            self.m.empty = self.m.unk
        self.unk_id = None if self.m.unk == CTOK_NO_ID else self.m.unk
        self.model = &self.m
        set_wordlevel(self)

    def __dealloc__(self):
        ctok_trie_free(&self.m.trie)
        ctok_mem_free(self.m.id_of)


cdef void set_wordlevel(WordLevel model):
    model.ops.encode = wordlevel_encode
    model.ops.scratch_new = nothing_new
    model.ops.scratch_free = nothing_free
    model.ops.open_new = wordlevel_open_new
    model.ops.open_feed = wordlevel_open_feed
    model.ops.open_end = wordlevel_open_end
    model.ops.open_copy = wordlevel_open_copy
    model.ops.open_free = wordlevel_open_free
    model.ops.open_save = wordlevel_open_save
    model.ops.open_load = wordlevel_open_load
    model.ops.open_waits = wordlevel_open_waits


cdef ctok_status wordlevel_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                  ctok_ids *ends) noexcept nogil:
    cdef const WordLevelModel *m = <const WordLevelModel *>model
    cdef ctok_id found = m.id_of[ctok_trie_find(&m.trie, p, n)] if n else m.empty
    return give_one(m.unk if found == CTOK_NO_ID else found, n, ids, ends)


cdef void *wordlevel_open_new(const void *model) noexcept nogil:
    cdef WordLevelOpen *open = <WordLevelOpen *>ctok_mem_zeroed(1, sizeof(WordLevelOpen))
    if open != NULL:
        open.model = <const WordLevelModel *>model
        open.at = CTOK_TRIE_ROOT
    return open


cdef void wordlevel_open_free(void *state) noexcept nogil:
    ctok_mem_free(state)


cdef ctok_status wordlevel_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef WordLevelOpen *open = <WordLevelOpen *>state
    cdef const ctok_trie *t = &open.model.trie
    cdef size_t i, child
    if open.unknown:
        return CTOK_OK
    for i in range(n):
        child = ctok_trie_child(t, ctok_trie_unit(t, open.at), p[i])
        if not child:
            open.unknown = True
            return give_one(open.model.unk, 0, ids, NULL)
        open.at = <uint32_t>child
    return CTOK_OK


cdef bint wordlevel_open_waits(const void *model, const uint8_t *p, size_t n) noexcept nogil:
    cdef const ctok_trie *t = &(<const WordLevelModel *>model).trie
    cdef uint64_t unit = ctok_trie_unit(t, CTOK_TRIE_ROOT)
    cdef size_t i
    for i in range(n):
        if not ctok_trie_step(t, &unit, p[i]):
            return False
    return True


cdef ctok_status wordlevel_open_end(void *state, ctok_ids *ids) noexcept nogil:
    """An open pretoken of no bytes gives nothing, as no pretoken is empty."""
    cdef WordLevelOpen *open = <WordLevelOpen *>state
    cdef const WordLevelModel *m = open.model
    cdef ctok_id found = m.id_of[ctok_trie_piece(ctok_trie_unit(&m.trie, open.at))]
    cdef bint some = open.at != CTOK_TRIE_ROOT and not open.unknown
    open.at = CTOK_TRIE_ROOT
    open.unknown = False
    return give_one(m.unk if found == CTOK_NO_ID else found, 0, ids, NULL) if some else CTOK_OK


cdef void *wordlevel_open_copy(const void *state) noexcept nogil:
    cdef const WordLevelOpen *open = <const WordLevelOpen *>state
    cdef WordLevelOpen *other = <WordLevelOpen *>wordlevel_open_new(open.model)
    if other != NULL:
        other[0] = open[0]
    return other


cdef ctok_status wordlevel_open_save(const void *state, ctok_bytes *out) noexcept nogil:
    cdef const WordLevelOpen *open = <const WordLevelOpen *>state
    if ctok_bytes_reserve(out, 5) != CTOK_OK:
        return CTOK_ERR_MEMORY
    out.at[out.n] = open.unknown
    ctok_le32_put(out.at + out.n + 1, open.at)
    out.n += 5
    return CTOK_OK


cdef ctok_status wordlevel_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil:
    cdef WordLevelOpen *open = <WordLevelOpen *>state
    open.at = CTOK_TRIE_ROOT
    open.unknown = False
    if n == 0:
        return CTOK_OK
    if n != 5 or p[0] > 1 or not ctok_trie_is_node(&open.model.trie, ctok_le32_get(p + 1)):
        return CTOK_ERR_FORMAT
    open.unknown = p[0]
    open.at = ctok_le32_get(p + 1)
    return CTOK_OK


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
