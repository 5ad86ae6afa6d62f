"""The unigram model as SentencePiece runs it.

What decides there, found with models made for it and the live package (0.2.3):

* Scores are added up from the start of the text in single precision, each sum rounded at once; of equal sums the one whose last token
  starts first stays. The best paths to all places are found from left to right. When it is the turn of a place whose sum is more than
  100,000 from 0, that sum is taken off it and off the sums that later places have by then, again rounded.
* A user-defined piece of n bytes has the score (n - 1) / 10, rounded to single precision, whatever the file says, and competes like any
  other: a normal piece with a higher score wins. Where paths are listed or drawn (lattice.pyx) n counts characters.
* An unknown character, that is, one that is no piece by itself, has the lowest score of all normal pieces, less 10 (without normal ones:
  the greatest number, which such restarts bring back to 0). Unused pieces are as if
  they were not there; what is of another type (unknown, control, byte) is never found in a text.
* Unknown characters that stand together are one unknown token; with byte fallback each is given as its bytes instead.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_beside cimport ctok_beside, ctok_beside_cuts
from ctok._native.c_bestpath cimport ctok_bestpath_free, ctok_bestpath_id, ctok_bestpath_init
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.c_words cimport ctok_is_mark
from ctok._native.model cimport Table
from ctok._native.octets cimport byte_of, octets_of, room_of
from ctok._native.unigram cimport lattice, plant, set_unigram
from ctok._native.unigram_open cimport unigram_open_new
from ctok._native.viterbi cimport UnigramModel
from ctok._native.words cimport WordsModel, words_encode, words_one, words_scratch_free, words_scratch_new

from os import urandom

from ..errors import SpecError, UnknownIdError

cdef enum:
    NORMAL = 1
    USER_DEFINED = 4
    BYTE = 6

cdef double RESTART = 100000.0
cdef double PENALTY = 10.0      # what an unknown character costs beyond the least probable piece
cdef double ALONE = 3.4028234663852886e38   # its score where no piece is normal: the greatest number of single precision


cdef class SpmUnigram(ScoredPieces):
    """The unigram model of a SentencePiece model.

    Parameters
    ----------
    tokens
        A `spec.TokenTable` of all pieces, in UTF-8. Of equal pieces the last that a text can give counts.
    scores
        By id, little-endian float32.
    types
        By id, a byte each, as in `stagespecs.sentencepiece.Pieces`.
    unk_id
        The id of unknown characters.
    byte_fallback
        Unknown characters become the byte pieces of their bytes.

    Raises
    ------
    SpecError
        The table is out of byte order, an id has no score or type, or with byte fallback some byte has no piece.

    Notes
    -----
    Encoding costs a walk through the tree for each character of what has not been met lately: linear in the bytes for pieces of bounded
    length.
    """

    def __cinit__(self, tokens, scores, types, unk_id=0, byte_fallback=False):
        cdef Table table = Table(tokens), kept
        cdef const float[::1] score_of = memoryview(scores).cast("B").cast("f") if len(scores) else memoryview(bytes(4)).cast("f")
        cdef const uint8_t[::1] type_of = memoryview(types).cast("B") if len(types) else memoryview(bytes(1))
        cdef size_t n = len(memoryview(types).cast("B"))
        if len(memoryview(scores).cast("B")) != 4 * n:
            raise SpecError(f"there are {n} types, but {len(memoryview(scores).cast('B'))} bytes of scores")
        if not 0 <= unk_id < n:
            raise SpecError(f"unk_id is {unk_id}, but there are {n} pieces")
        kept = self.found_in_texts(table, type_of, n)
        plant(&self.m, kept)
        keep_scores(&self.m, kept, &score_of[0], &type_of[0], n)
        self.words.by_words = keeps_to_words(kept)
        self.n_pieces = <uint32_t>n
        self.unk_id = unk_id
        self.m.unk = unk_id
        self.m.byte_fallback = byte_fallback
        self.m.single = True
        set_unigram(self)
        if byte_fallback and not self.m.all_bytes:
            raise SpecError("byte_fallback, but not every byte has a piece")
        set_words(&self.words, &self.m, kept, <uint32_t>n, int.from_bytes(urandom(8), "little"))
        self.model = &self.words
        self.ops.encode = words_encode
        self.ops.scratch_new = words_scratch_new
        self.ops.scratch_free = words_scratch_free
        self.ops.open_new = open_new

        self.set_path_scores(kept, type_of)

    def __dealloc__(self):
        if self.path_score_of != self.m.score_of:
            ctok_mem_free(self.path_score_of)
        ctok_mem_free(self.words.score_by_id)
        ctok_bestpath_free(&self.words.paths)

    cdef Table found_in_texts(self, Table table, const uint8_t[::1] type_of, size_t n):
        """The pieces that a text can give, as a table of their own; the others are learnt."""
        cdef uint32_t total = table.ends[table.n - 1] if table.n else 0
        cdef bytes data = room_of(total), ends = room_of(4 * <size_t>table.n), ids = room_of(4 * <size_t>table.n)
        cdef uint8_t *to_data = octets_of(data)
        cdef uint32_t *to_ends = <uint32_t *>octets_of(ends)
        cdef ctok_id *to_ids = <ctok_id *>octets_of(ids)
        cdef uint32_t k, begin = 0, end, run = 0, gone = 0, kept = 0
        cdef ctok_id number
        cdef int b
        for b in range(256):
            self.m.byte_ids[b] = CTOK_NO_ID
        for k in range(table.n):
            end, number = table.ends[k], table.ids[k]
            if number >= n:
                raise SpecError("token table: an id has no score")
            if is_found(type_of[number]):
                to_ends[kept] = end - gone
                to_ids[kept] = number
                kept += 1
            else:
                memcpy(to_data + (run - gone), table.data + run, begin - run)
                gone += end - begin
                run = end
                if type_of[number] == BYTE:
                    b = byte_of(table.data + begin, end - begin)
                    if b >= 0:
                        self.m.byte_ids[b] = number
            begin = end
        memcpy(to_data + (run - gone), table.data + run, begin - run)
        return Table(Columns(memoryview(data)[:begin - gone], memoryview(ends)[:4 * kept], memoryview(ids)[:4 * kept]))

    cdef set_path_scores(self, Table kept, const uint8_t[::1] type_of):
        """User-defined pieces count by their characters there."""
        cdef uint32_t k, i, begin = 0, chars
        self.path_score_of = self.m.score_of
        if USER_DEFINED not in bytes(type_of):
            return
        self.path_score_of = <double *>ctok_mem_alloc(<size_t>kept.n + 1, sizeof(double))
        if self.path_score_of == NULL:
            raise MemoryError("no memory for the model")
        memcpy(self.path_score_of, self.m.score_of, (<size_t>kept.n + 1) * sizeof(double))
        for k in range(kept.n):
            if type_of[kept.ids[k]] == USER_DEFINED:
                chars = 0
                for i in range(begin, kept.ends[k]):
                    chars += (kept.data[i] & 0xC0) != 0x80
                self.path_score_of[k + 1] = <float>(0.1 * (<double>chars - 1))
            begin = kept.ends[k]

    def nbest(self, text, k):
        """Return the `k` best paths of a text, or all if there are fewer, as (ids, score), best first.

        Parameters
        ----------
        text
            A str, or bytes holding UTF-8; normalized.
        k
            How many; at least 0.

        Notes
        -----
        Paths, scores and their order are those of SentencePiece, which adds scores up from the end here. So where scores are equal but for
        roundings the first path need not be the one that `encode` gives. Of a long text with many good paths some of the best may be
        missed: of 10,000 beginnings only the best 512 (at most 10 * k) go on. Different paths may have the same ids where unknown
        characters join.
        """
        return lattice().nbest(self, text, k)

    def nbest_with_ends(self, text, k):
        """Return (ids, ends, score) of the `k` best paths; `ends` as `encode_with_ends` gives them."""
        return lattice().nbest(self, text, k, True)

    def sample(self, text, alpha, nbest_size=None, seed=None):
        """Return the ids of a path of a text drawn at random.

        Parameters
        ----------
        text
            A str, or bytes holding UTF-8; normalized.
        alpha
            Smoothing: a path is drawn with a probability proportional to exp(alpha * score).
        nbest_size
            Draw from this many best paths; None or 0: from all paths.
        seed
            An int: the same seed draws the same path. None: unpredictable.

        Raises
        ------
        ValueError
            `alpha` is negative or not finite.
        """
        return lattice().sample(self, text, alpha, nbest_size, 1, seed)[0][0]

    def sample_with_ends(self, text, alpha, nbest_size=None, seed=None):
        """Return (ids, ends) of a path drawn as `sample` draws."""
        return lattice().sample(self, text, alpha, nbest_size, 1, seed, True)[0][:2]

    def sample_scored(self, text, k, alpha, seed=None):
        """Return `k` paths drawn independently from all paths, as (ids, log of the path's probability)."""
        return lattice().sample(self, text, alpha, 0, k, seed)

    def score(self, ids):
        """Return the score of a path by its ids: the sum of the pieces' scores, in single precision from the first on.

        Raises
        ------
        UnknownIdError
            There is no such id.

        Notes
        -----
        An unknown id counts as one unknown character; pieces that no text gives, such as those of bytes, count 0.
        """
        cdef float total = 0
        for index, number in enumerate(ids):
            if not 0 <= number < self.n_pieces:
                raise UnknownIdError(f"there is no id {number}", id=number, index=index)
            total += self.words.score_by_id[<size_t>number]
        return total


cdef void *open_new(const void *model) noexcept nogil:
    return unigram_open_new((<const WordsModel *>model).m)


class Columns:
    """The three buffers of a token table."""

    __slots__ = ("data", "ends", "ids")

    def __init__(self, data, ends, ids):
        self.data, self.ends, self.ids = data, ends, ids


cdef inline bint is_found(uint8_t type) noexcept nogil:
    return type == NORMAL or type == USER_DEFINED


cdef object keep_scores(UnigramModel *m, Table table, const float *score_of, const uint8_t *type_of, size_t n):
    """The scores of the pieces in the table, by 1 + place; [0]: of an unknown character."""
    cdef size_t i, n_kept = table.n
    cdef const uint32_t *ends = table.ends
    cdef const ctok_id *ids = table.ids
    cdef uint32_t begin = 0, longest = 1
    cdef double least = INFINITY
    cdef double *scores = <double *>ctok_mem_alloc(n_kept + 1, sizeof(double))
    if scores == NULL:
        raise MemoryError("no memory for the model")
    m.score_of = scores
    for i in range(n):
        if type_of[i] == NORMAL and score_of[i] < least:
            least = score_of[i]
    scores[0] = <float>(least - PENALTY) if least < INFINITY else ALONE
    for i in range(n_kept):
        longest = max(longest, ends[i] - begin)
        scores[i + 1] = score_of[ids[i]]
        if type_of[ids[i]] == USER_DEFINED:
            scores[i + 1] = <float>(0.1 * (<double>(ends[i] - begin) - 1))
        begin = ends[i]
    m.longest = longest


cdef bint keeps_to_words(Table table) noexcept nogil:
    """Does no piece reach from one word into the next, or could it with more bytes?"""
    cdef uint32_t k, i, begin = 0, end
    cdef const uint8_t *p = table.data
    for k in range(table.n):
        end = table.ends[k]
        for i in range(begin + 1, end):
            if p[i] == 0xE2 and (end - i < 3 or ctok_is_mark(p + i)) and not (i - begin >= 3 and ctok_is_mark(p + i - 3)):
                return False
        begin = end
    return True


cdef object set_words(WordsModel *w, const UnigramModel *m, Table kept, uint32_t n, uint64_t seed):
    cdef size_t i
    cdef ctok_status status
    cdef double widest = fabs(m.score_of[0])
    w.m = m
    w.none = n
    w.seed = seed
    w.score_by_id = <float *>ctok_mem_zeroed(<size_t>n + 1, sizeof(float))
    if w.score_by_id == NULL:
        raise MemoryError("no memory for the model")
    for i in range(kept.n):
        w.score_by_id[kept.ids[i]] = <float>m.score_of[i + 1]
        if not fabs(m.score_of[i + 1]) <= widest:       # also what is not a number
            widest = fabs(m.score_of[i + 1])
    w.score_by_id[m.unk] = <float>m.score_of[0]
    w.widest = widest
    w.limit = RESTART - 1
    w.limit_of_one = <float>(w.limit - widest)
    if not w.limit > 64 * widest:
        return
    status = ctok_bestpath_init(&w.paths, &m.trie, m.score_of, m.id_of, w.none, kept.data, kept.ends, kept.n)
    if status == CTOK_ERR_MEMORY:
        raise MemoryError("no memory for the model")
    w.remembers = status == CTOK_OK
    if w.remembers:
        find_tails(w)
        find_letters(w)


cdef void find_tails(WordsModel *w) noexcept:
    cdef const ctok_beside *beside = &w.paths.beside
    cdef int sign, letter, n_cut
    for sign in range(0x21, 0x7F):
        n_cut = 0
        for letter in range(0x30, 0x7B):
            n_cut += is_alnum(letter) and ctok_beside_cuts(beside, beside.chars + sign, <uint8_t>letter)
        w.is_tail[sign] = not is_alnum(sign) and n_cut > 31
        w.tails[sign] = words_one(w, ctok_bestpath_id(&w.paths, beside.chars[sign].node))


cdef void find_letters(WordsModel *w) noexcept:
    """Where most pairs of letters stand together in some piece, words of letters are not worth taking apart."""
    cdef const ctok_beside *beside = &w.paths.beside
    cdef int letter, before, n_cut = 0
    for letter in range(0x61, 0x7B):
        for before in range(0x61, 0x7B):
            n_cut += ctok_beside_cuts(beside, beside.chars + letter, <uint8_t>before)
    w.spells = n_cut < 26 * 26 // 3


cdef inline bint is_alnum(int c) noexcept:
    return 0x30 <= c <= 0x39 or 0x41 <= c <= 0x5A or 0x61 <= c <= 0x7A


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
