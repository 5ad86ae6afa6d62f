"""Vocabulary files, bytes in and buffers out: the .tiktoken text and the binary form.

The three buffers of a token table (`data`, `ends`, `ids`; see `ctok.spec.TokenTable`) are what crosses here. Nothing is opened or written;
the callers in `ctok.formats` know the paths and give them along for the error messages.
"""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.bpe cimport MergeScratch, merge_scratch_free, merge_window, scratch_reserve
from ctok._native.c_files cimport (
    CTOK_PACK_CHECKSUM, CTOK_PACK_FIRST, CTOK_PACK_HEADER, CTOK_PACK_MAGIC, CTOK_PACK_OK, CTOK_PACK_OTHER_VERSION, CTOK_PACK_PACKED,
    CTOK_PACK_PLAIN, CTOK_PACK_SIZE, CTOK_PACK_VERSION, ctok_mapping_close, ctok_mapping_open, ctok_pack, ctok_pack_fault, ctok_pack_open,
    ctok_pack_parts, ctok_pack_plain, ctok_pack_plan, ctok_pack_read, ctok_pack_write, ctok_rank_error, ctok_rankfile, ctok_rankfile_free,
    ctok_rankfile_read, ctok_rankfile_table,
)
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_block, ctok_mem_fail_after, ctok_mem_unblock, ctok_status, ctok_vocab,
)
from ctok._native.octets cimport first_of, octets_of, room_of
from ctok._native.vocab cimport Vocab

from ..errors import VocabularyFileError

PACK_MAGIC = b"\x89ctok\r\n\x1a"

_RANK_FAULTS = (
    None,
    "the token is not base64 with its padding",
    "the rank is missing",
    "between token and rank there must be exactly one blank",
    "the rank is not a plain decimal number that ends the line",
    "the rank is negative",
    "the rank is 2**31 or more",
    "the token is 2**24 bytes or longer",
    "the same token as on line {other}",
    "the same rank as on line {other}",
    "the file is empty: no line holds a token",
    "the file is 4 GiB or larger",
)


cdef class Block:
    """Room for what a file says: `size` zero bytes, to be filled once. A writable buffer, on large pages where the system has them.

    New memory is the larger part of the time that a large file takes to read: page by page it costs more than the reading.
    """

    def __cinit__(self, size_t size):
        self.size = size
        self.at = <uint8_t *>ctok_mem_block(size)
        if self.at == NULL:
            raise MemoryError(f"no memory for {size} bytes of a file")

    def __dealloc__(self):
        ctok_mem_unblock(self.at, self.size)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.at, <Py_ssize_t>self.size, False, flags)

    def __len__(self):
        return self.size


cdef Block kept(uint8_t *at, size_t size):
    cdef Block block = Block(0)
    if at != NULL:
        ctok_mem_unblock(block.at, 0)
        block.at, block.size = at, size
    return block


cdef class Mapping:
    """The bytes of an open file, read from the disk when they are looked at. A read-only buffer; the file may be closed."""

    cdef const uint8_t *at
    cdef readonly size_t size

    def __cinit__(self, int file, size_t size):
        self.size = size
        self.at = ctok_mapping_open(file, size) if size else NULL
        if self.at == NULL:
            raise ValueError("this file cannot be mapped here")

    def __dealloc__(self):
        ctok_mapping_close(self.at, self.size)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, <void *>self.at, <Py_ssize_t>self.size, True, flags)

    def __len__(self):
        return self.size


def mapped(file, size):
    """Return a memoryview of a `Mapping` of an open file's first bytes; a ValueError where there can be none."""
    return memoryview(Mapping(file, size))


def new_room(size):
    """Return a writable memoryview of a `Block`."""
    return memoryview(Block(size))


cdef object filled(Block block, size_t begin, size_t size):
    """A part of a block, to be read."""
    return memoryview(block)[begin:begin + size].toreadonly()


cdef _raise_rank(ctok_rank_error error, path):
    reason = _RANK_FAULTS[<int>error.fault].format(other=error.other)
    cure = "Every line must be '<base64 token> <decimal rank>', each token and each rank once."
    if error.cut:
        reason = "the last line is cut off: " + reason
        cure = "The file looks truncated; get it again."
    raise VocabularyFileError(reason, path=path, line=error.line or None, cure=cure)


