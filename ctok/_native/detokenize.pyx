"""Whole lists of ids to bytes and to text: what stands at the start, ill-formed text, decoder chains.

The kernels run without the GIL on ids that were copied first, so nobody can change them meanwhile.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcmp, memcpy, memmove, memset

from ctok._native.c_chain cimport CTOK_TOKEN_BEFORE_FIRST, ctok_chain, ctok_view, ctok_view_token
from ctok._native.c_decoder cimport ctok_decoder, ctok_decoder_whole
from ctok._native.c_piece cimport ctok_piece
from ctok._native.c_text cimport (
    CTOK_ERRORS_IGNORE, CTOK_ERRORS_REPLACE, CTOK_ERRORS_STRICT, CTOK_PER_BYTE, CTOK_PER_RUN, CTOK_PER_SUBPART, ctok_on_error,
    ctok_text, ctok_text_free, ctok_text_init, ctok_text_mend, ctok_text_reserve)
from ctok._native.c_utf8 cimport (
    CTOK_UTF8_ASCII, CTOK_UTF8_BMP, CTOK_UTF8_LATIN1, ctok_utf8_class, ctok_utf8_measure, ctok_utf8_to_ucs1, ctok_utf8_to_ucs2,
    ctok_utf8_to_ucs4, ctok_utf8_validate)
from ctok._native.c_vocab cimport (
    CTOK_ERR_ID, CTOK_ERR_UTF8, CTOK_OK, CTOK_TOKEN_ASCII, CTOK_TOKEN_SPECIAL, CTOK_TOKEN_UTF8, ctok_mem_fail_after, ctok_status,
    ctok_vocab)
from ctok._native.readids cimport Ids, free_ids, read_ids
from ctok._native.texts cimport pieces_of
from ctok._native.tokenbytes cimport Runs, append_runs, append_tokens, first_unknown, index_at, spoil_bad_runs, spoil_joints
from ctok._native.vocab cimport Vocab

from operator import index as _as_index

from ..errors import DecodeError, UnknownIdError

cdef extern from "Python.h":
    ctypedef uint32_t Py_UCS4
    str PyUnicode_New(Py_ssize_t size, Py_UCS4 most)
    void *PyUnicode_DATA(object text)

cdef enum:
    STACK_IDS = 512
    STACK_TEXT = 8192
    MANY = 256             # ids from which a table of short tokens is worth making
    LARGE = 2048           # ids from which letting other threads run is worth its price


# ---- without the GIL ----

cdef ctok_status _mend(ctok_text *out, const DecodeHow *how) noexcept nogil:
    """Replace out by its well-formed form."""
    cdef ctok_text whole
    cdef size_t bad = 0
    cdef ctok_status status
    ctok_text_init(&whole, NULL, 0)
    status = ctok_text_reserve(&whole, out.n)
    if status == CTOK_OK:
        status = ctok_text_mend(&whole, out.p, out.n, <ctok_on_error>how.errors, how.policy == CTOK_PER_BYTE, &bad)
    if status != CTOK_OK:
        ctok_text_free(&whole)
        return status
    ctok_text_free(out)
    out[0] = whole
    return CTOK_OK


cdef size_t drop_lead(const ctok_chain *chain, ctok_text *out) noexcept nogil:
    cdef size_t gone = 0, left = chain.lead
    while left and out.n - gone >= chain.n_lead_char and memcmp(out.p + gone, chain.lead_char, chain.n_lead_char) == 0:
        gone += chain.n_lead_char
        left -= 1
    if gone:
        memmove(out.p, out.p + gone, out.n - gone)
        out.n -= gone
    return gone


cdef ctok_status first_tokens(const ctok_vocab *v, const ctok_view *view, const uint32_t *ids, size_t n, bint skip_special, ctok_text *out,
                              uint32_t *flags, size_t *used, uint32_t *lens) noexcept nogil:
    """Append the text of the tokens that are different at the start; the others are as in the table."""
    cdef size_t i = 0, before
    cdef uint32_t one = CTOK_TOKEN_BEFORE_FIRST
    cdef ctok_status status = CTOK_OK
    while view.chain.first_differs and i < n and one & CTOK_TOKEN_BEFORE_FIRST and first_unknown(v, ids + i, 1) == 1:
        before = out.n
        if not (skip_special and v.by_id[ids[i]].flags & CTOK_TOKEN_SPECIAL):
            status = ctok_view_token(view, ids[i], True, out, &one)
            if status != CTOK_OK:
                return status
            if view.chain.has_bytes and not one & CTOK_TOKEN_UTF8:        # a byte, which is the same everywhere
                out.n = before
                break
            flags[0] &= one
        if lens != NULL:
            lens[i] = <uint32_t>(out.n - before)
        i += 1
    used[0] = i
    return CTOK_OK


cdef bint is_by_decoder(const ctok_view *view) noexcept nogil:
    cdef const ctok_chain *chain = view.chain
    return not chain.plain or (chain.first_differs and view.pieces == NULL and (chain.has_bytes or chain.has_raw))


cdef ctok_status _chain_text(const ctok_vocab *v, const uint32_t *ids, size_t n, const DecodeHow *how, ctok_text *out, bint *ascii,
                             DecodeFault *fault) noexcept nogil:
    """The text by a chain. Where only the first token and the start of the text are different, all the rest is plain."""
    cdef const ctok_chain *chain = how.view.chain
    cdef ctok_decoder options
    cdef size_t after = 0
    cdef uint32_t flags = CTOK_TOKEN_ASCII
    cdef ctok_status status
    if is_by_decoder(how.view):
        memset(&options, 0, sizeof(options))
        options.errors = how.errors
        options.policy = CTOK_PER_SUBPART if how.errors == CTOK_ERRORS_STRICT else how.policy
        options.skip_special = how.skip_special
        return ctok_decoder_whole(&options, v, how.view, ids, n, out, NULL, &fault.index, &fault.position)
    status = first_tokens(v, how.view, ids, n, how.skip_special, out, &flags, &after, NULL)
    if status == CTOK_OK:
        status = _plain_text(v, ids + after, n - after, how, out, ascii, fault)
        fault.index += after
        ascii[0] = ascii[0] and flags & CTOK_TOKEN_ASCII
    if status == CTOK_OK and chain.lead:
        drop_lead(chain, out)
    return status


cdef ctok_status decode_text(const ctok_vocab *v, const uint32_t *ids, size_t n, const DecodeHow *how, ctok_text *out, bint *ascii,
                             DecodeFault *fault) noexcept nogil:
    if how.view != NULL:
        return _chain_text(v, ids, n, how, out, ascii, fault)
    return _plain_text(v, ids, n, how, out, ascii, fault)


cdef ctok_status _plain_text(const ctok_vocab *v, const uint32_t *ids, size_t n, const DecodeHow *how, ctok_text *out, bint *ascii,
                             DecodeFault *fault) noexcept nogil:
    cdef uint32_t flags = CTOK_TOKEN_ASCII
    cdef Runs runs
    cdef size_t before = out.n
    cdef ctok_status status
    memset(&runs, 0, sizeof(runs))
    status = append_runs(v, how.pieces, ids, n, how.skip_special, out, &flags, &runs, &fault.index)
    ascii[0] = flags & CTOK_TOKEN_ASCII
    if status != CTOK_OK or not runs.bad:
        return status
    if how.policy == CTOK_PER_RUN and how.errors != CTOK_ERRORS_STRICT:
        spoil_bad_runs(v, ids, n, how.skip_special, out.p + before)
    elif how.view != NULL and how.view.pieces != NULL:
        spoil_joints(v, ids, n, how.skip_special, out.p + before)
    if how.errors == CTOK_ERRORS_STRICT:
        ctok_utf8_validate(out.p, out.n, &fault.position)
        fault.index = index_at(v, ids, n, how.skip_special, fault.position - before)
        return CTOK_ERR_UTF8
    return _mend(out, how)


# ---- with the GIL ----

cdef int parse_how(DecodeHow *how, Vocab vocab, bint skip_special, errors, policy) except -1:
    how.view = vocab.view
    how.pieces = NULL
    how.skip_special = skip_special
    if errors == "replace":
        how.errors = CTOK_ERRORS_REPLACE
    elif errors == "strict":
        how.errors = CTOK_ERRORS_STRICT
    elif errors == "ignore":
        how.errors = CTOK_ERRORS_IGNORE
    else:
        raise ValueError(f"errors must be 'replace', 'strict' or 'ignore', not {errors!r}")
    if policy is None:
        how.policy = CTOK_PER_SUBPART
        if how.view != NULL and how.view.chain.any_bytes:
            how.policy = CTOK_PER_RUN if how.view.pieces == NULL else CTOK_PER_BYTE
    elif policy == "maximal_subpart":
        how.policy = CTOK_PER_SUBPART
    elif policy == "per_byte":
        how.policy = CTOK_PER_BYTE
    elif policy == "hf_run":
        how.policy = CTOK_PER_RUN
    else:
        raise ValueError(f"utf8_policy must be None, 'maximal_subpart', 'per_byte' or 'hf_run', not {policy!r}")
    return 0


cdef void drop_unknown(const ctok_vocab *v, Ids *a) noexcept nogil:
    cdef size_t i, n = 0
    for i in range(a.n):
        a.p[n] = a.p[i]
        n += first_unknown(v, a.p + i, 1)
    a.n = n


cdef const ctok_piece *pieces_for(Vocab vocab, size_t n):
    return pieces_of(vocab, n >= MANY)


cdef int check_decoded(ctok_status status, const DecodeFault *fault, object looked_up) except -1:
    if status == CTOK_OK:
        return 0
    if status == CTOK_ERR_ID:
        value = looked_up[fault.index]
        raise UnknownIdError(f"id {value} at index {fault.index} is not in the vocabulary", id=_as_index(value), index=fault.index)
    if status == CTOK_ERR_UTF8:
        raise DecodeError(
            f"the ids do not decode to UTF-8: byte {fault.position}, in the id at index {fault.index}, is not valid "
            "(errors='replace' gives U+FFFD instead)", position=fault.position, index=fault.index)
    raise MemoryError("no memory for the decoded text")


cdef str str_of(const uint8_t *p, size_t n, bint ascii):
    """A str of well-formed UTF-8."""
    cdef size_t n_chars = n
    cdef ctok_utf8_class size = CTOK_UTF8_ASCII
    cdef str text
    if not ascii:
        size = ctok_utf8_measure(p, n, &n_chars)
    if size == CTOK_UTF8_ASCII:
        text = PyUnicode_New(n, 127)
        if n:
            memcpy(PyUnicode_DATA(text), p, n)
    elif size == CTOK_UTF8_LATIN1:
        text = PyUnicode_New(n_chars, 0xFF)
        ctok_utf8_to_ucs1(p, n, <uint8_t *>PyUnicode_DATA(text))
    elif size == CTOK_UTF8_BMP:
        text = PyUnicode_New(n_chars, 0xFFFF)
        ctok_utf8_to_ucs2(p, n, <uint16_t *>PyUnicode_DATA(text))
    else:
        text = PyUnicode_New(n_chars, 0x10FFFF)
        ctok_utf8_to_ucs4(p, n, <uint32_t *>PyUnicode_DATA(text))
    return text


cpdef bytes decode_bytes(Vocab vocab, ids, bint skip_special):
    """Return the bytes of the tokens, one behind the other; see `Tokenizer.decode_bytes`."""
    cdef uint32_t stack_ids[STACK_IDS]
    cdef uint8_t stack_text[STACK_TEXT]
    cdef ctok_text out
    cdef Ids a
    cdef uint32_t flags = 0
    cdef ctok_status status
    cdef DecodeFault fault
    cdef const ctok_piece *pieces
    cdef size_t used = 0
    if vocab.view != NULL and (vocab.view.chain.first_differs and vocab.view.pieces == NULL or not vocab.view.chain.plain):
        return decode_str(vocab, ids, skip_special, "replace", None).encode()
    looked_up = read_ids(ids, &a, stack_ids, STACK_IDS)
    pieces = pieces_for(vocab, a.n)
    ctok_text_init(&out, stack_text, STACK_TEXT)
    try:
        if vocab.view != NULL and first_tokens(&vocab.v, vocab.view, a.p, a.n, skip_special, &out, &flags, &used, NULL) != CTOK_OK:
            raise MemoryError("no memory for the decoded text")
        if a.n >= LARGE:
            with nogil:
                status = append_tokens(&vocab.v, pieces, a.p + used, a.n - used, skip_special, &out, &flags, &fault.index)
        else:
            status = append_tokens(&vocab.v, pieces, a.p + used, a.n - used, skip_special, &out, &flags, &fault.index)
        fault.index += used
        check_decoded(status, &fault, looked_up)
        if vocab.view != NULL:
            drop_lead(vocab.view.chain, &out)
        return PyBytes_FromStringAndSize(<const char *>out.p, out.n)
    finally:
        ctok_text_free(&out)
        free_ids(&a)


cpdef str decode_str(Vocab vocab, ids, bint skip_special, str errors, policy, bint skip_unknown=False):
    """Return the text of the ids; see `Tokenizer.decode`."""
    cdef uint32_t stack_ids[STACK_IDS]
    cdef uint8_t stack_text[STACK_TEXT]
    cdef ctok_text out
    cdef Ids a
    cdef DecodeHow how
    cdef DecodeFault fault
    cdef ctok_status status
    cdef bint ascii = False
    parse_how(&how, vocab, skip_special, errors, policy)
    looked_up = read_ids(ids, &a, stack_ids, STACK_IDS)
    if skip_unknown:
        drop_unknown(&vocab.v, &a)
    how.pieces = pieces_for(vocab, a.n)
    ctok_text_init(&out, stack_text, STACK_TEXT)
    try:
        if a.n >= LARGE:
            with nogil:
                status = decode_text(&vocab.v, a.p, a.n, &how, &out, &ascii, &fault)
        else:
            status = decode_text(&vocab.v, a.p, a.n, &how, &out, &ascii, &fault)
        check_decoded(status, &fault, looked_up)
        return str_of(out.p, out.n, ascii)
    finally:
        ctok_text_free(&out)
        free_ids(&a)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
