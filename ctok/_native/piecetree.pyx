"""The pieces of SentencePiece's BPE models as a tree: which of them stand at a place of a text, and when each would be joined.

Whether two symbols join, and how early, depends on nothing but the text that they spell together (piecebpe.pyx). So what is found from each
character on says all about the merges of a text. Made for texts that are merged again and again in other ways (piecedrop.pyx).
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_trie cimport CTOK_TRIE_ROOT, ctok_trie, ctok_trie_free, ctok_trie_init, ctok_trie_step, ctok_trie_unit
from ctok._native.c_vocab cimport CTOK_NO_ID, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status, ctok_vocab
from ctok._native.c_words cimport ctok_is_mark
from ctok._native.mergelist cimport Merges, char_size
from ctok._native.model cimport table_failed
from ctok._native.piecebpe cimport PieceBPE


@cython.final
@cython.no_gc
cdef class Tree:
    """The pieces of a `PieceBPE` with nothing around it."""

    def __cinit__(self, PieceBPE model not None):
        cdef const Merges *m = &model.m
        cdef const ctok_vocab *v = m.vocab
        cdef uint32_t k, bad = 0
        cdef size_t i
        cdef uint32_t[::1] rank_of = memoryview(bytearray(b"\xff") * (4 * <size_t>v.n_ids + 4)).cast("I")
        cdef ctok_status status = ctok_trie_init(&self.t.pieces, v.bytes, v.begin + 1, v.n_tokens, NULL, 0, NULL, &bad)
        if status != CTOK_OK:
            raise table_failed(status, bad)
        self.t.joined = <Joined *>ctok_mem_zeroed(<size_t>v.n_tokens + 1, sizeof(Joined))
        self.t.begins = <uint64_t *>ctok_mem_zeroed(1 << 16, sizeof(uint64_t))
        if self.t.joined == NULL or self.t.begins == NULL:
            raise MemoryError("no memory for the pieces")
        for i in range(<size_t>1 << m.pairs.bits):
            if m.pairs.slots[i].key:
                rank_of[m.pairs.slots[i].joined] = m.pairs.slots[i].rank
        self.t.joined[0] = Joined(CTOK_NO_ID, CTOK_NO_ID)
        for k in range(v.n_tokens):
            self.t.joined[k + 1] = Joined(rank_of[v.id_of[k]], v.id_of[k])
            set_begin(self.t.begins, &self.t.pieces, v.bytes + v.begin[k], v.begin[k + 1] - v.begin[k])
        self.t.keeps_to_words = keeps_to_words(v)

    def __dealloc__(self):
        ctok_trie_free(&self.t.pieces)
        ctok_mem_free(self.t.joined)
        ctok_mem_free(self.t.begins)


cdef void set_begin(uint64_t *begins, const ctok_trie *t, const uint8_t *p, size_t n) noexcept nogil:
    """Note where the tree is after a character, if that is what this piece is."""
    cdef uint64_t unit = ctok_trie_unit(t, CTOK_TRIE_ROOT)
    cdef size_t i, code
    if n == 0 or n > 3 or char_size(p[0]) != n:
        return
    for i in range(n):
        ctok_trie_step(t, &unit, p[i])
    code = p[0] if n == 1 else p[0] & 0x1F if n == 2 else p[0] & 0xF
    for i in range(1, n):
        code = code << 6 | (p[i] & 0x3F)
    begins[code] = unit


cdef bint keeps_to_words(const ctok_vocab *v) noexcept nogil:
    cdef const uint8_t *p
    cdef uint32_t k, i, n
    for k in range(v.n_tokens):
        p = v.bytes + v.begin[k]
        n = v.begin[k + 1] - v.begin[k]
        for i in range(1, n - 2 if n > 2 else 0):
            if ctok_is_mark(p + i) and (i < 3 or not ctok_is_mark(p + i - 3)):
                return False
    return True


cdef bint fits(const Merges *m) noexcept nogil:
    """Is there room for each piece in a stretch, and for each rank in a lane?"""
    cdef const ctok_vocab *v = m.vocab
    cdef uint32_t k, i, n
    if m.wide:
        return False
    for k in range(v.n_tokens if v.longest > STRETCH else 0):
        n = 0
        for i in range(v.begin[k], v.begin[k + 1]):
            n += v.bytes[i] & 0xC0 != 0x80
        if n > STRETCH:
            return False
    return True


cdef object tree_of(PieceBPE model):
    """Its `Tree`, or False if it has none."""
    if model.tree is None:
        with cython.critical_section(model):
            if model.tree is None:
                model.tree = Tree(model) if fits(&model.m) else False
    return model.tree


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
