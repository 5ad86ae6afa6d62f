"""SentencePiece's BPE and char models: which symbols join, worked out from pieces and scores.

The rule: a text is its characters; always the neighbours join that together are the piece of the highest score, the leftmost of several,
until no two neighbours are a piece. That is a list of merges (mergelist.pyx) in which many are equally early: all those that give one
piece, and those of equal scores. What is said there holds here: it asks only that the leftmost of equally early ones goes first.

A char model is one in which nothing joins.

Two things are not here, and stand around this model where they are needed (resegment.pyx): user-defined pieces, which are cut out of the
text before; and symbols that are no ids: pieces out of use, and characters that are part of pieces without being one.
"""

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_lane cimport CTOK_LANE_RANKS
from ctok._native.c_mergelist cimport CTOK_PAIR_ANSWERS, ctok_pairmap_pieces, ctok_piece_ranks
from ctok._native.c_vocab cimport (
    CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_vocab, ctok_vocab_find)
from ctok._native.mergelist cimport UNKNOWN_TOKEN, Merges, char_size
from ctok._native.mergemodel cimport MergeModel, set_ops
from ctok._native.model cimport Table, seed_of
from ctok._native.octets cimport byte_of, octets_of, room_of
from ctok._native.safecut cimport cut_beside_pieces
from ctok._native.vocab cimport Vocab

from ..errors import SpecError
from ..spec import TokenTable

cdef enum:
    CODES = 1 << 21             # what four bytes of UTF-8 can say


