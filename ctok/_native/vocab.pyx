"""The vocabulary as an object: one block of C tables, immutable, shared by every kernel and thread.

Built from tokens in byte order (`spec.TokenTable`). The engine's other rooms cimport `Vocab` and read ``vocab.v`` (csrc/ctok_vocab.h).
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, CTOK_TOKEN_KNOWN, CTOK_TOKEN_SPECIAL, ctok_id, ctok_mem_fail_after,
    ctok_status, ctok_token, ctok_vocab_find, ctok_vocab_free, ctok_vocab_init,
    ctok_vocab_join)

from ..errors import SpecError, UnknownIdError

cdef extern from "ctok_vocab_shown.h" nogil:
    """
    #define ctok_vocab_hides(v) ((v)->has_hidden & CTOK_VOCAB_HIDES)
    """
    bint ctok_vocab_hides(const ctok_vocab *v)
    ctok_status ctok_vocab_init_shown(ctok_vocab *v, const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens,
                                      const uint8_t *extra, const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra,
                                      uint32_t *bad)


cdef class Vocab:
    """Tokens and their ids, both ways.

    Parameters
    ----------
    data, ends, ids
        The ordinary tokens in ascending byte order: their bytes one behind the other, the cumulative end offsets and the ids, the latter
        two as little-endian uint32 buffers.
    special_tokens
        Pairs (text, id) in declaration order. Two texts may share an id: the first is what it decodes to. ``(text, id, False)`` is an
        added token that is not special: `skip_special_tokens` does not leave it out.
    splits
        As in `spec.TokenTable`; empty: found out here.
    joins
        Whether pretokens are to be merged by rank; without it the splits are not needed, and not found out.
    doubles
        Whether ordinary tokens may share an id; the last of them in byte order is what it decodes to.
    shown
        Whether ids are mostly asked for their tokens: then there are no joins, `find` searches, and less time and memory is taken.

    Raises
    ------
    SpecError
        Tokens out of order or repeated, an id twice (without `doubles`), an empty special token, splits that do not belong to the tokens.

    Notes
    -----
    Cost: linear in the bytes; about 5 ms for 200 000 tokens. Immutable: any number of threads may use it.
    """

    def __cinit__(self, const uint8_t[::1] data, ends, ids, special_tokens=(), const uint8_t[::1] splits=b"", bint joins=True,
                  bint doubles=False, bint shown=False):
        cdef const uint32_t[::1] end_view = memoryview(ends).cast("B").cast("I")
        cdef const uint32_t[::1] id_view = memoryview(ids).cast("B").cast("I")
        cdef uint32_t n = <uint32_t>end_view.shape[0], bad = 0
        cdef ctok_status status
        if id_view.shape[0] != n or (n and end_view[n - 1] > data.shape[0]):
            raise SpecError("token table: data, ends and ids do not belong together")
        self.special_tokens = tuple(special_tokens)
        extra, extra_ends, extra_ids = bytearray(), [], []
        for token in self.special_tokens:
            if not token[0]:
                raise SpecError(f"special token {token[1]} is empty; an empty text would match everywhere")
            extra += token[0].encode()
            extra_ends.append(len(extra))
            extra_ids.append(token[1])
        cdef const uint8_t[::1] extra_view = bytes(extra) or b"\0"
        cdef const uint32_t[::1] extra_end_view = _uint32s(extra_ends)
        cdef const uint32_t[::1] extra_id_view = _uint32s(extra_ids)
        status = (ctok_vocab_init_shown if shown else ctok_vocab_init)(
            &self.v, &data[0] if data.shape[0] else NULL, &end_view[0] if n else NULL, &id_view[0] if n else NULL, n,
            &extra_view[0], &extra_end_view[0], &extra_id_view[0], <uint32_t>len(extra_ends), &bad)
        if status == CTOK_OK and joins and not shown:
            bad = <uint32_t>splits.shape[0]
            status = CTOK_ERR_FORMAT if bad and bad != n else ctok_vocab_join(&self.v, &splits[0] if bad else NULL)
            if status == CTOK_ERR_FORMAT:
                raise SpecError("token table: its splits do not cut its tokens in two tokens each")
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory for the vocabulary")
        if status != CTOK_OK:
            raise SpecError(f"token table: entry {bad} is out of byte order, repeated, or its id is too large")
        if not doubles and self.doubled is not None:
            raise SpecError(f"token table: id {self.doubled} is used twice")
        for token in reversed(self.special_tokens):         # of two texts with one id the first counts
            if token[2:] == (False,):
                self.v.by_id[<uint32_t>token[1]].flags &= ~CTOK_TOKEN_SPECIAL
            else:
                self.v.by_id[<uint32_t>token[1]].flags |= CTOK_TOKEN_SPECIAL

    def __dealloc__(self):
        ctok_vocab_free(&self.v)

    def __len__(self):
        return self.v.n_ids

    @property
    def n_tokens(self):
        """Number of ordinary tokens."""
        return self.v.n_tokens

    @property
    def longest(self):
        """Bytes of the longest ordinary token."""
        return self.v.longest

    @property
    def doubled(self):
        """An id that ordinary tokens share, or None."""
        if not ctok_vocab_hides(&self.v):
            return None
        cdef uint8_t[::1] seen = bytearray(self.v.n_ids)
        cdef uint32_t k
        for k in range(self.v.n_tokens):
            if seen[self.v.id_of[k]]:
                return self.v.id_of[k]
            seen[self.v.id_of[k]] = 1
        return None

    @property
    def fingerprint(self):
        """Eight bytes that differ between vocabularies: a digest of tokens, ids and special tokens. Computed once, about 2 ms."""
        if self._fingerprint is None:
            from hashlib import blake2b
            digest = blake2b(digest_size=8)
            digest.update(PyBytes_FromStringAndSize(<const char *>self.v.bytes, self.v.n_bytes))
            digest.update(PyBytes_FromStringAndSize(<const char *>self.v.begin, (self.v.n_tokens + 1) * sizeof(uint32_t)))
            digest.update(PyBytes_FromStringAndSize(<const char *>self.v.id_of, self.v.n_tokens * sizeof(uint32_t)))
            digest.update(repr(self.special_tokens).encode())
            self._fingerprint = digest.digest()
        return self._fingerprint

    def find(self, const uint8_t[::1] token):
        """Return the id of the ordinary token with these bytes, or None."""
        cdef ctok_id found = CTOK_NO_ID
        if token.shape[0]:
            found = ctok_vocab_find(&self.v, &token[0], token.shape[0])
        return None if found == CTOK_NO_ID else found

    def token(self, token_id):
        """Return the bytes of a token; raises `UnknownIdError` for a gap, a negative or a too large id."""
        if not 0 <= token_id < self.v.n_ids or not self.v.by_id[<uint32_t>token_id].flags & CTOK_TOKEN_KNOWN:
            raise UnknownIdError(f"id {token_id} is not in the vocabulary", id=token_id)
        cdef ctok_token t = self.v.by_id[<uint32_t>token_id]
        return PyBytes_FromStringAndSize(<const char *>self.v.bytes + t.begin, t.len)

    def is_special(self, token_id):
        """Return whether the id exists and is that of a special token."""
        return 0 <= token_id < self.v.n_ids and bool(self.v.by_id[<uint32_t>token_id].flags & CTOK_TOKEN_SPECIAL)


cdef const uint32_t[::1] _uint32s(list numbers):
    for number in numbers:
        if not 0 <= number < 1 << 31:
            raise SpecError(f"special token id {number} is not between 0 and 2**31 - 1")
    return memoryview(b"".join([int(number).to_bytes(4, "little") for number in numbers]) or bytes(4)).cast("I")


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
