"""The byte-pair model with a list of merges as an object, and what tests call."""

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ctok._native.bpelanes cimport MergeTask
from ctok._native.c_lane cimport CTOK_LANE_RANKS
from ctok._native.c_merge cimport ctok_ids, ctok_ids_free
from ctok._native.c_mergelist cimport (
    CTOK_PAIR_ANSWERS, ctok_bytelevel_table, ctok_pair, ctok_pairmap_find, ctok_pairmap_free, ctok_pairmap_init)
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_listed_free, ctok_listed_init, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free,
    ctok_mem_zeroed, ctok_status, ctok_vocab, ctok_vocab_find, ctok_vocab_join_listed)
from ctok._native.files cimport Block, filled
from ctok._native.mergelanes cimport LIST_LANES, ListLane, merges_encode_many
from ctok._native.mergelist cimport (
    AFFIXES, UNKNOWN_DROPPED, UNKNOWN_REFUSED, UNKNOWN_TOKEN, ListScratch, Merges, list_scratch_free, list_scratch_new, merges_encode,
    spelled)
from ctok._native.mergeopen cimport (
    merges_open_copy, merges_open_end, merges_open_feed, merges_open_free, merges_open_load, merges_open_new, merges_open_save,
    merges_open_waits)
from ctok._native.model cimport Model, failure, numbers, seed_of
from ctok._native.safecut cimport SafeCut
from ctok._native.vocab cimport Vocab

from time import thread_time

from ..errors import EncodeError, SpecError, UnknownIdError


@cython.no_gc_clear     # what it points into is freed after it
cdef class MergeModel(Model):
    """What all byte-pair models are that join pairs of symbols: the parts that kernels read."""

    def __dealloc__(self):
        ctok_pairmap_free(&self.m.pairs)
        ctok_mem_free(self.m.known)
        ctok_mem_free(self.m.neighbours)
        ctok_mem_free(self.m.first_pairs)
        ctok_mem_free(self.m.crossing)
        ctok_listed_free(&self.m.listed)

    @property
    def streams(self):
        """Whether ids of an open pretoken can leave before it ends."""
        return self.m.streams