def read_ranks(buffer, path=None):
    """Return the token table of a .tiktoken text.

    Parameters
    ----------
    buffer
        The whole text, any contiguous buffer of bytes. Not kept.
    path
        What to call it in an error.

    Returns
    -------
    tuple of bytes
        ``(data, ends, ids)``.

    Raises
    ------
    VocabularyFileError
        A line is malformed, a token or a rank occurs twice, or there is none.

    Notes
    -----
    Runs without the GIL; about 10 ms for 200 000 lines.
    """
    cdef const uint8_t[::1] view = memoryview(buffer).cast("B")
    cdef const uint8_t *text = first_of(view)
    cdef size_t n = <size_t>view.shape[0]
    cdef ctok_rankfile f
    cdef ctok_rank_error error
    cdef ctok_status status
    with nogil:
        status = ctok_rankfile_read(&f, text, n, &error)
    if status == CTOK_ERR_MEMORY:
        raise MemoryError()
    if status != CTOK_OK:
        _raise_rank(error, path)
    try:
        data, ends, ids = room_of(f.n_bytes), room_of(4 * <size_t>f.n), room_of(4 * <size_t>f.n)
        ctok_rankfile_table(&f, octets_of(data), octets_of(ends), octets_of(ids))
    finally:
        ctok_rankfile_free(&f)
    return data, ends, ids


cdef _raise_pack(ctok_pack_fault fault, const ctok_pack *p, path):
    cure = "Make it again from the original vocabulary file."
    if fault == CTOK_PACK_MAGIC:
        reason = "not a binary vocabulary of ctok"
    elif fault == CTOK_PACK_OTHER_VERSION:
        reason = f"binary vocabulary of version {p.version}, this ctok reads versions {CTOK_PACK_FIRST} to {CTOK_PACK_VERSION}"
    elif fault == CTOK_PACK_SIZE:
        reason = "the file is shorter or longer than it says"
    elif fault == CTOK_PACK_CHECKSUM:
        reason = "the checksum does not match: the file is damaged"
    else:
        reason = "the content is impossible"
    raise VocabularyFileError(reason, path=path, cure=cure)


def read_pack(buffer, path=None):
    """Return the meta bytes and the token table of a binary vocabulary.

    Parameters
    ----------
    buffer
        The whole file, any contiguous buffer of bytes, such as a mapped file. Parts of a plain table are views of it.
    path
        What to call it in an error.

    Returns
    -------
    tuple
        ``(meta, data, ends, ids)``: bytes first (from version 3 on a memoryview of `buffer`), then memoryviews: of a block of their own
        (packed) or of `buffer` (plain).

    Raises
    ------
    VocabularyFileError
        Another format or version, a wrong size or checksum, or impossible content.

    Notes
    -----
    Runs without the GIL. A packed table of 200 000 tokens takes about 2 ms, a plain one the time of the checksum, 0.3 ms.
    """
    whole = memoryview(buffer).cast("B")
    cdef const uint8_t[::1] view = whole
    cdef const uint8_t *file = first_of(view)
    cdef size_t n = <size_t>view.shape[0]
    cdef ctok_pack p
    cdef ctok_pack_fault fault
    cdef ctok_pack_plain at
    cdef Block block
    cdef size_t column
    with nogil:
        fault = ctok_pack_open(&p, file, n)
    if fault != CTOK_PACK_OK:
        _raise_pack(fault, &p, path)
    meta = whole[CTOK_PACK_HEADER:CTOK_PACK_HEADER + p.n_meta]
    if p.version == CTOK_PACK_FIRST:
        meta = bytes(meta)
    if p.kind == CTOK_PACK_PLAIN:
        at = ctok_pack_parts(&p)
        return meta, whole[at.data:], whole[at.ends:at.ends + 4 * <size_t>p.n_tokens], whole[at.ids:at.ids + 4 * <size_t>p.n_tokens]
    column = 4 * <size_t>p.n_tokens
    block = Block(2 * column + p.n_bytes)
    with nogil:
        fault = ctok_pack_read(&p, file, block.at + 2 * column, block.at, block.at + column)
    if fault != CTOK_PACK_OK:
        _raise_pack(fault, &p, path)
    return meta, filled(block, 2 * column, p.n_bytes), filled(block, 0, column), filled(block, column, column)


