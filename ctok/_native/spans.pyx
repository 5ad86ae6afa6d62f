"""Which part of the decoded text each id stands for."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.c_chain cimport ctok_chain
from ctok._native.c_decoder cimport ctok_decoder, ctok_decoder_whole
from ctok._native.c_text cimport (
    CTOK_ERRORS_IGNORE, CTOK_PER_BYTE, CTOK_PER_RUN, ctok_text, ctok_text_free, ctok_text_init)
from ctok._native.c_utf8 cimport CTOK_UTF8_OPEN, ctok_utf8_step
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, CTOK_TOKEN_SPECIAL, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_token)
from ctok._native.detokenize cimport (
    DecodeFault, DecodeHow, check_decoded, decode_str, drop_lead, first_tokens, is_by_decoder, parse_how)
from ctok._native.readids cimport Ids, free_ids, read_ids
from ctok._native.tokenbytes cimport append_tokens, spoil_bad_runs, spoil_joints
from ctok._native.vocab cimport Vocab

cdef enum:
    STACK_IDS = 512
    UNIT_CHAR = 0
    UNIT_BYTE = 1
    UNIT_UTF16 = 2


# One piece of the decoded text: a character, or what stands for ill-formed bytes.
cdef struct Cell:
    size_t raw_begin, raw_end      # in the tokens' bytes
    size_t begin, end              # in the text, in the wanted unit
    bint exact                     # unit "byte" and well formed: places inside it are places in the text


cdef void _next_cell(const uint8_t *raw, size_t n, const DecodeHow *how, int unit, Cell *cell) noexcept nogil:
    cdef uint32_t c = 0
    cdef size_t step
    cell.raw_begin = cell.raw_end
    cell.begin = cell.end
    cell.exact = False
    if cell.raw_end >= n:
        return
    step = ctok_utf8_step(raw + cell.raw_end, n - cell.raw_end, &c)
    if c < CTOK_UTF8_OPEN:
        cell.exact = unit == UNIT_BYTE
        cell.end += step if unit == UNIT_BYTE else 1 + (unit == UNIT_UTF16 and c > 0xFFFF)
    else:
        if how.policy == CTOK_PER_BYTE:
            step = 1
        if how.errors != CTOK_ERRORS_IGNORE:
            cell.end += 3 if unit == UNIT_BYTE else 1
    cell.raw_end += step


cdef list _spans(const uint32_t *lens, size_t n_ids, const DecodeHow *how, const uint8_t *raw, size_t n, int unit):
    cdef list spans = [None] * <Py_ssize_t>n_ids
    cdef Cell cell
    cdef size_t i, at = 0, start, stop
    memset(&cell, 0, sizeof(cell))
    for i in range(n_ids):
        while cell.raw_end <= at and cell.raw_end < n:
            _next_cell(raw, n, how, unit, &cell)
        if at >= cell.raw_end:
            start = cell.end
        else:
            start = cell.begin + (at - cell.raw_begin if cell.exact else 0)
        stop = start
        at += lens[i]
        if lens[i]:
            while cell.raw_end < at:
                _next_cell(raw, n, how, unit, &cell)
            stop = cell.begin + at - cell.raw_begin if cell.exact else cell.end
        spans[i] = (start, stop)
    return spans


cdef int _parse_unit(str unit) except -1:
    if unit == "char":
        return UNIT_CHAR
    if unit == "byte":
        return UNIT_BYTE
    if unit == "utf16":
        return UNIT_UTF16
    raise ValueError(f"unit must be 'char', 'byte' or 'utf16', not {unit!r}")


cdef void _drop_lead(const ctok_chain *chain, ctok_text *raw, uint32_t *lens) noexcept:
    """Drop what the chain drops at the start of the text. A character there may be made of several ids."""
    cdef size_t gone = drop_lead(chain, raw), k, i = 0
    while gone:
        k = lens[i] if lens[i] < gone else gone
        lens[i] -= <uint32_t>k
        gone -= k
        i += 1


cdef int _plain_parts(Vocab vocab, const Ids *a, const DecodeHow *how, ctok_text *raw, uint32_t *lens, object ids) except -1:
    """The bytes of all ids, and how many each has."""
    cdef DecodeFault fault
    cdef uint32_t flags = 0
    cdef size_t i, used = 0, before
    cdef ctok_token t
    if vocab.view != NULL and first_tokens(&vocab.v, vocab.view, a.p, a.n, how.skip_special, raw, &flags, &used, lens) != CTOK_OK:
        check_decoded(CTOK_ERR_MEMORY, &fault, ids)
    before = raw.n
    check_decoded(append_tokens(&vocab.v, NULL, a.p + used, a.n - used, how.skip_special, raw, &flags, &fault.index), &fault, ids)
    if how.policy == CTOK_PER_RUN:
        spoil_bad_runs(&vocab.v, a.p + used, a.n - used, how.skip_special, raw.p + before)
    elif vocab.view != NULL and vocab.view.pieces != NULL:
        spoil_joints(&vocab.v, a.p + used, a.n - used, how.skip_special, raw.p + before)
    for i in range(used, a.n):
        t = vocab.v.by_id[a.p[i]]
        lens[i] = 0 if how.skip_special and t.flags & CTOK_TOKEN_SPECIAL else t.len
    if vocab.view != NULL and vocab.view.chain.lead:
        _drop_lead(vocab.view.chain, raw, lens)
    return 0


cdef int _chain_parts(Vocab vocab, const Ids *a, const DecodeHow *how, ctok_text *raw, uint32_t *lens, object ids) except -1:
    """The same where a chain does more: text, and how much of it was released by each id."""
    cdef ctok_decoder options
    cdef DecodeFault fault
    cdef size_t i
    memset(&options, 0, sizeof(options))
    options.errors = how.errors
    options.policy = how.policy
    options.skip_special = how.skip_special
    check_decoded(ctok_decoder_whole(&options, &vocab.v, vocab.view, a.p, a.n, raw, lens, &fault.index, &fault.position), &fault, ids)
    for i in range(a.n - 1, 0, -1):
        lens[i] -= lens[i - 1]
    return 0


cpdef tuple decode_spans(Vocab vocab, ids, bint skip_special, str errors, policy, str unit):
    """Return the text of the ids and, for each id, the half-open span of its text as (start, stop).

    Parameters
    ----------
    unit
        ``"char"``, ``"byte"`` (of the text's UTF-8) or ``"utf16"``.

    Notes
    -----
    An id whose bytes begin or end inside a character gets the whole character, except in bytes, where the place inside it is exact.
    What replaces ill-formed bytes belongs to every id that holds one of them. A skipped or ignored id has an empty span.
    """
    cdef uint32_t stack_ids[STACK_IDS]
    cdef ctok_text raw
    cdef Ids a
    cdef DecodeHow how
    cdef uint32_t *lens
    cdef int kind = _parse_unit(unit)
    parse_how(&how, vocab, skip_special, errors, policy)
    text = decode_str(vocab, ids, skip_special, errors, policy)
    ids = read_ids(ids, &a, stack_ids, STACK_IDS)
    ctok_text_init(&raw, NULL, 0)
    lens = <uint32_t *>ctok_mem_alloc(a.n, sizeof(uint32_t))
    try:
        if lens == NULL:
            raise MemoryError("no memory for the spans")
        if vocab.view != NULL and is_by_decoder(vocab.view):
            _chain_parts(vocab, &a, &how, &raw, lens, ids)
        else:
            _plain_parts(vocab, &a, &how, &raw, lens, ids)
        return text, _spans(lens, a.n, &how, raw.p, raw.n, kind)
    finally:
        ctok_mem_free(lens)
        ctok_text_free(&raw)
        free_ids(&a)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