@cython.no_gc_clear     # what it points into is freed after it
cdef class PieceBPE(MergeModel):
    """What merging gives for a text without user-defined pieces.

    Parameters
    ----------
    tokens, scores, types, unk_id, byte_fallback
        As in `stagespecs.sentencepiece.Pieces`.
    joins
        False: nothing joins, each character is a symbol.

    Attributes
    ----------
    symbols
        A `Vocab` of the symbols that are found by their text.
    plain
        Whether all symbols that are left after merging are ids, and no piece is user-defined: then nothing else is needed.

    Raises
    ------
    SpecError
        Ids that are not 0, 1, ...; scores that are not numbers; with `byte_fallback`, a byte without a piece.

    Notes
    -----
    Cost: about 4 ms for 32 000 pieces. Immutable: any number of threads may use it.
    """

    def __cinit__(self, tokens, scores, const uint8_t[::1] types, unk_id, bint byte_fallback=False, bint joins=True):
        cdef Merges *m = &self.m
        self.table = Table(tokens)
        self.types = types
        self.unk_id = unk_id
        check_pieces(self.table, types)
        if len(memoryview(scores).cast("B")) != 4 * self.table.n:
            raise SpecError(f"{self.table.n} pieces need as many scores")
        self._set_symbols(joins)
        m.vocab = &self.symbols.v
        m.plain = m.fuse_unk = m.shares_end = m.streams = True
        m.byte_fallback = byte_fallback
        m.room = 1
        m.unknown = UNKNOWN_TOKEN
        m.unk = unk_id
        self._set_units()
        set_byte_tokens(self.table, types, byte_fallback, m.byte_token)
        m.n_known = m.vocab.n_ids
        m.known = <uint8_t *>ctok_mem_zeroed(m.n_known, 1)
        m.neighbours = <uint64_t *>ctok_mem_zeroed(1 << CTOK_PAIR_ANSWERS, sizeof(uint64_t))
        m.first_pairs = <uint64_t *>ctok_mem_zeroed(1 << 16, sizeof(uint64_t))
        m.wide = m.n_known >= CTOK_LANE_RANKS
        if m.known == NULL or m.neighbours == NULL or m.first_pairs == NULL:
            raise MemoryError("no memory for the merges")
        self._set_pairs(memoryview(scores).cast("B").cast("f") if self.table.n else memoryview(bytes(4)).cast("f"))
        self.model = m
        set_ops(self)

    def safe_cut(self):
        """Return a `SafeCut`, which says where a text may be cut without changing an id: also one with user-defined pieces in it."""
        cdef Table t = self.table
        cdef uint8_t[::1] firm = bytearray(t.n + 1)
        cdef uint32_t k
        for k in range(t.n):
            firm[k] = self.types[t.ids[k]] in (NORMAL, USER_DEFINED)
        return cut_beside_pieces(t, &firm[0])

    def sample(self, pretoken, alpha, nbest_size=None, seed=None):
        """Return the ids of a pretoken of which merges are left out at random: BPE-dropout.

        Parameters
        ----------
        pretoken
            A str, or bytes holding UTF-8.
        alpha
            The probability with which a merge is left out: 0 gives what `encode` gives, 1 single characters.
        nbest_size
            Has no meaning here.
        seed
            An int: the same seed draws the same ids. None: unpredictable.

        Raises
        ------
        ValueError
            `alpha` is not between 0 and 1.

        Notes
        -----
        The first draw makes a tree of all pieces: about 4 ms and 2 MiB for 32 000 of them.
        """
        return draw(self, None, pretoken, alpha, seed)

    cdef _set_symbols(self, bint joins):
        """Find the symbols: pieces that a text can give, and the characters of these that are none themselves."""
        cdef Table t = self.table
        cdef bytes data = room_of(t.ends[t.n - 1] + 1 if t.n else 1), ends = room_of(4 * <size_t>t.n), ids = room_of(4 * <size_t>t.n)
        cdef uint8_t *single = <uint8_t *>ctok_mem_zeroed(CODES // 8, 1)
        cdef uint32_t n
        if single == NULL:
            raise MemoryError("no memory for the symbols")
        try:
            n = self._take_symbols(joins, octets_of(data), <uint32_t *>octets_of(ends), <uint32_t *>octets_of(ids), single)
            missing = missing_characters(octets_of(data), <const uint32_t *>octets_of(ends), n, single) if joins else None
        finally:
            ctok_mem_free(single)
        if missing:
            self.plain = False
            self.symbols = with_characters(data, ends, ids, n, sorted(missing), t.n)
        else:
            size = int.from_bytes(ends[4 * n - 4:4 * n], "little") if n else 0
            self.symbols = Vocab(memoryview(data)[:size], memoryview(ends)[:4 * n], memoryview(ids)[:4 * n], joins=False)

    cdef uint32_t _take_symbols(self, bint joins, uint8_t *data, uint32_t *ends, uint32_t *ids, uint8_t *single) noexcept:
        """Write the pieces that are symbols, and mark the characters among them; returns how many they are."""
        cdef Table t = self.table
        cdef const uint8_t *type_of = &self.types[0] if t.n else NULL
        cdef uint32_t k, n = 0, begin = 0, stop, run = 0, gone = 0
        cdef uint8_t kind
        cdef bint one
        self.plain = True
        for k in range(t.n):
            stop = t.ends[k]
            kind = type_of[t.ids[k]]
            one = stop > begin and char_size(t.data[begin]) >= stop - begin
            if kind == USER_DEFINED or (joins and kind == UNUSED):
                self.plain = False
            if (kind == NORMAL and (joins or one)) or (joins and kind == UNUSED):
                ends[n] = stop - gone
                ids[n] = t.ids[k]
                n += 1
                if one:
                    single[code_of(t.data + begin, stop - begin) >> 3] |= 1 << (code_of(t.data + begin, stop - begin) & 7)
            else:
                memcpy(data + (run - gone), t.data + run, begin - run)
                gone += stop - begin
                run = stop
            begin = stop
        memcpy(data + (run - gone), t.data + run, begin - run)
        return n

    cdef _set_units(self):
        """The symbols of ASCII characters."""
        cdef Merges *m = &self.m
        cdef uint8_t one
        cdef int b, place
        for b in range(256):
            one = <uint8_t>b
            for place in range(4):
                m.unit[place][b] = ctok_vocab_find(m.vocab, &one, 1) if b < 0x80 else CTOK_NO_ID

    cdef _set_pairs(self, const float[::1] scores):
        cdef const ctok_vocab *v = self.m.vocab
        cdef uint32_t n = self.table.n, k
        cdef float[::1] known = memoryview(bytearray(4 * n + 4)).cast("f")
        cdef uint32_t[::1] ranks = memoryview(bytearray(4 * n + 4)).cast("I")
        cdef uint8_t[::1] is_given = bytearray(n + 1)
        for k in range(v.n_tokens):
            if v.begin[k + 1] - v.begin[k] > char_size(v.bytes[v.begin[k]]):
                is_given[v.id_of[k]] = True
        known[0] = INFINITY
        for k in range(n):
            if is_given[k]:
                if scores[k] != scores[k]:
                    raise SpecError(f"the score of piece {k} is not a number")
                known[k] = scores[k]
            elif k:                                         # no merge gives it: what keeps scores in order is as good as any
                known[k] = known[k - 1]
        if ctok_piece_ranks(&known[0], n, &ranks[0]) != CTOK_OK or ctok_pairmap_pieces(&self.m.pairs, v, &ranks[0]) != CTOK_OK:
            raise MemoryError("no memory for the merges")
        self._set_first_pairs(ranks)

    cdef _set_first_pairs(self, const uint32_t[::1] ranks):
        """What two symbols of one byte each join to."""
        cdef Merges *m = &self.m
        cdef const ctok_vocab *v = m.vocab
        cdef const uint8_t *p
        cdef uint32_t k
        for k in range(v.n_tokens):
            p = v.bytes + v.begin[k]
            if v.begin[k + 1] - v.begin[k] == 2 and p[0] < 0x80 and p[1] < 0x80:
                m.first_pairs[<uint32_t>p[0] << 8 | p[1]] = (<uint64_t>ranks[v.id_of[k]] + 1) << 32 | v.id_of[k]


cdef object sample_dropping = None


cdef list draw(PieceBPE model, around, pretoken, alpha, seed):
    global sample_dropping
    if sample_dropping is None:                             # most tokenizers never need it
        from .piecedrop import sample as sample_dropping
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is {alpha!r}; it must be between 0 and 1")
    return sample_dropping(model, around, pretoken.encode() if isinstance(pretoken, str) else bytes(pretoken), alpha, seed_of(seed))


cdef inline uint32_t code_of(const uint8_t *p, size_t n) noexcept nogil:
    """A number for a character of n bytes, below CODES; different ones differ."""
    if n == 1:
        return p[0]
    if n == 2:
        return <uint32_t>(p[0] & 0x1F) << 6 | (p[1] & 0x3F)
    if n == 3:
        return <uint32_t>(p[0] & 0xF) << 12 | <uint32_t>(p[1] & 0x3F) << 6 | (p[2] & 0x3F)
    return <uint32_t>(p[0] & 0x7) << 18 | <uint32_t>(p[1] & 0x3F) << 12 | <uint32_t>(p[2] & 0x3F) << 6 | (p[3] & 0x3F)


cdef set missing_characters(const uint8_t *data, const uint32_t *ends, uint32_t n, const uint8_t *single):
    """The characters of n texts that are not among the single ones."""
    cdef uint32_t k, at = 0, code
    cdef size_t size
    found = set()
    for k in range(n):
        while at < ends[k]:
            size = min(char_size(data[at]), <size_t>(ends[k] - at))
            code = code_of(data + at, size)
            if not single[code >> 3] >> (code & 7) & 1:
                found.add((<const char *>data)[at:at + size])
            at += <uint32_t>size
    return found


cdef Vocab with_characters(bytes data, bytes ends, bytes ids, uint32_t n, list characters, uint32_t first_id):
    """A vocabulary of n texts and of characters, whose ids begin with `first_id`."""
    cdef const uint32_t *end_of = <const uint32_t *>octets_of(ends)
    cdef const uint32_t *id_of = <const uint32_t *>octets_of(ids)
    cdef uint32_t k
    texts = {character: first_id + i for i, character in enumerate(characters)}
    for k in range(n):
        texts[data[end_of[k - 1] if k else 0:end_of[k]]] = id_of[k]
    table = TokenTable.from_dict(texts)
    return Vocab(table.data, table.ends, table.ids, joins=False)


cdef check_pieces(Table t, const uint8_t[::1] types):
    cdef uint32_t k
    if types.shape[0] != t.n:
        raise SpecError(f"{t.n} pieces need as many types")
    for k in range(t.n):
        if t.ids[k] >= t.n:
            raise SpecError(f"the ids of {t.n} pieces are not 0 to {t.n - 1}")


cdef set_byte_tokens(Table t, const uint8_t[::1] types, bint needed, ctok_id *byte_token):
    cdef uint32_t k, begin = 0, end
    cdef int b
    for b in range(256):
        byte_token[b] = CTOK_NO_ID
    for k in range(t.n):
        end = t.ends[k]
        if types[t.ids[k]] == BYTE:
            b = byte_of(t.data + begin, end - begin)
            if b < 0:
                raise SpecError(f"{(<const char *>t.data)[begin:end].decode(errors='replace')!r} is no name of a byte")
            byte_token[b] = t.ids[k]
        begin = end
    for b in range(256):
        if needed and byte_token[b] == CTOK_NO_ID:
            raise SpecError(f"byte_fallback, but there is no piece for byte 0x{b:02X}")


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