def pack_version(buffer):
    """Return the version that the header of a binary vocabulary names, or 0 where there is no header."""
    head = bytes(memoryview(buffer).cast("B")[:12])
    return int.from_bytes(head[8:], "little") if len(head) == 12 and head.startswith(PACK_MAGIC) else 0


def write_pack(data, ends, ids, meta, packed=True, uint32_t version=2):
    """Return a binary vocabulary as bytes: packed (small) or plain (usable where it lies).

    Raises
    ------
    ValueError
        The tokens are not a table: not strictly ascending (from version 3 on a plain one may hold a token again), one too long, an offset
        outside, an id of 2**31 or more.
    """
    cdef const uint8_t[::1] view_data = memoryview(data).cast("B")
    cdef const uint8_t[::1] view_ends = memoryview(ends).cast("B")
    cdef const uint8_t[::1] view_ids = memoryview(ids).cast("B")
    cdef const uint8_t[::1] view_meta = memoryview(meta).cast("B")
    cdef ctok_pack p
    cdef uint32_t bad
    if view_ends.shape[0] != view_ids.shape[0] or view_ends.shape[0] % 4:
        raise ValueError("a token table needs one end and one id a token")
    if ctok_pack_plan(&p, version, CTOK_PACK_PACKED if packed else CTOK_PACK_PLAIN, first_of(view_data),
                      <size_t>view_data.shape[0], first_of(view_ends), first_of(view_ids), <size_t>view_ends.shape[0] // 4,
                      <size_t>view_meta.shape[0], &bad) != CTOK_OK:
        raise ValueError(
            f"token {bad} of the table is out of order, twice there, too long, outside its buffer, or has an id of 2**31 or more")
    cdef bytes out = room_of(p.size)
    ctok_pack_write(&p, first_of(view_data), first_of(view_ends), first_of(view_ids), first_of(view_meta), octets_of(out))
    return out


def splits(Vocab vocab not None):
    """Return what `spec.TokenTable` calls splits, or empty bytes where a token is too long for that."""
    return b"" if vocab.v.longest > 255 else bytes(memoryview(left_lengths(vocab)).cast("I").tolist())


def used_merges(Vocab vocab not None, merges, joined):
    """Return what `spec.BPE` calls used.

    Parameters
    ----------
    vocab
        The vocabulary of a `MergeList` that is a rule by rank.
    merges, joined
        Its list, as `spec.BPE` has it.
    """
    cdef const ctok_vocab *v = &vocab.v
    cdef const uint32_t[::1] pairs = memoryview(merges).cast("B").cast("I")
    cdef const uint32_t[::1] whole = memoryview(joined).cast("B").cast("I")
    cdef const uint32_t[::1] left = memoryview(left_lengths(vocab)).cast("I")
    cdef uint32_t[::1] left_of = memoryview(bytearray(4 * v.n_ids)).cast("I")
    cdef uint8_t[::1] used = bytearray((whole.shape[0] + 7) // 8)
    cdef uint32_t k
    cdef Py_ssize_t i
    for k in range(v.n_tokens):
        left_of[v.id_of[k]] = left[k]
    for i in range(whole.shape[0]):
        if v.by_id[pairs[2 * i]].len == left_of[whole[i]]:
            used[i >> 3] |= <uint8_t>(1 << (i & 7))
    return bytes(used)


cdef bytearray left_lengths(Vocab vocab):
    """How many bytes the left part of its last merge has, a uint32 for each token in byte order; 0 where merging does not give it."""
    cdef const ctok_vocab *v = &vocab.v
    cdef bytearray out = bytearray(4 * v.n_tokens)
    cdef uint32_t[::1] left = memoryview(out).cast("I")
    cdef MergeScratch s
    cdef uint32_t k, n
    memset(&s, 0, sizeof(s))
    try:
        if scratch_reserve(&s, v.longest + 1) != CTOK_OK:
            raise MemoryError("no memory to merge")
        for k in range(v.n_tokens):
            n = v.begin[k + 1] - v.begin[k]
            if n > 1:
                merge_window(v, v.bytes + v.begin[k], n, &s)
                left[k] = s.last_left if s.next[0] == n else 0
        return out
    finally:
        merge_scratch_free(&s)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