@cython.no_gc_clear
cdef class MergeList(MergeModel):
    """A byte-pair model with a list of merges.

    Parameters
    ----------
    tokens
        A `spec.TokenTable` of texts in UTF-8, as the file spells them.
    merges
        Little-endian uint32: left id and right id of each merge in turn, earliest first.
    unk_token, continuing_subword_prefix, end_of_word_suffix, fuse_unk, byte_fallback, ignore_merges, dropout
        As in `spec.BPE`.
    byte_level
        The tokens are spelled in the alphabet of visible characters that byte-level files use, and pretokens are the bytes themselves.
    added
        Added tokens, as `Vocab` takes special tokens; they only stand in `vocab`.
    joined, by_bytes, used
        As in `spec.BPE`.

    Attributes
    ----------
    vocab
        The tokens by what pretokens hold. Of a byte-level model: those that spell no bytes are in it like added tokens.

    Raises
    ------
    SpecError
        A merge names an id without a token, or gives a text that is no token; `dropout` is not between 0 and 1; prefix and suffix are
        longer than 255 bytes together; a text occurs twice.

    Notes
    -----
    Cost: about 8 ms for 280 000 merges, twice that without `joined`. Immutable: any number of threads may use it.
    """

    def __cinit__(self, tokens, merges, unk_token=None, continuing_subword_prefix=None, end_of_word_suffix=None, fuse_unk=False,
                  byte_fallback=False, ignore_merges=False, dropout=None, byte_level=False, added=(), joined=b"", by_bytes=b"",
                  used=b""):
        cdef Merges *m = &self.m
        cdef Vocab pieces
        if byte_level:
            self.vocab = spelled_out(tokens, tuple(added), by_bytes)
        else:
            self.vocab = Vocab(tokens.data, tokens.ends, tokens.ids, added, joins=False, doubles=True)
        m.vocab = &self.vocab.v
        m.byte_level, m.fuse_unk, m.byte_fallback, m.ignore_merges = byte_level, fuse_unk, byte_fallback, ignore_merges
        if dropout is not None and not 0 <= dropout <= 1:
            raise SpecError(f"dropout must be between 0 and 1, got {dropout!r}")
        m.dropout = 0 if dropout is None else dropout
        self._set_affixes((continuing_subword_prefix or "").encode(), (end_of_word_suffix or "").encode())
        self._merges, self._joined = merges, joined
        if byte_level and m.plain and joined and m.dropout <= 0 and self.vocab.doubled is None:
            self._set_ranked(used)
        # The texts as the file spells them are needed only where bytes do not say the same.
        if not byte_level or (m.plain and joined and spells_itself(unk_token) and (
                m.ranked != NULL or self._set_pairs(self.vocab, merges, joined))):
            pieces = self.vocab
        else:
            pieces = Vocab(tokens.data, tokens.ends, tokens.ids, joins=False, doubles=True)
        self._set_units(pieces)
        m.unknown = UNKNOWN_DROPPED
        if unk_token is not None:
            unk = pieces.find(unk_token.encode()) if unk_token else empty_token(pieces)
            m.unknown = UNKNOWN_REFUSED if unk is None else UNKNOWN_TOKEN
            m.unk = CTOK_NO_ID if unk is None else unk
            self.unk_id = unk
        if m.ranked == NULL and m.pairs.slots == NULL and not (joined and self._set_pairs(pieces, merges, joined)):
            self._set_pairs(pieces, merges, b"")
        m.n_known = len(pieces)
        m.known = <uint8_t *>ctok_mem_zeroed(m.n_known, 1)
        m.neighbours = <uint64_t *>ctok_mem_zeroed(1 << CTOK_PAIR_ANSWERS, sizeof(uint64_t))
        m.wide = len(merges) // 8 >= CTOK_LANE_RANKS
        if m.known == NULL or m.neighbours == NULL:
            raise MemoryError("no memory for the merges")
        if self.vocab.doubled is not None:
            m.pairs.hollow = 1      # by its id a token does not say how long it is, either
        if m.ranked == NULL:
            self._set_tables()
        elif not m.ignore_merges:
            self._set_listed()
        m.streams = m.plain and m.dropout <= 0 and not m.pairs.hollow and not self._joins_unknown()
        self.model = m
        set_ops(self)

    def __dealloc__(self):
        if self.m.ranked != NULL:
            self.vocab.v.listed = NULL      # the vocabulary, which is still there, may live on

    @property
    def is_ranked(self):
        """Whether the list is a rule by rank (csrc/ctok_listed.h), so that whole pretokens are merged by the smaller table of that one."""
        return self.m.ranked != NULL

    def safe_cut(self):
        """Return a `SafeCut`, which says where a pretoken may be cut without changing an id; None if no place can be told.

        Needed where a file has no pre-tokenizer and a whole text is one pretoken. There is none with `ignore_merges` (a whole pretoken may
        be a token), with dropout, with a prefix or suffix, or where an unknown character may be joined with others.
        """
        if not self.m.streams or self.m.ignore_merges:
            return None
        return SafeCut(self.vocab, self._merges, self.m.byte_level)

    def sample(self, pretoken, alpha, nbest_size=None, seed=None):
        """Return the ids of a pretoken of which merges are left out at random: BPE-dropout.

        Parameters
        ----------
        pretoken
            A str, or bytes: UTF-8, or of a byte-level model any.
        alpha
            The probability with which a merge is left out, in the place of the model's own `dropout`: 0 leaves out none, 1 all.
        nbest_size
            Has no meaning here.
        seed
            An int: the same seed draws the same ids. None: unpredictable.

        Raises
        ------
        ValueError
            `alpha` is not between 0 and 1.
        EncodeError
            As `encode`.

        Notes
        -----
        What is left out may be merged after the next merge elsewhere, as the `tokenizers` library has it. Unless `alpha` is 0, a pretoken
        that is a token is no exception, whatever `ignore_merges` says.
        """
        cdef Merges m
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha is {alpha!r}; as a probability it must be between 0 and 1")
        if alpha > 0 and self.m.ranked != NULL:             # where merges are left out, several that give one token can be there
            self._need_pairs()
        m = self.m
        m.dropout = alpha
        data = pretoken.encode() if isinstance(pretoken, str) else bytes(pretoken)
        return draw(&m, data, seed_of(seed))

    cdef _set_affixes(self, bytes prefix, bytes suffix):
        cdef Merges *m = &self.m
        if len(prefix) + len(suffix) > AFFIXES:
            raise SpecError(f"continuing_subword_prefix and end_of_word_suffix have more than {AFFIXES} bytes together")
        m.n_prefix, m.n_suffix = len(prefix), len(suffix)
        memcpy(m.prefix, <const uint8_t *>prefix, m.n_prefix)
        memcpy(m.suffix, <const uint8_t *>suffix, m.n_suffix)
        m.plain = m.n_prefix + m.n_suffix == 0
        m.room = 1
        if m.byte_fallback:
            m.room = <uint32_t>((2 if m.byte_level else 1) + m.n_prefix + m.n_suffix)

    cdef _set_units(self, Vocab pieces):
        cdef Merges *m = &self.m
        cdef uint8_t text[AFFIXES + 8]
        cdef uint8_t one
        cdef size_t n
        cdef int b, place
        for b in range(256):
            one = <uint8_t>b
            name = f"<0x{b:02X}>".encode()
            n = len(name)
            m.byte_token[b] = ctok_vocab_find(&pieces.v, <const uint8_t *>name, n)
            for place in range(4):
                m.unit[place][b] = CTOK_NO_ID
                if m.byte_level and pieces is self.vocab:
                    m.unit[place][b] = ctok_vocab_find(&pieces.v, &one, 1)
                elif m.byte_level or b < 0x80:
                    n = spelled(m, &one, 1, place, text)
                    m.unit[place][b] = ctok_vocab_find(&pieces.v, text, n)

    cdef _set_first_pairs(self):
        """What two symbols of one byte each join to."""
        cdef Merges *m = &self.m
        cdef const uint32_t[::1] pairs = memoryview(self._merges).cast("B").cast("I")
        cdef uint16_t[::1] byte_of = memoryview(bytearray(2 * m.n_known + 2)).cast("H")
        cdef const ctok_pair *found
        cdef Py_ssize_t i
        for i in range(256):
            if m.unit[0][i] != CTOK_NO_ID:
                byte_of[m.unit[0][i]] = <uint16_t>(i + 1)
        for i in range(pairs.shape[0] // 2):
            if byte_of[pairs[2 * i]] and byte_of[pairs[2 * i + 1]]:
                found = ctok_pairmap_find(&m.pairs, pairs[2 * i], pairs[2 * i + 1])
                m.first_pairs[(byte_of[pairs[2 * i]] - 1) << 8 | (byte_of[pairs[2 * i + 1]] - 1)] = (
                    (<uint64_t>found.rank + 1) << 32 | found.joined)

    cdef _set_crossing(self):
        """The lowest rank of all merges across a border, by the bytes on its two sides: last of the left part, first of the right."""
        cdef Merges *m = &self.m
        cdef const ctok_vocab *v = m.vocab
        cdef const uint32_t[::1] pairs = memoryview(self._merges).cast("B").cast("I")
        cdef uint8_t[::1] first = bytearray(v.n_ids + 1), last = bytearray(v.n_ids + 1)
        cdef uint32_t border, k
        cdef size_t i
        for k in range(v.n_tokens):
            if v.begin[k] < v.begin[k + 1]:
                first[v.id_of[k]] = v.bytes[v.begin[k]]
                last[v.id_of[k]] = v.bytes[v.begin[k + 1] - 1]
        memset(m.crossing, 0xFF, (1 << 16) * sizeof(uint32_t))
        i = pairs.shape[0] // 2
        while i:                                            # so that the lowest one is written last
            i -= 1
            if pairs[2 * i] < v.n_ids and pairs[2 * i + 1] < v.n_ids:
                border = <uint32_t>last[pairs[2 * i]] << 8 | first[pairs[2 * i + 1]]
                m.crossing[border] = <uint32_t>i

    cdef _set_ranked(self, used):
        """Make the table of a rule by rank, if the list is one."""
        cdef ctok_vocab *v = &self.vocab.v
        cdef const uint32_t[::1] pairs = memoryview(self._merges).cast("B").cast("I")
        cdef const uint32_t[::1] joined = memoryview(self._joined).cast("B").cast("I")
        cdef const uint8_t[::1] lasts = memoryview(used).cast("B")
        if pairs.shape[0] != 2 * joined.shape[0] or (lasts.shape[0] and lasts.shape[0] != (joined.shape[0] + 7) // 8):
            return
        if ctok_vocab_join_listed(v, &pairs[0], &joined[0], joined.shape[0], &lasts[0] if lasts.shape[0] else NULL) != CTOK_OK:
            raise MemoryError("no memory for the merges")
        if v.joins.slots != NULL:
            self.m.ranked = v

    cdef _set_listed(self):
        """Note how tokens come about, which are not their own encodings only because they are tokens."""
        cdef ctok_vocab *v = &self.vocab.v
        cdef const uint32_t[::1] pairs = memoryview(self._merges).cast("B").cast("I")
        cdef const uint32_t[::1] joined = memoryview(self._joined).cast("B").cast("I")
        if ctok_listed_init(&self.m.listed, v, &pairs[0], &joined[0], joined.shape[0], self.m.known) != CTOK_OK:
            raise MemoryError("no memory for the merges")
        v.listed = &self.m.listed

    cdef _need_pairs(self):
        """Make the table of merges that a ranked list does without."""
        with cython.critical_section(self):
            if self.m.pairs.slots == NULL and not self._set_pairs(self.vocab, self._merges, self._joined):
                self._set_pairs(self.vocab, self._merges, b"")

    cdef _set_tables(self):
        """What lanes of a list that is no rule by rank read besides: tables by two bytes."""
        cdef Merges *m = &self.m
        m.first_pairs = <uint64_t *>ctok_mem_zeroed(1 << 16, sizeof(uint64_t))
        m.crossing = <uint32_t *>ctok_mem_alloc(1 << 16, sizeof(uint32_t)) if m.byte_level else NULL
        if m.first_pairs == NULL or (m.byte_level and m.crossing == NULL):
            raise MemoryError("no memory for the merges")
        self._set_first_pairs()
        if m.byte_level:
            self._set_crossing()

    cdef bint _joins_unknown(self):
        """Is a token that unknown characters give part of some merge?"""
        cdef Merges *m = &self.m
        cdef const uint32_t[::1] pairs = memoryview(self._merges).cast("B").cast("I")
        cdef uint8_t[::1] unknown = bytearray(m.n_known + 1)
        cdef Py_ssize_t i
        for i in range(256):
            if m.byte_fallback and m.byte_token[i] != CTOK_NO_ID:
                unknown[m.byte_token[i]] = 1
        if m.unknown == UNKNOWN_TOKEN:
            unknown[m.unk] = 1
        elif not m.byte_fallback:
            return False
        for i in range(pairs.shape[0]):
            if unknown[pairs[i]]:
                return True
        return False

    cdef bint _set_pairs(self, Vocab pieces, merges, joined) except -1:
        """Build the table of merges. False: `joined` does not fit the vocabulary."""
        cdef const uint32_t[::1] pairs = memoryview(merges).cast("B").cast("I")
        cdef const uint32_t[::1] given = memoryview(joined).cast("B").cast("I")
        cdef size_t n = pairs.shape[0] // 2, bad = 0
        cdef ctok_status status
        if given.shape[0] and <size_t>given.shape[0] != n:
            raise SpecError(f"there are {n} merges, but {given.shape[0]} ids that they give")
        status = ctok_pairmap_init(&self.m.pairs, &pieces.v, &pairs[0] if n else NULL, &given[0] if given.shape[0] else NULL, n,
                                   self.m.n_prefix, &bad)
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory for the merges")
        if status != CTOK_OK and not given.shape[0]:
            raise SpecError(f"merge {bad}: {what_is_wrong(pieces, pairs[2 * bad], pairs[2 * bad + 1], self.m.n_prefix)}")
        return status == CTOK_OK


cdef bint spells_itself(text):
    """Is a text, or None, the same in the alphabet of visible characters and outside of it?"""
    return text is None or (text and all([33 <= ord(c) <= 126 for c in text]))


cdef object empty_token(Vocab pieces):
    """The id of the empty token, which no look-up finds, or None. It stands first."""
    return pieces.v.id_of[0] if pieces.v.n_tokens and pieces.v.begin[1] == 0 else None


cdef void set_ops(MergeModel model):
    model.ops.encode = merges_encode
    model.ops.scratch_new = list_scratch_new
    model.ops.scratch_free = list_scratch_free
    model.ops.open_new = merges_open_new
    model.ops.open_feed = merges_open_feed
    model.ops.open_end = merges_open_end
    model.ops.open_copy = merges_open_copy
    model.ops.open_free = merges_open_free
    model.ops.open_save = merges_open_save
    model.ops.open_load = merges_open_load
    model.ops.open_waits = merges_open_waits


cdef str what_is_wrong(Vocab pieces, uint32_t left, uint32_t right, size_t prefix):
    parts = []
    for number in (left, right):
        try:
            parts.append(pieces.token(number))
        except UnknownIdError:
            return f"id {number} is not in the vocabulary"
    if len(parts[1]) < prefix:
        return f"{parts[1].decode(errors='replace')!r} is shorter than the prefix of tokens inside a word"
    return f"{(parts[0] + parts[1][prefix:]).decode(errors='replace')!r} is not in the vocabulary"


cdef enum:
    UNSPELLED = 0xFFFFFFFF      # in a table by bytes the end of a token that spells none


def table_by_bytes(tokens):
    """Return the tokens of a byte-level file by the bytes that they spell, as `MergeList` takes them for `by_bytes`.

    As many ends as there are tokens, as many ids, all little-endian uint32, then the bytes; in the order of those. Tokens that spell none
    stand last: no end, and in the place of the id their place among `tokens`.
    """
    cdef const uint8_t[::1] data = tokens.data
    cdef const uint32_t[::1] ends = memoryview(tokens.ends).cast("B").cast("I")
    cdef const uint32_t[::1] ids = memoryview(tokens.ids).cast("B").cast("I")
    cdef uint32_t n = <uint32_t>ends.shape[0], kept = 0, k
    cdef size_t column = 4 * <size_t>n
    cdef Block room = Block(2 * column + data.shape[0])
    cdef uint32_t *to_ends = <uint32_t *>room.at
    cdef ctok_status status = CTOK_OK
    if n:
        status = ctok_bytelevel_table(&data[0] if data.shape[0] else NULL, &ends[0], &ids[0], n, room.at + 2 * column, to_ends,
                                      <ctok_id *>(room.at + column), &kept)
    if status == CTOK_ERR_MEMORY:
        raise MemoryError("no memory for the vocabulary")
    if status != CTOK_OK:
        Vocab(data, tokens.ends, tokens.ids, joins=False, doubles=True)     # says what is wrong
    for k in range(kept, n):
        to_ends[k] = UNSPELLED
    return filled(room, 0, 2 * column + (to_ends[kept - 1] if kept else 0))


cdef Vocab spelled_out(tokens, tuple added, by_bytes):
    """The tokens that spell bytes, by those bytes, and all others by their texts."""
    table = memoryview(by_bytes or table_by_bytes(tokens)).cast("B")
    cdef size_t column = memoryview(tokens.ends).nbytes, kept = column // 4
    if <size_t>len(table) < 2 * column:
        raise SpecError("the table of tokens by their bytes is cut off")
    cdef const uint32_t[::1] ends = table[:column].cast("I")
    while kept and ends[kept - 1] == UNSPELLED:
        kept -= 1
    if 4 * kept < column:
        added += other_texts(tokens, table[column + 4 * kept:2 * column].cast("I"), {token[1] for token in added})
    return Vocab(table[2 * column:], table[:4 * kept], table[column:column + 4 * kept], added, joins=False, doubles=True)


cdef tuple other_texts(tokens, places, set added):
    """The tokens at these places that are not added ones, as added tokens that are not special."""
    cdef const uint8_t[::1] data = tokens.data
    cdef const uint32_t[::1] ends = memoryview(tokens.ends).cast("B").cast("I")
    cdef const uint32_t[::1] ids = memoryview(tokens.ids).cast("B").cast("I")
    cdef Py_ssize_t k
    found = []
    for k in places:
        if k >= ends.shape[0]:
            raise SpecError(f"the table of tokens by their bytes names token {k} of {ends.shape[0]}")
        if ids[k] not in added:
            found.append((bytes(data[ends[k - 1] if k else 0:ends[k]]).decode(), ids[k], False))
    return tuple(found)


# ---- merges left out ----

cdef list draw(const Merges *m, bytes pretoken, uint64_t seed):
    cdef ListScratch *s = <ListScratch *>list_scratch_new(m)
    cdef ctok_ids ids
    cdef ctok_status status
    cdef const uint8_t *p = pretoken
    cdef size_t n = len(pretoken)
    memset(&ids, 0, sizeof(ids))
    try:
        if s == NULL:
            raise failure(CTOK_ERR_MEMORY)
        s.random = seed
        with nogil:
            status = merges_encode(m, s, p, n, &ids, NULL)
        if status != CTOK_OK:
            raise failure(status)
        return numbers(&ids)
    finally:
        list_scratch_free(s)
        ctok_ids_free(&ids)


# ---- for tests ----

def encode_side_by_side(MergeModel model not None, list pretokens, int times=1):
    """Return ``(ids, seconds)``: the ids of each pretoken, merged side by side, and the time of a thread for it.

    `times`: how often, each time by a model that has learnt nothing. An error is an `EncodeError` whose position is the number of the first
    pretoken that cannot be encoded.
    """
    cdef ListScratch *s = <ListScratch *>list_scratch_new(&model.m)
    cdef ListLane *lanes = <ListLane *>ctok_mem_alloc(LIST_LANES, sizeof(ListLane))
    cdef size_t n = len(pretokens), which = 0, at = 0, i, j
    cdef MergeTask *tasks = <MergeTask *>ctok_mem_zeroed(n, sizeof(MergeTask))
    cdef ctok_ids ids
    cdef ctok_status status = CTOK_ERR_MEMORY
    cdef bytes text = b"".join(pretokens)
    memset(&ids, 0, sizeof(ids))
    try:
        if s == NULL or lanes == NULL or tasks == NULL:
            raise MemoryError("no memory to merge")
        for i in range(n):
            tasks[i].p = <const uint8_t *><const char *>text + at
            tasks[i].n = <uint32_t>len(pretokens[i])
            at += tasks[i].n
        started = thread_time()
        for _ in range(times):
            ids.n = 0
            if times > 1:
                memset(model.m.known, 0, model.m.n_known)
            with nogil:
                status = merges_encode_many(&model.m, tasks, n, lanes, s, &ids, &which)
        seconds = thread_time() - started
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory to merge")
        if status != CTOK_OK:
            raise EncodeError("the vocabulary has no token for a part of the text, and no unknown token", position=which, unit="byte")
        return [[ids.at[j] for j in range(tasks[i].begin, tasks[i].begin + tasks[i].count)] for i in range(n)], seconds
    finally:
        list_scratch_free(s)
        ctok_mem_free(lanes)
        ctok_mem_free(tasks)
        ctok_ids_free(&ids)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
