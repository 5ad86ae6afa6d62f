"""A pretoken of the unigram model that arrives piece by piece.

It keeps the places since the last certain border. Any path goes on from an *alive* place: the last one, or one from which the rest is a
proper prefix of some piece. Each place has one best path to it, whatever follows, so where the best paths of all alive places still agree
is certain, and leaves (docs/streaming.md). The first place that stays keeps its score, added up from the very start: sums go on from it
with the same roundings as in the whole.

Unknown characters that stand together are one token: if their text happens to be a piece, that piece; else, with byte fallback, their
bytes if all of them have pieces; else the unknown token. Such a run leaves as soon as it is certain which of these it is. (Of a model of
SentencePiece it is never a piece, so that is at once.)
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from ctok._native.c_merge cimport ctok_ids, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_append, ctok_bytes_free, ctok_bytes_reserve
from ctok._native.c_model cimport ctok_le64_get, ctok_le64_put
from ctok._native.c_pool cimport ctok_pool_ticket
from ctok._native.c_trie cimport CTOK_TRIE_ROOT, ctok_trie_goes_on, ctok_trie_piece, ctok_trie_step, ctok_trie_unit
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_ERR_UTF8, CTOK_NO_ID, CTOK_OK, ctok_mem_fail_after, ctok_mem_free,
    ctok_mem_resize, ctok_mem_zeroed, ctok_status)
from ctok._native.viterbi cimport (
    Node, Reach, Reaches, UnigramModel, add_restart, viterbi_give_run, viterbi_go_on, viterbi_offer, viterbi_sum, viterbi_take_off)

cdef enum:
    BLOCK = 1024                # bytes that are taken in at a time
    ROOM = 64                   # places of room that are kept
    PATIENT = 4096              # bytes from which on a border is not looked for at each chunk


cdef size_t lineages = 0

cdef inline void begin_lineage(UnigramOpen *o) noexcept nogil:
    """What it holds is no longer the beginning, or the continuation, of what another holds."""
    o.lineage = ctok_pool_ticket(&lineages) + 1
    o.is_copy = False


# ---- places ----

cdef ctok_status reserve_nodes(UnigramOpen *o, size_t n) noexcept nogil:
    cdef Node *nodes
    if o.cap >= n:
        return CTOK_OK
    n = max(n + n // 2, 64)
    nodes = <Node *>ctok_mem_resize(o.nodes, n, sizeof(Node))
    if nodes == NULL:
        return CTOK_ERR_MEMORY
    o.nodes = nodes
    o.cap = n
    return CTOK_OK


cdef size_t begin_anew_to(UnigramOpen *o, size_t begun, size_t place, size_t before) noexcept nogil:
    """Let the restarts from number `begun` up to a place count for new places, those after `before`; returns the number of the next."""
    while not o.is_loading and begun < o.reaches.n_restarts and o.reaches.restarts[begun].place <= place:
        viterbi_take_off(o.nodes, before + 1, o.text.n, o.reaches.restarts[begun].sum)
        begun += 1
    return begun


cdef ctok_status extend(UnigramOpen *o, const uint8_t *p, size_t n) noexcept nogil:
    """Add bytes and their places, and go on from all places: first with the pieces that began before."""
    cdef const UnigramModel *m = o.model
    cdef size_t i, kept = 0, e, before = o.text.n, begun = 0
    cdef Reach r
    cdef uint32_t piece
    if o.is_copy:
        begin_lineage(o)
    if reserve_nodes(o, before + n + 1) != CTOK_OK or ctok_bytes_append(&o.text, p, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for i in range(before + 1, o.text.n + 1):
        o.nodes[i].size = 0
    for i in range(o.reaches.n):
        r = o.reaches.at[i]
        begun = begin_anew_to(o, begun, r.start, before)
        e = before
        while e < o.text.n and ctok_trie_step(&m.trie, &r.unit, o.text.at[e]):
            e += 1
            piece = ctok_trie_piece(r.unit)
            if piece:
                viterbi_offer(&o.nodes[e], viterbi_sum(m, piece, o.nodes[r.start].score), e - r.start, piece)
        if e == o.text.n and ctok_trie_goes_on(r.unit):
            o.reaches.at[kept] = r
            kept += 1
    o.reaches.n = kept
    begin_anew_to(o, begun, o.next, before)
    return viterbi_go_on(m, o.nodes, o.text.at, o.text.n, &o.next, &o.reaches, o.is_loading)


cdef size_t common_border(const UnigramOpen *o) noexcept nogil:
    """The last place that the best paths to all alive places share."""
    cdef size_t i, a, b = o.next
    for i in range(o.reaches.n):
        a = o.reaches.at[o.reaches.n - 1 - i].start
        while a != b:
            if a > b:
                a -= o.nodes[a].size
            else:
                b -= o.nodes[b].size
        if b == 0:
            break
    return b


cdef uint64_t unigram_open_least(const void *state) noexcept nogil:
    cdef const UnigramOpen *o = <const UnigramOpen *>state
    cdef size_t i, place
    cdef uint64_t n, least = 0
    for i in range(o.reaches.n + 1):
        place = o.reaches.at[i].start if i < o.reaches.n else o.next
        n = 0
        while place and o.nodes[place].size:
            n += o.model.id_of[o.nodes[place].piece] != o.model.unk     # unknown ones that stand together become one
            place -= o.nodes[place].size
        least = n if i == 0 else min(least, n)
    return least


cdef void drop(UnigramOpen *o, size_t n) noexcept nogil:
    """The first n bytes have left; what counts from now on are the place there, with its score, and those behind it."""
    cdef size_t i, kept = 0
    o.text.n -= n
    memmove(o.text.at, o.text.at + n, o.text.n)
    memmove(o.nodes, o.nodes + n, (o.text.n + 1) * sizeof(Node))
    o.nodes[0].size = 0
    o.next -= n
    for i in range(o.reaches.n):
        o.reaches.at[kept] = o.reaches.at[i]
        o.reaches.at[kept].start -= n
        kept += 1
    o.reaches.n = kept
    kept = 0
    for i in range(o.reaches.n_restarts):
        if o.reaches.restarts[i].place > n:
            o.reaches.restarts[kept] = o.reaches.restarts[i]
            o.reaches.restarts[kept].place -= n
            kept += 1
    o.reaches.n_restarts = kept


cdef ctok_status release(UnigramOpen *o, size_t border, ctok_ids *ids) noexcept nogil:
    """Let the tokens of the best path to a border leave."""
    cdef size_t e = border, before
    cdef uint32_t size, piece
    cdef ctok_status status = CTOK_OK
    begin_lineage(o)
    # Turn the path round: each node tells the token that follows instead of the one before. The nodes are not needed any more.
    before = 0
    size = piece = 0
    while True:
        before = o.nodes[e].size
        o.nodes[e].size, size = size, <uint32_t>before
        o.nodes[e].piece, piece = piece, o.nodes[e].piece
        if e == 0:
            break
        e -= before
    while e < border and status == CTOK_OK:
        status = give(o, o.text.at + e, o.nodes[e].size, o.nodes[e].piece, ids)
        e += o.nodes[e].size
    if status == CTOK_OK:
        drop(o, border)
    return status


# ---- tokens on their way out ----

cdef ctok_status give(UnigramOpen *o, const uint8_t *p, size_t n, uint32_t piece, ctok_ids *ids) noexcept nogil:
    """The next token of the path is p[0..n)."""
    cdef const UnigramModel *m = o.model
    cdef ctok_status status
    if m.id_of[piece] != m.unk or m.unk == CTOK_NO_ID:
        status = end_run(o, ids)
        return ctok_ids_push(ids, m.id_of[piece]) if status == CTOK_OK else status
    if o.run == RUN_NONE:
        start_run(o)
    if o.run == RUN_UNKNOWN:
        return CTOK_OK
    if ctok_bytes_append(&o.run_text, p, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    learn_run(o, p, n)
    return settle_run(o, ids)


cdef void start_run(UnigramOpen *o) noexcept nogil:
    o.run = RUN_OPEN
    o.run_unit = ctok_trie_unit(&o.model.trie, CTOK_TRIE_ROOT)
    o.run_is_piece_start = not o.model.single
    o.run_has_gap = False


cdef void learn_run(UnigramOpen *o, const uint8_t *p, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        o.run_is_piece_start = o.run_is_piece_start and ctok_trie_step(&o.model.trie, &o.run_unit, p[i])
        o.run_has_gap = o.run_has_gap or o.model.byte_ids[p[i]] == CTOK_NO_ID


cdef ctok_status settle_run(UnigramOpen *o, ctok_ids *ids) noexcept nogil:
    """Let unknown characters leave when it is certain what they are."""
    cdef const UnigramModel *m = o.model
    cdef size_t i
    if o.run == RUN_OPEN:
        if o.run_is_piece_start:
            return CTOK_OK
        if not m.byte_fallback or o.run_has_gap:
            o.run = RUN_UNKNOWN
            o.run_text.n = 0
            return ctok_ids_push(ids, m.unk)
        if not m.all_bytes:
            return CTOK_OK
        o.run = RUN_BYTES
    if ctok_ids_reserve(ids, o.run_text.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for i in range(o.run_text.n):
        ids.at[ids.n + i] = m.byte_ids[o.run_text.at[i]]
    ids.n += o.run_text.n
    o.run_text.n = 0
    return CTOK_OK


cdef ctok_status end_run(UnigramOpen *o, ctok_ids *ids) noexcept nogil:
    """The unknown characters that stand together end here."""
    cdef ctok_status status = CTOK_OK
    if o.run == RUN_OPEN:
        status = viterbi_give_run(o.model, o.run_text.at, o.run_text.n, 0, ids, NULL)
    o.run = RUN_NONE
    ctok_bytes_free(&o.run_text)
    return status


# ---- the face ----

cdef void unigram_reset(UnigramOpen *o) noexcept nogil:
    """As new; keeps the places' room, which is never less than that of one."""
    o.text.n = o.next = o.patience = o.reaches.n = o.reaches.n_restarts = 0
    o.nodes[0].score = 0
    o.nodes[0].size = 0
    o.run = RUN_NONE
    o.is_loading = False
    begin_lineage(o)
    ctok_bytes_free(&o.run_text)
    trim(o)


