"""The bytes of many tokens, one behind the other, and what of them is text: the kernels of decoding that touch every id.

A block of ids at a time: look up each token and whether all of them are ASCII, or valid UTF-8 by themselves, and copy, always 16 bytes,
because most tokens are shorter and a copy of fixed size has no branch. Most tokens are whole characters, so most text is known to be
well formed without looking at it; only what tokens that cut a character leave between the others is validated.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from ctok._native.c_piece cimport CTOK_PIECE_FLAGS, CTOK_PIECE_LENGTH, CTOK_PIECE_SIZE, ctok_piece
from ctok._native.c_text cimport ctok_text, ctok_text_reserve
from ctok._native.c_utf8 cimport ctok_utf8_validate
from ctok._native.c_vocab cimport (
    CTOK_ERR_ID, CTOK_ERR_MEMORY, CTOK_OK, CTOK_TOKEN_ASCII, CTOK_TOKEN_KNOWN, CTOK_TOKEN_SPECIAL, CTOK_TOKEN_UTF8, ctok_mem_fail_after,
    ctok_status, ctok_token, ctok_vocab)

cdef extern from "ctok_base.h" nogil:
    void CTOK_PREFETCH(const void *p)

cdef enum:
    BLOCK = 256            # tokens looked up before they are copied
    AHEAD = 24             # tokens between fetching a place of the table of short tokens and reading it


cdef inline void _copy_token(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    memcpy(dst, src, 16)      # both sides have room: CTOK_TEXT_SPARE, CTOK_VOCAB_PAD
    if n > 16:
        memcpy(dst + 16, src + 16, n - 16)


cdef size_t first_unknown(const ctok_vocab *v, const uint32_t *ids, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if ids[i] >= v.n_ids or not v.by_id[ids[i]].flags & CTOK_TOKEN_KNOWN:
            return i
    return n


cdef void _close_run(Runs *runs, const ctok_text *out, size_t end) noexcept nogil:
    cdef size_t bad = 0
    if runs.open and ctok_utf8_validate(out.p + runs.begin, end - runs.begin, &bad) != CTOK_OK:
        runs.bad = True
    runs.open = False


cdef void _look_at_runs(const ctok_vocab *v, const ctok_piece *pieces, const uint32_t *ids, size_t m, bint skip_special, size_t at,
                        const ctok_text *out, Runs *runs) noexcept nogil:
    """Find the runs in a block of tokens that was copied to out.p + at."""
    cdef size_t k
    cdef uint32_t info, n, flags
    for k in range(m):
        info = pieces[ids[k]].info if pieces != NULL else 0
        if info:
            n = info & CTOK_PIECE_LENGTH
            flags = info >> CTOK_PIECE_FLAGS
        else:
            n = v.by_id[ids[k]].len
            flags = v.by_id[ids[k]].flags
            if skip_special and flags & CTOK_TOKEN_SPECIAL:
                continue
        if flags & CTOK_TOKEN_UTF8:
            _close_run(runs, out, at)
        elif not runs.open:
            runs.open = True
            runs.begin = at
        at += n


cdef void _copy(const ctok_vocab *v, const ctok_token *tokens, size_t m, ctok_text *out) noexcept nogil:
    cdef size_t k
    cdef uint8_t *dst = out.p + out.n
    for k in range(m):
        _copy_token(dst, v.bytes + tokens[k].begin, tokens[k].len)
        dst += tokens[k].len
    out.n = <size_t>(dst - out.p)


cdef bint _look_up(const ctok_vocab *v, const uint32_t *ids, size_t m, ctok_token *tokens, size_t *total, uint32_t *every,
                   uint32_t *some) noexcept nogil:
    """Find the tokens of a block: their bytes together, the flags all have and any has. False: some id is unknown."""
    cdef size_t k, sum_ = 0
    cdef uint32_t all_ = CTOK_TOKEN_KNOWN | CTOK_TOKEN_ASCII | CTOK_TOKEN_UTF8, any_ = 0
    cdef ctok_token t
    for k in range(m):
        if ids[k] >= v.n_ids:
            return False
        t = v.by_id[ids[k]]
        CTOK_PREFETCH(v.bytes + t.begin)
        tokens[k] = t
        sum_ += t.len
        all_ &= t.flags
        any_ |= t.flags
    total[0] = sum_
    every[0] = all_
    some[0] = any_
    return all_ & CTOK_TOKEN_KNOWN


cdef void _hide_special(ctok_token *tokens, size_t m, uint32_t *every) noexcept nogil:
    """Take the special tokens out of a block: they have no bytes then."""
    cdef size_t k
    cdef uint32_t all_ = CTOK_TOKEN_KNOWN | CTOK_TOKEN_ASCII | CTOK_TOKEN_UTF8
    for k in range(m):
        if tokens[k].flags & CTOK_TOKEN_SPECIAL:
            tokens[k].len = 0
        else:
            all_ &= tokens[k].flags
    every[0] = all_


cdef ctok_status _append_block(const ctok_vocab *v, const uint32_t *ids, size_t m, bint skip_special, ctok_text *out,
                               uint32_t *every) noexcept nogil:
    """Append at most BLOCK tokens."""
    cdef ctok_token tokens[BLOCK]
    cdef size_t total = 0
    cdef uint32_t some = 0
    if not _look_up(v, ids, m, tokens, &total, every, &some):
        return CTOK_ERR_ID
    if skip_special and some & CTOK_TOKEN_SPECIAL:
        _hide_special(tokens, m, every)
    if ctok_text_reserve(out, total) != CTOK_OK:
        return CTOK_ERR_MEMORY
    _copy(v, tokens, m, out)
    return CTOK_OK


cdef ctok_status _append_pieces(const ctok_vocab *v, const ctok_piece *pieces, const uint32_t *ids, size_t m, bint skip_special,
                                ctok_text *out, uint32_t *every) noexcept nogil:
    """As _append_block, in one pass over the table of short tokens."""
    cdef size_t k
    cdef uint32_t info, all_ = 0xFF, one = 0
    cdef uint8_t *dst
    cdef ctok_status status
    if ctok_text_reserve(out, m * CTOK_PIECE_SIZE) != CTOK_OK:
        return CTOK_ERR_MEMORY
    dst = out.p + out.n
    for k in range(m):
        if k + AHEAD < m and ids[k + AHEAD] < v.n_ids:
            CTOK_PREFETCH(&pieces[ids[k + AHEAD]])
        if ids[k] >= v.n_ids:
            return CTOK_ERR_ID
        info = pieces[ids[k]].info
        if info == 0:
            out.n = <size_t>(dst - out.p)
            status = _append_block(v, ids + k, 1, skip_special, out, &one)
            if status == CTOK_OK:
                status = ctok_text_reserve(out, (m - k) * CTOK_PIECE_SIZE)
            if status != CTOK_OK:
                return status
            dst = out.p + out.n
            info = one << CTOK_PIECE_FLAGS
        else:
            memcpy(dst, &pieces[ids[k]], CTOK_PIECE_SIZE)
            dst += info & CTOK_PIECE_LENGTH
        all_ &= info
    out.n = <size_t>(dst - out.p)
    every[0] = all_ >> CTOK_PIECE_FLAGS
    return CTOK_OK


cdef ctok_status append_runs(const ctok_vocab *v, const ctok_piece *pieces, const uint32_t *ids, size_t n, bint skip_special,
                             ctok_text *out, uint32_t *flags, Runs *runs, size_t *bad) noexcept nogil:
    cdef size_t i = 0, m, at, before = out.n
    cdef uint32_t every = 0
    cdef ctok_status status
    while i < n:
        m = n - i if n - i < BLOCK else BLOCK
        at = out.n
        if pieces != NULL:
            status = _append_pieces(v, pieces, ids + i, m, skip_special, out, &every)
        else:
            status = _append_block(v, ids + i, m, skip_special, out, &every)
        if status != CTOK_OK:
            bad[0] = i + first_unknown(v, ids + i, m)
            out.n = before
            return status
        if runs != NULL and (runs.open or not every & CTOK_TOKEN_UTF8):
            _look_at_runs(v, pieces, ids + i, m, skip_special, at, out, runs)
        flags[0] &= every
        i += m
    if runs != NULL:
        _close_run(runs, out, out.n)
    return CTOK_OK


cdef ctok_status append_tokens(const ctok_vocab *v, const ctok_piece *pieces, const uint32_t *ids, size_t n, bint skip_special,
                               ctok_text *out, uint32_t *flags, size_t *bad) noexcept nogil:
    return append_runs(v, pieces, ids, n, skip_special, out, flags, NULL, bad)


cdef size_t index_at(const ctok_vocab *v, const uint32_t *ids, size_t n, bint skip_special, size_t position) noexcept nogil:
    """The id that holds the byte at `position` of the decoded bytes."""
    cdef size_t i, end = 0
    cdef ctok_token t
    for i in range(n):
        t = v.by_id[ids[i]]
        if not (skip_special and t.flags & CTOK_TOKEN_SPECIAL):
            end += t.len
        if end > position:
            return i
    return n


cdef void _spoil_if_bad(uint8_t *run, size_t n) noexcept nogil:
    cdef size_t bad = 0
    if n and ctok_utf8_validate(run, n, &bad) != CTOK_OK:
        memset(run, 0xFF, n)


cdef void spoil_bad_runs(const ctok_vocab *v, const uint32_t *ids, size_t n, bint skip_special, uint8_t *raw) noexcept nogil:
    """Policy "hf_run": where a run of tokens that are no text by themselves is not well formed as a whole, make each of its bytes ill
    formed by itself."""
    cdef size_t i, at = 0, begin = 0
    cdef ctok_token t
    for i in range(n):
        t = v.by_id[ids[i]]
        if skip_special and t.flags & CTOK_TOKEN_SPECIAL:
            continue
        if t.flags & CTOK_TOKEN_UTF8:
            _spoil_if_bad(raw + begin, at - begin)
            begin = at + t.len
        at += t.len
    _spoil_if_bad(raw + begin, at - begin)


cdef void spoil_joints(const ctok_vocab *v, const uint32_t *ids, size_t n, bint skip_special, uint8_t *raw) noexcept nogil:
    """Between two runs may stand tokens without bytes: make what begins a run in the middle of a character ill formed by itself."""
    cdef size_t i, at = 0, k
    cdef bint begins = False
    cdef ctok_token t
    for i in range(n):
        t = v.by_id[ids[i]]
        if skip_special and t.flags & CTOK_TOKEN_SPECIAL:
            continue
        if t.flags & CTOK_TOKEN_UTF8:
            begins = True
        else:
            for k in range(t.len):
                begins = begins and raw[at + k] & 0xC0 == 0x80
                if begins:
                    raw[at + k] = 0xFF
        at += t.len


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
