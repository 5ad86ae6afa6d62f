"""WordPiece: the longest piece from the left, again and again.

Longest match in linear time: when the tree of pieces has no child for the next byte, the pieces that are certain by then, and the node
where what they leave over stands, are known from the node alone. They are computed once for every node, shortest first, from those of its
parent: what the longest piece leaves over of a text is shorter than the text. So no byte is read twice, however pieces overlap.

A word is unknown as a whole when some part of it is not covered, or when it has too many characters. So an open word keeps its ids until
it ends; their number is bounded by the number of characters allowed.

References
----------
Song, Salcianu, Song, Dopson, Zhou: Fast WordPiece Tokenization. EMNLP 2021, section 3.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_merge cimport ctok_ids, ctok_ids_free, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_reserve
from ctok._native.c_model cimport ctok_le32_get, ctok_le32_put, ctok_le64_get, ctok_le64_put
from ctok._native.c_trie cimport (
    CTOK_TRIE_CONTINUED, CTOK_TRIE_NO_BYTE, CTOK_TRIE_ROOT, ctok_trie_child, ctok_trie_free, ctok_trie_init, ctok_trie_is_node,
    ctok_trie_node, ctok_trie_piece, ctok_trie_unit)
from ctok._native.c_utf8 cimport ctok_utf8_count
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed,
    ctok_status)
from ctok._native.model cimport Model, Table, give_one, nothing_free, nothing_new, table_failed, table_find, table_ids

cdef enum:
    NO_LINK = 0xFFFFFFFF
    NO_POPS = 0                 # the pool begins with an empty list
    MOST_POPS = 1 << 28         # pieces of absurd length would need a list as long as they for each of their bytes


# ---- building ----

cdef ctok_status by_depth(const ctok_trie_node *nodes, uint32_t n, ctok_trie_node **ordered) noexcept nogil:
    """The nodes of the tree, shortest text first."""
    cdef uint32_t i, deepest = 0
    cdef uint32_t *count
    for i in range(n):
        deepest = max(deepest, nodes[i].depth)
    count = <uint32_t *>ctok_mem_zeroed(<size_t>deepest + 2, sizeof(uint32_t))
    ordered[0] = <ctok_trie_node *>ctok_mem_alloc(n, sizeof(ctok_trie_node))
    if count == NULL or ordered[0] == NULL:
        ctok_mem_free(count)
        return CTOK_ERR_MEMORY
    for i in range(n):
        count[nodes[i].depth + 1] += 1
    for i in range(deepest):
        count[i + 1] += count[i]
    for i in range(n):
        ordered[0][count[nodes[i].depth]] = nodes[i]
        count[nodes[i].depth] += 1
    ctok_mem_free(count)
    return CTOK_OK


cdef inline ctok_status add_pops(ctok_ids *pool, const Failure *f) noexcept nogil:
    """Append a list of the pool to it, without its length."""
    cdef uint32_t i, n = pool.at[f.pops]
    if ctok_ids_reserve(pool, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for i in range(n):
        pool.at[pool.n + i] = pool.at[f.pops + 1 + i]
    pool.n += n
    return CTOK_OK


cdef ctok_status find_failure(WordPieceModel *m, const ctok_trie_node *node, ctok_ids *pool) noexcept nogil:
    """What to do when matching fails at a node; it is known for all nodes of shorter texts."""
    cdef Failure *f = &m.failures[node.at]
    cdef const Failure *before = &m.failures[node.parent]
    cdef uint64_t unit = ctok_trie_unit(&m.trie, node.at)
    cdef uint32_t at = before.link
    cdef size_t start = pool.n, child
    if start > MOST_POPS:
        return CTOK_ERR_MEMORY
    f.pops = <uint32_t>start
    if ctok_trie_piece(unit):
        f.link = CTOK_TRIE_CONTINUED
        if ctok_ids_push(pool, 1) != CTOK_OK:
            return CTOK_ERR_MEMORY
        return ctok_ids_push(pool, ctok_trie_piece(unit))
    if at == NO_LINK:
        return CTOK_OK
    if ctok_ids_push(pool, 0) != CTOK_OK or add_pops(pool, before) != CTOK_OK:
        return CTOK_ERR_MEMORY
    while at != NO_LINK:
        child = ctok_trie_child(&m.trie, ctok_trie_unit(&m.trie, at), <uint8_t>(unit & CTOK_TRIE_NO_BYTE))
        if child:
            f.link = <uint32_t>child
            pool.at[start] = <uint32_t>(pool.n - start - 1)
            if at == before.link:                           # nothing was added
                f.pops = before.pops
                pool.n = start
            return CTOK_OK
        if add_pops(pool, &m.failures[at]) != CTOK_OK:
            return CTOK_ERR_MEMORY
        at = m.failures[at].link
    pool.n = start
    return CTOK_OK


cdef ctok_status find_failures(WordPieceModel *m, const ctok_trie_node *nodes) noexcept nogil:
    cdef ctok_trie_node *ordered = NULL
    cdef uint32_t i
    cdef size_t k
    cdef ctok_status status
    m.failures = <Failure *>ctok_mem_alloc(m.trie.n_units, sizeof(Failure))
    if m.failures == NULL:
        return CTOK_ERR_MEMORY
    for k in range(m.trie.n_units):
        m.failures[k].link = NO_LINK
        m.failures[k].pops = NO_POPS
    status = by_depth(nodes, m.trie.n_nodes, &ordered)
    if status == CTOK_OK:
        status = ctok_ids_push(&m.pool, 0)
    for i in range(m.trie.n_nodes):
        if status == CTOK_OK and ordered[i].depth:
            status = find_failure(m, &ordered[i], &m.pool)
    ctok_mem_free(ordered)
    return status


cdef class WordPiece(Model):
    """The WordPiece model.

    Parameters
    ----------
    tokens
        A `spec.TokenTable` of pieces in UTF-8. Of equal pieces the last counts; an empty one is never found.
    unk_token
        The token of unknown words. It need not be in the table: then `encode` refuses them.
    max_input_chars_per_word
        Words with more characters are unknown.
    continuing_subword_prefix
        What pieces inside a word begin with.

    Raises
    ------
    SpecError
        The table is out of byte order.

    Notes
    -----
    Building costs about 50 ns a node of the tree of pieces (30 000 pieces: 3 ms); encoding is linear in the bytes.
    """

    def __cinit__(self, tokens, str unk_token="[UNK]", max_input_chars_per_word=100, str continuing_subword_prefix="##"):
        cdef Table table = Table(tokens)
        cdef ctok_trie_node *nodes = NULL
        cdef uint32_t bad = 0, k, before = 0
        cdef bytes prefix = continuing_subword_prefix.encode()
        cdef ctok_status status
        self.m.n_prefix = <uint32_t>len(prefix)
        self.m.n_pieces = table.n
        self.m.most_chars = max(0, min(max_input_chars_per_word, (1 << 64) - 1))
        status = ctok_trie_init(&self.m.trie, table.data, table.ends, table.n, <const uint8_t *><const char *>prefix, len(prefix), &nodes,
                                &bad)
        if status == CTOK_OK:
            status = find_failures(&self.m, nodes)
        ctok_mem_free(nodes)
        if status == CTOK_OK:
            status = table_ids(table, &self.m.id_of)
        if status == CTOK_OK:
            self.m.len_of = <uint32_t *>ctok_mem_zeroed(<size_t>table.n + 1, sizeof(uint32_t))
        if status == CTOK_OK and self.m.len_of == NULL:
            status = CTOK_ERR_MEMORY
        if status != CTOK_OK:
            raise table_failed(status, bad)
        for k in range(table.n):
            self.m.len_of[k + 1] = table.ends[k] - before
            before = table.ends[k]
        self.m.unk = table_find(&self.m.trie, self.m.id_of, unk_token.encode())
        self.unk_id = None if self.m.unk == CTOK_NO_ID else self.m.unk
        self.model = &self.m
        set_wordpiece(self)

    def __dealloc__(self):
        ctok_trie_free(&self.m.trie)
        ctok_mem_free(self.m.failures)
        ctok_ids_free(&self.m.pool)
        ctok_mem_free(self.m.id_of)
        ctok_mem_free(self.m.len_of)


cdef void set_wordpiece(WordPiece model):
    model.ops.encode = wordpiece_encode
    model.ops.scratch_new = nothing_new
    model.ops.scratch_free = nothing_free
    model.ops.open_new = wordpiece_open_new
    model.ops.open_feed = wordpiece_open_feed
    model.ops.open_end = wordpiece_open_end
    model.ops.open_copy = wordpiece_open_copy
    model.ops.open_free = wordpiece_open_free
    model.ops.open_save = wordpiece_open_save
    model.ops.open_load = wordpiece_open_load
    model.ops.open_waits = wordpiece_open_waits


# ---- a whole word ----

cdef inline ctok_status append_pops(const WordPieceModel *m, uint32_t at, ctok_ids *pieces) noexcept nogil:
    """The pieces that are certain where a node has no child for what comes."""
    cdef const uint32_t *pops = m.pool.at + m.failures[at].pops
    cdef uint32_t k
    if ctok_ids_reserve(pieces, pops[0]) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for k in range(pops[0]):
        pieces.at[pieces.n + k] = pops[k + 1]
    pieces.n += pops[0]
    return CTOK_OK


cdef ctok_status match(const WordPieceModel *m, uint32_t *node, const uint8_t *p, size_t n, ctok_ids *pieces) noexcept nogil:
    """Go on from a node over n bytes, and append the pieces that became certain (NULL: forget them). *node becomes NO_LINK where no
    pieces cover the bytes."""
    cdef uint32_t at = node[0]
    cdef uint64_t unit = ctok_trie_unit(&m.trie, at)
    cdef size_t i, child
    for i in range(n):
        child = ctok_trie_child(&m.trie, unit, p[i])
        while not child:
            if m.failures[at].link == NO_LINK:
                node[0] = NO_LINK
                return CTOK_OK
            if pieces != NULL and append_pops(m, at, pieces) != CTOK_OK:
                return CTOK_ERR_MEMORY
            at = m.failures[at].link
            unit = ctok_trie_unit(&m.trie, at)
            child = ctok_trie_child(&m.trie, unit, p[i])
        at = <uint32_t>child
        unit = ctok_trie_unit(&m.trie, at)
    node[0] = at
    return CTOK_OK


cdef ctok_status match_end(const WordPieceModel *m, uint32_t *node, ctok_ids *pieces) noexcept nogil:
    """The word ends at a node: append the pieces of what is left. *node becomes NO_LINK where none cover it."""
    cdef uint32_t at = node[0]
    while at != CTOK_TRIE_CONTINUED and at != NO_LINK:
        if m.failures[at].link != NO_LINK:
            if append_pops(m, at, pieces) != CTOK_OK:
                return CTOK_ERR_MEMORY
        at = m.failures[at].link
    node[0] = at
    return CTOK_OK


cdef ctok_status give_ends(const WordPieceModel *m, const ctok_ids *ids, size_t first, ctok_ids *ends) noexcept nogil:
    cdef size_t i, end = 0
    if ctok_ids_reserve(ends, ids.n - first) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for i in range(first, ids.n):
        end += m.len_of[ids.at[i]] - (m.n_prefix if i > first else 0)
        ends.at[ends.n] = <ctok_id>end
        ends.n += 1
    return CTOK_OK


cdef ctok_status wordpiece_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                  ctok_ids *ends) noexcept nogil:
    cdef const WordPieceModel *m = <const WordPieceModel *>model
    cdef uint32_t at = CTOK_TRIE_ROOT
    cdef size_t i, first = ids.n
    cdef ctok_status status
    if n == 0:
        return CTOK_OK
    if n > m.most_chars and ctok_utf8_count(p, n) > m.most_chars:
        return give_one(m.unk, n, ids, ends)
    status = match(m, &at, p, n, ids)
    if status == CTOK_OK:
        status = match_end(m, &at, ids)
    if status == CTOK_OK and at == NO_LINK:
        ids.n = first
        return give_one(m.unk, n, ids, ends)
    if status == CTOK_OK and ends != NULL:
        status = give_ends(m, ids, first, ends)
    if status != CTOK_OK:
        ids.n = first
        return status
    for i in range(first, ids.n):
        ids.at[i] = m.id_of[ids.at[i]]
    return CTOK_OK


# ---- an open word ----

cdef void *wordpiece_open_new(const void *model) noexcept nogil:
    cdef WordPieceOpen *open = <WordPieceOpen *>ctok_mem_zeroed(1, sizeof(WordPieceOpen))
    if open != NULL:
        open.model = <const WordPieceModel *>model
        open.at = CTOK_TRIE_ROOT
    return open


cdef void wordpiece_reset(WordPieceOpen *open) noexcept nogil:
    open.at = CTOK_TRIE_ROOT
    open.unknown = False
    open.n_chars = 0
    ctok_ids_free(&open.ids)


cdef void wordpiece_open_free(void *state) noexcept nogil:
    if state != NULL:
        wordpiece_reset(<WordPieceOpen *>state)
        ctok_mem_free(state)


cdef ctok_status wordpiece_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef WordPieceOpen *open = <WordPieceOpen *>state
    cdef ctok_status status
    if open.unknown:
        return CTOK_OK
    open.n_chars += ctok_utf8_count(p, n)
    if open.n_chars <= open.model.most_chars:
        status = match(open.model, &open.at, p, n, &open.ids)
        if status != CTOK_OK or open.at != NO_LINK:
            return status
    status = give_one(open.model.unk, 0, ids, NULL)
    ctok_ids_free(&open.ids)
    open.unknown = True
    return status


cdef bint wordpiece_open_waits(const void *model, const uint8_t *p, size_t n) noexcept nogil:
    cdef const WordPieceModel *m = <const WordPieceModel *>model
    cdef uint32_t at = CTOK_TRIE_ROOT
    if n > m.most_chars and ctok_utf8_count(p, n) > m.most_chars:
        return False
    match(m, &at, p, n, NULL)
    return at != NO_LINK


cdef ctok_status wordpiece_open_end(void *state, ctok_ids *ids) noexcept nogil:
    cdef WordPieceOpen *open = <WordPieceOpen *>state
    cdef ctok_status status = CTOK_OK
    cdef size_t i
    if not open.unknown and open.n_chars:
        status = match_end(open.model, &open.at, &open.ids)
        if status == CTOK_OK and open.at == NO_LINK:
            status = give_one(open.model.unk, 0, ids, NULL)
        elif status == CTOK_OK:
            status = ctok_ids_reserve(ids, open.ids.n)
            if status == CTOK_OK:
                for i in range(open.ids.n):
                    ids.at[ids.n + i] = open.model.id_of[open.ids.at[i]]
                ids.n += open.ids.n
    wordpiece_reset(open)
    return status


cdef void *wordpiece_open_copy(const void *state) noexcept nogil:
    cdef const WordPieceOpen *open = <const WordPieceOpen *>state
    cdef WordPieceOpen *other = <WordPieceOpen *>wordpiece_open_new(open.model)
    if other == NULL:
        return NULL
    other.at = open.at
    other.unknown = open.unknown
    other.n_chars = open.n_chars
    if open.ids.n:
        if ctok_ids_reserve(&other.ids, open.ids.n) != CTOK_OK:
            wordpiece_open_free(other)
            return NULL
        memcpy(other.ids.at, open.ids.at, open.ids.n * sizeof(ctok_id))
        other.ids.n = open.ids.n
    return other


cdef ctok_status wordpiece_open_save(const void *state, ctok_bytes *out) noexcept nogil:
    """A byte (is it unknown?), the node, the number of characters, the pieces."""
    cdef const WordPieceOpen *open = <const WordPieceOpen *>state
    cdef uint8_t *p
    cdef size_t i
    if ctok_bytes_reserve(out, 13 + 4 * open.ids.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    p = out.at + out.n
    p[0] = open.unknown
    ctok_le32_put(p + 1, open.at)
    ctok_le64_put(p + 5, open.n_chars)
    for i in range(open.ids.n):
        ctok_le32_put(p + 13 + 4 * i, open.ids.at[i])
    out.n += 13 + 4 * open.ids.n
    return CTOK_OK


cdef ctok_status wordpiece_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil:
    cdef WordPieceOpen *open = <WordPieceOpen *>state
    cdef const WordPieceModel *m = open.model
    cdef size_t i, k
    wordpiece_reset(open)
    if n == 0:
        return CTOK_OK
    if n < 13 or (n - 13) % 4 or p[0] > 1:
        return CTOK_ERR_FORMAT
    k = (n - 13) // 4
    if not p[0] and not ctok_trie_is_node(&m.trie, ctok_le32_get(p + 1)):
        return CTOK_ERR_FORMAT
    if ctok_ids_reserve(&open.ids, k) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for i in range(k):
        open.ids.at[i] = ctok_le32_get(p + 13 + 4 * i)
        if open.ids.at[i] - 1 >= m.n_pieces:
            wordpiece_reset(open)
            return CTOK_ERR_FORMAT
    open.ids.n = k
    open.unknown = p[0]
    open.at = ctok_le32_get(p + 1)
    open.n_chars = ctok_le64_get(p + 5)
    return CTOK_OK


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