cdef void trim(UnigramOpen *o) noexcept nogil:
    """Give back the room of an unusually long chunk."""
    cdef Node *nodes
    cdef uint8_t *text
    if o.cap <= 4 * ROOM or o.text.n >= ROOM:
        return
    nodes = <Node *>ctok_mem_resize(o.nodes, ROOM, sizeof(Node))
    if nodes != NULL:
        o.nodes = nodes
        o.cap = ROOM
    text = <uint8_t *>ctok_mem_resize(o.text.at, ROOM, 1)
    if text != NULL:
        o.text.at = text
        o.text.cap = ROOM


cdef void *unigram_open_new(const void *model) noexcept nogil:
    cdef UnigramOpen *o = <UnigramOpen *>ctok_mem_zeroed(1, sizeof(UnigramOpen))
    if o == NULL:
        return NULL
    o.model = <const UnigramModel *>model
    if reserve_nodes(o, 1) != CTOK_OK:
        unigram_open_free(o)
        return NULL
    unigram_reset(o)
    return o


cdef void unigram_open_free(void *state) noexcept nogil:
    cdef UnigramOpen *o = <UnigramOpen *>state
    if o != NULL:
        ctok_bytes_free(&o.text)
        ctok_bytes_free(&o.run_text)
        ctok_mem_free(o.nodes)
        ctok_mem_free(o.reaches.at)
        ctok_mem_free(o.reaches.restarts)
        ctok_mem_free(o)


