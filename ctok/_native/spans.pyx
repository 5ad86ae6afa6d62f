"""Which part of the decoded text each id stands for."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.c_text cimport CTOK_ERRORS_IGNORE, CTOK_PER_BYTE, CTOK_PER_RUN, ctok_text, ctok_text_free, ctok_text_init
from ctok._native.c_utf8 cimport CTOK_UTF8_OPEN, ctok_utf8_step
from ctok._native.c_vocab cimport CTOK_TOKEN_SPECIAL, ctok_token, ctok_vocab
from ctok._native.detokenize cimport DecodeFault, DecodeHow, append_tokens, check_decoded, decode_str, parse_how, spoil_bad_runs
from ctok._native.readids cimport Ids, free_ids, read_ids
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


cdef list _spans(const ctok_vocab *v, const Ids *a, const DecodeHow *how, const uint8_t *raw, size_t n, int unit):
    cdef list spans = [None] * <Py_ssize_t>a.n
    cdef Cell cell
    cdef size_t i, at = 0, start, stop
    cdef ctok_token t
    memset(&cell, 0, sizeof(cell))
    for i in range(a.n):
        t = v.by_id[a.p[i]]
        if how.skip_special and t.flags & CTOK_TOKEN_SPECIAL:
            t.len = 0
        while cell.raw_end <= at and cell.raw_end < n:
            _next_cell(raw, n, how, unit, &cell)
        if at >= cell.raw_end:
            start = cell.end
        else:
            start = cell.begin + (at - cell.raw_begin if cell.exact else 0)
        stop = start
        at += t.len
        if t.len:
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
    cdef DecodeFault fault
    cdef uint32_t flags = 0
    cdef int kind = _parse_unit(unit)
    parse_how(&how, skip_special, errors, policy)
    ids = read_ids(ids, &a, stack_ids, STACK_IDS)
    ctok_text_init(&raw, NULL, 0)
    try:
        check_decoded(append_tokens(&vocab.v, NULL, a.p, a.n, skip_special, &raw, &flags, &fault.index), &fault, ids)
        if how.policy == CTOK_PER_RUN:
            spoil_bad_runs(&vocab.v, a.p, a.n, skip_special, raw.p)
        return decode_str(vocab, ids, skip_special, errors, policy), _spans(&vocab.v, &a, &how, raw.p, raw.n, kind)
    finally:
        ctok_text_free(&raw)
        free_ids(&a)
