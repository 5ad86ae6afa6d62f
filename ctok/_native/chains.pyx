"""Decoder chains as objects: the compiled ops, and a vocabulary as its chain of decoders makes it.

What a chain does to a token by itself is done once for the whole vocabulary, into a table that every decoder of the tokenizer then reads
as if it were the vocabulary. It is made when something is decoded for the first time.
"""

cimport cython
cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes_free
from ctok._native.c_chain cimport ctok_chain_free, ctok_chain_init, ctok_op_spec, ctok_unspell, ctok_view_fill
from ctok._native.c_text cimport ctok_text, ctok_text_append, ctok_text_free, ctok_text_init
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_block, ctok_mem_fail_after, ctok_mem_unblock, ctok_status,
    ctok_token)

from ..errors import SpecError

cdef enum:
    MAX_OPS = 256

OPS = ("replace", "between", "begin", "strip", "regex", "raw", "lossy", "bytes", "fuse", "last", "dedup", "drop")


cdef ctok_status _rewrite(const void *rules, uint32_t number, const uint8_t *p, size_t n, ctok_text *out) noexcept with gil:
    """Run a regex op. What goes wrong in there is shown, and reported as a lack of memory: a pattern has no other way to fail."""
    cdef bytes changed
    try:
        changed = (<list>rules)[number](PyBytes_FromStringAndSize(<const char *>p, n))
        return ctok_text_append(out, changed, len(changed))
    except MemoryError:
        return CTOK_ERR_MEMORY


@cython.no_gc_clear     # what it points into is freed after it
cdef class Chain:
    """Decoders, taken apart into ops; immutable.

    Parameters
    ----------
    ops
        Tuples (kind, find, put, left, right, flag) as csrc/ctok_chain.h has them, `find` and `put` as bytes; the `find` of a ``"regex"`` is
        a callable, bytes to bytes.
    """

    def __cinit__(self, ops):
        cdef uint32_t k, n
        cdef bytearray joined = bytearray()
        cdef ctok_status status
        self.ops = tuple(ops)
        self.rules = []
        n = <uint32_t>len(self.ops)
        if n > MAX_OPS:
            raise SpecError(f"a chain of {n} decoding steps is too long; ctok runs up to {MAX_OPS}")
        cdef ctok_op_spec specs[MAX_OPS]
        for k in range(n):
            kind, find, put, left, right, flag = self.ops[k]
            if kind == "regex":
                left = len(self.rules)
                self.rules.append(find)
                find = b""
            specs[k].kind = OPS.index(kind)
            specs[k].flag = bool(flag)
            specs[k].find = len(joined)
            specs[k].n_find = len(find)
            joined += find
            specs[k].put = len(joined)
            specs[k].n_put = len(put)
            joined += put
            specs[k].left = min(left, 0xFFFFFFFF)
            specs[k].right = min(right, 0xFFFFFFFF)
        status = ctok_chain_init(&self.c, specs, n, <const uint8_t *>joined, len(joined))
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory for the decoders")
        if status != CTOK_OK:
            raise SpecError(f"decoding steps {self.ops!r} do not fit together")
        self.c.rewrite = _rewrite
        self.c.rules = <const void *>self.rules

    def __dealloc__(self):
        ctok_chain_free(&self.c)

    @property
    def streams(self):
        """Whether no step holds back all text until the end; rewriting by a regex does, where the tokens are joined before."""
        joined = False
        for kind, *_ in self.ops:
            if joined and kind in ("regex", "raw"):
                return False
            joined = joined or kind in ("lossy", "fuse")
        return True


cdef class PieceTexts:
    """What the tokens of a SentencePiece model are, for decoding; immutable.

    Parameters
    ----------
    types
        One byte an id, as a .model file numbers them.
    surface
        The text of the unknown token, in UTF-8.
    keeps_first
        A token of which the chain leaves nothing at the start of a text is not yet the first one.
    """

    def __cinit__(self, bytes types not None, bytes surface not None, bint keeps_first):
        self.types = types
        self.surface = surface
        self.p.types = <const uint8_t *><const char *>types
        self.p.surface = <const uint8_t *><const char *>surface
        self.p.n_surface = <uint32_t>len(surface)
        self.p.keeps_first = keeps_first

    def __repr__(self):
        return f"PieceTexts({self.types!r}, {self.surface!r}, {bool(self.p.keeps_first)!r})"