cdef ctok_status unigram_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef UnigramOpen *o = <UnigramOpen *>state
    cdef size_t at = 0, size, border
    cdef ctok_status status
    while at < n:
        size = min(n - at, <size_t>BLOCK)
        status = extend(o, p + at, size)
        if status != CTOK_OK:
            return status
        at += size
        if o.text.n < o.patience:
            continue
        border = common_border(o)
        if border:
            status = release(o, border, ids)
            if status != CTOK_OK:
                return status
        # Where nothing is certain for long, looking at all of it again and again would cost the square of its length.
        o.patience = o.text.n + o.text.n // 8 if o.text.n > PATIENT else 0
    trim(o)
    return CTOK_OK


cdef ctok_status unigram_open_rest(UnigramOpen *o, ctok_ids *ids) noexcept nogil:
    if o.next != o.text.n:
        return CTOK_ERR_UTF8
    return release(o, o.text.n, ids) if o.text.n else CTOK_OK


cdef ctok_status unigram_open_end(void *state, ctok_ids *ids) noexcept nogil:
    cdef UnigramOpen *o = <UnigramOpen *>state
    cdef ctok_status status = unigram_open_rest(o, ids)
    if status == CTOK_OK:
        status = end_run(o, ids)
    unigram_reset(o)
    return status


