"""What decoders of one vocabulary share: the tokens as str objects and as short pieces of bytes; and compiled stop strings."""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint32_t

from ctok._native.c_decoder cimport CTOK_STOPS_MAX_BYTES, ctok_stops_free, ctok_stops_init, ctok_stops_scan
from ctok._native.c_piece cimport ctok_piece, ctok_pieces_fill
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_OK, CTOK_TOKEN_KNOWN, CTOK_TOKEN_SPECIAL, CTOK_TOKEN_UTF8, ctok_mem_alloc,
    ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status, ctok_token, ctok_vocab)
from ctok._native.vocab cimport Vocab

cdef extern from *:
    """
    /* Put o into an empty slot and keep it there for ever; returns what the slot holds. Steals o. */
    static inline PyObject *ctok_publish(PyObject **slot, PyObject *o) {
    #ifdef Py_GIL_DISABLED
        PyObject *nothing = NULL;
        if (!__atomic_compare_exchange_n(slot, &nothing, o, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) Py_DECREF(o);
    #else
        if (*slot == NULL) *slot = o; else Py_DECREF(o);
    #endif
        return *slot;
    }
    """
    PyObject *ctok_publish(PyObject **slot, PyObject *o)


cdef class TokenTexts:
    def __cinit__(self, Vocab vocab not None):
        self.n = vocab.v.n_ids
        self.of = <PyObject **>ctok_mem_zeroed(self.n, sizeof(PyObject *))
        if self.of == NULL:
            raise MemoryError("no memory for the texts of the tokens")

    def __dealloc__(self):
        cdef uint32_t i
        if self.of != NULL:
            for i in range(self.n):
                Py_XDECREF(self.of[i])
            ctok_mem_free(self.of)
        ctok_mem_free(self.pieces)


cdef TokenTexts _kept(Vocab vocab):
    with cython.critical_section(vocab):
        if vocab.texts is None:
            vocab.texts = TokenTexts(vocab)
        return <TokenTexts>vocab.texts


cdef PyObject **texts_of(Vocab vocab) except NULL:
    return _kept(vocab).of


cdef const ctok_piece *pieces_of(Vocab vocab, bint make):
    cdef TokenTexts kept
    if vocab.texts is None and not make:
        return NULL
    kept = _kept(vocab)
    if kept.pieces == NULL and make:
        with cython.critical_section(kept):
            if kept.pieces == NULL:
                kept.pieces = _new_pieces(&vocab.v)
    return kept.pieces


cdef ctok_piece *_new_pieces(const ctok_vocab *v) noexcept:
    cdef ctok_piece *pieces = <ctok_piece *>ctok_mem_zeroed(v.n_ids, sizeof(ctok_piece))
    if pieces != NULL:
        ctok_pieces_fill(v, pieces)
    return pieces


cdef PyObject *fill_text(const ctok_vocab *v, PyObject **texts, uint32_t id) except? NULL:
    cdef ctok_token t = v.by_id[id]
    if t.flags & (CTOK_TOKEN_KNOWN | CTOK_TOKEN_UTF8 | CTOK_TOKEN_SPECIAL) != CTOK_TOKEN_KNOWN | CTOK_TOKEN_UTF8:
        return NULL
    text = PyUnicode_DecodeUTF8(<const char *>v.bytes + t.begin, t.len, NULL)
    Py_INCREF(text)
    return ctok_publish(texts + id, <PyObject *>text)


cdef class Stops:
    """Stop strings, compiled; see csrc/ctok_stops.h for which one wins."""

    def __cinit__(self, stop):
        texts = (stop,) if isinstance(stop, str) else tuple(stop)
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"stop must be a str or a collection of str, not of {type(text).__name__}")
            if not text:
                raise ValueError("a stop string must not be empty: it would match everywhere")
        self.texts = texts
        coded = [text.encode() for text in dict.fromkeys(texts)]
        self._compile(coded)
        # A stop with another one inside that ends earlier is never complete first; nothing may be held back for it.
        alive = [text for text in coded if self._is_first(text)]
        if len(alive) < len(coded):
            ctok_stops_free(&self.s)
            self._compile(alive)

    cdef int _compile(self, list coded) except -1:
        cdef bytes joined = b"".join(coded)
        cdef size_t i, n = len(coded)
        cdef uint32_t end = 0
        cdef uint32_t *ends = <uint32_t *>ctok_mem_alloc(n, sizeof(uint32_t))
        if ends == NULL:
            raise MemoryError("no memory for the stop strings")
        for i in range(n):
            end += <uint32_t>len(coded[i])
            ends[i] = end
        cdef ctok_status status = CTOK_ERR_FORMAT
        if len(joined) <= CTOK_STOPS_MAX_BYTES:
            status = ctok_stops_init(&self.s, joined, ends, n)
        ctok_mem_free(ends)
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory for the stop strings")
        if status != CTOK_OK:
            raise ValueError(f"the stop strings have more than {CTOK_STOPS_MAX_BYTES} bytes together")
        return 0

    cdef bint _is_first(self, bytes text) noexcept:
        cdef uint32_t state = 0
        cdef size_t hit = 0
        return ctok_stops_scan(&self.s, &state, text, len(text), &hit) == <size_t>len(text)

    def __dealloc__(self):
        ctok_stops_free(&self.s)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