@cython.no_gc_clear     # __dealloc__ reads what it refers to
cdef class DecodedVocab(Vocab):
    """Made by `Decoding` only."""

    @property
    def fingerprint(self):
        """Eight bytes that differ between vocabularies and chains. Computed once."""
        if self._fingerprint is None:
            from hashlib import blake2b
            what = repr((self.chain.ops, self.w.spelled) + ((self.pieces,) if self.pieces is not None else ())).encode()
            self._fingerprint = blake2b(self.source.fingerprint + what, digest_size=8).digest()
        return self._fingerprint

    def __dealloc__(self):
        ctok_bytes_free(&self.texts_of_tokens)
        if self.tokens != NULL:
            ctok_mem_unblock(self.tokens, self.w.source.n_ids * sizeof(ctok_token))


cdef Vocab _decoded(Vocab source, Chain chain, PieceTexts pieces, bint spelled):
    cdef DecodedVocab made = DecodedVocab.__new__(DecodedVocab, b"", b"", b"")
    cdef ctok_status status
    made.source = source
    made.chain = chain
    made.w.chain = &chain.c
    made.w.source = &source.v
    made.pieces = pieces
    made.w.pieces = &pieces.p if pieces is not None else NULL
    made.w.spelled = spelled
    made.special_tokens = source.special_tokens
    made.tokens = <ctok_token *>ctok_mem_block(source.v.n_ids * sizeof(ctok_token))
    if made.tokens == NULL:
        raise MemoryError("no memory for the texts of the tokens")
    status = ctok_view_fill(&made.w, made.tokens, &made.texts_of_tokens)
    if status == CTOK_ERR_MEMORY:
        raise MemoryError("no memory for the texts of the tokens")
    if status != CTOK_OK:
        raise SpecError("the decoders make too much text of the vocabulary")
    made.v.by_id = made.tokens
    made.v.bytes = made.texts_of_tokens.at
    made.v.n_ids = source.v.n_ids
    made.view = &made.w
    return made


cdef bint _reads_as_is(bytes raw) except -1:
    """Is this text, read in the byte-level alphabet, the text itself?"""
    cdef ctok_text out
    ctok_text_init(&out, NULL, 0)
    try:
        if ctok_unspell(&out, raw, len(raw)) != CTOK_OK:
            raise MemoryError("no memory for the decoders")
        return PyBytes_FromStringAndSize(<const char *>out.p, out.n) == raw
    finally:
        ctok_text_free(&out)


cdef class Decoding:
    """What a tokenizer decodes with: a chain of decoders for a vocabulary.

    Parameters
    ----------
    source
        The `Vocab` of the tokenizer.
    chain
        The `Chain`.
    byte_level
        The ordinary tokens of `source` are bytes, where the file has them spelled in the byte-level alphabet. Its special tokens are their
        texts, also to a chain that reads that alphabet.
    pieces
        The `PieceTexts` of a SentencePiece model, one for each id.
    """

    def __cinit__(self, Vocab source not None, Chain chain not None, bint byte_level=False, PieceTexts pieces=None):
        if pieces is not None and <size_t>len(pieces.types) < source.v.n_ids:
            raise SpecError(f"the types of {len(pieces.types)} tokens are known, but there are {source.v.n_ids}")
        self.source = source
        self.chain = chain
        self.byte_level = byte_level
        self.pieces = pieces

    @property
    def vocab(self):
        """The `Vocab` to decode with: the tokens as the chain makes them. Made when first asked for, some milliseconds."""
        return self.get()

    @property
    def streams(self):
        """Whether decoders release text before the end of the stream, whatever comes."""
        return self.chain.streams

    @property
    def misread(self):
        """Ids of added tokens of which the reference's ByteLevel decoder makes something else, since all their letters stand for bytes."""
        if not self.chain.c.has_raw:
            return frozenset()
        return frozenset([number for text, number, *_ in self.source.special_tokens if not _reads_as_is(text.encode())])

    cdef Vocab get(self):
        if self.made is None:
            with cython.critical_section(self):
                if self.made is None:
                    self.made = self._make()
        return self.made

    cdef Vocab _make(self):
        if self.byte_level and [op[0] for op in self.chain.ops] == ["raw", "lossy"]:
            return self.source
        return _decoded(self.source, self.chain, self.pieces, self.byte_level)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