cdef void *unigram_open_copy(const void *state) noexcept nogil:
    cdef void *other = unigram_open_new((<const UnigramOpen *>state).model)
    if other != NULL and unigram_open_catch_up(other, state) != CTOK_OK:
        unigram_open_free(other)
        return NULL
    return other


cdef ctok_status unigram_open_catch_up(void *state, const void *source) noexcept nogil:
    cdef UnigramOpen *to = <UnigramOpen *>state
    cdef const UnigramOpen *o = <const UnigramOpen *>source
    cdef Reach *at
    cdef size_t kept = to.text.n if to.lineage == o.lineage and to.text.n <= o.text.n else 0
    cdef size_t first = min(kept, to.next)              # of what is not complete yet the nodes may have changed
    to.lineage = 0
    to.text.n = kept
    to.run_text.n = to.reaches.n_restarts = 0
    if (reserve_nodes(to, o.text.n + 1) != CTOK_OK or ctok_bytes_append(&to.text, o.text.at + kept, o.text.n - kept) != CTOK_OK
            or ctok_bytes_append(&to.run_text, o.run_text.at, o.run_text.n) != CTOK_OK
            or copy_restarts(&to.reaches, &o.reaches) != CTOK_OK):
        return CTOK_ERR_MEMORY
    if to.reaches.cap < o.reaches.n:
        at = <Reach *>ctok_mem_resize(to.reaches.at, o.reaches.n, sizeof(Reach))
        if at == NULL:
            return CTOK_ERR_MEMORY
        to.reaches.at = at
        to.reaches.cap = o.reaches.n
    if o.reaches.n:
        memcpy(to.reaches.at, o.reaches.at, o.reaches.n * sizeof(Reach))
    to.reaches.n = o.reaches.n
    memcpy(to.nodes + first, o.nodes + first, (o.text.n + 1 - first) * sizeof(Node))
    to.next = o.next
    to.patience = o.patience
    to.run = o.run
    to.run_unit = o.run_unit
    to.run_is_piece_start = o.run_is_piece_start
    to.run_has_gap = o.run_has_gap
    to.is_loading = False
    to.lineage = o.lineage
    to.is_copy = True
    trim(to)
    return CTOK_OK


cdef ctok_status copy_restarts(Reaches *to, const Reaches *source) noexcept nogil:
    cdef size_t i
    for i in range(source.n_restarts):
        if add_restart(to, source.restarts[i].place, source.restarts[i].sum) != CTOK_OK:
            return CTOK_ERR_MEMORY
    return CTOK_OK


cdef ctok_status unigram_open_save(const void *state, ctok_bytes *out) noexcept nogil:
    """The run (a byte), the score at the border, the run's length and bytes, the text since the border; with scores in single precision
    before that how many restarts there are, and each. All else follows from these."""
    cdef const UnigramOpen *o = <const UnigramOpen *>state
    cdef uint8_t head[17]
    cdef uint64_t score
    cdef size_t i
    memcpy(&score, &o.nodes[0].score, 8)
    head[0] = <uint8_t>o.run
    ctok_le64_put(head + 1, score)
    ctok_le64_put(head + 9, o.run_text.n)
    if ctok_bytes_reserve(out, sizeof(head) + o.run_text.n + o.text.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    ctok_bytes_append(out, head, sizeof(head))
    ctok_bytes_append(out, o.run_text.at, o.run_text.n)
    if o.model.single:
        ctok_le64_put(head, o.reaches.n_restarts)
        if ctok_bytes_append(out, head, 8) != CTOK_OK:
            return CTOK_ERR_MEMORY
        for i in range(o.reaches.n_restarts):
            memcpy(&score, &o.reaches.restarts[i].sum, 8)
            ctok_le64_put(head, o.reaches.restarts[i].place)
            ctok_le64_put(head + 8, score)
            if ctok_bytes_append(out, head, 16) != CTOK_OK:
                return CTOK_ERR_MEMORY
    return ctok_bytes_append(out, o.text.at, o.text.n)


cdef ctok_status unigram_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil:
    cdef UnigramOpen *o = <UnigramOpen *>state
    cdef ctok_status status
    unigram_reset(o)
    if n == 0:
        return CTOK_OK
    status = load_checked(o, p, n)
    if status != CTOK_OK:
        unigram_reset(o)
    o.is_loading = False
    return status


cdef ctok_status load_restarts(UnigramOpen *o, const uint8_t **p, size_t *n) noexcept nogil:
    """Read them from (*p)[0..*n), and advance *p behind them."""
    cdef uint64_t i, many, place, before = 0, bits
    cdef double sum
    many = ctok_le64_get(p[0]) if n[0] >= 8 else 1
    if n[0] < 8 or many > (n[0] - 8) / 16:
        return CTOK_ERR_FORMAT
    for i in range(many):
        place = ctok_le64_get(p[0] + 8 + 16 * i)
        bits = ctok_le64_get(p[0] + 16 + 16 * i)
        memcpy(&sum, &bits, 8)
        if place <= before:
            return CTOK_ERR_FORMAT
        if add_restart(&o.reaches, place, <float>sum) != CTOK_OK:
            return CTOK_ERR_MEMORY
        before = place
    p[0] += 8 + 16 * many
    n[0] -= 8 + 16 * many
    return CTOK_OK


cdef ctok_status load_checked(UnigramOpen *o, const uint8_t *p, size_t n) noexcept nogil:
    """Paths are found again from the border on. Those that do not come through it are worse or gone, and none of them is alive."""
    cdef uint64_t score, n_run
    cdef ctok_status status
    if n < 17 or p[0] > RUN_BYTES or (p[0] != RUN_NONE and o.model.unk == CTOK_NO_ID) or (p[0] == RUN_OPEN and o.model.single):
        return CTOK_ERR_FORMAT
    n_run = ctok_le64_get(p + 9)
    if n_run > n - 17 or (n_run != 0) != (p[0] == RUN_OPEN) or (p[0] == RUN_BYTES and not o.model.all_bytes):
        return CTOK_ERR_FORMAT
    score = ctok_le64_get(p + 1)
    memcpy(&o.nodes[0].score, &score, 8)
    if o.model.single:
        o.nodes[0].score = <float>o.nodes[0].score
    start_run(o)
    o.run = p[0]
    if ctok_bytes_append(&o.run_text, p + 17, n_run) != CTOK_OK:
        return CTOK_ERR_MEMORY
    if o.run != RUN_NONE:
        o.run_is_piece_start = o.run == RUN_OPEN
        learn_run(o, p + 17, n_run)
    p += 17 + n_run
    n -= 17 + n_run
    if o.model.single:
        status = load_restarts(o, &p, &n)
        if status != CTOK_OK:
            return status
    o.is_loading = True
    if extend(o, p, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    return CTOK_OK if o.next == 0 or o.nodes[o.next].size else CTOK_ERR_FORMAT


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
