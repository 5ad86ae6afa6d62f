#include "ctok_vocab.h"

#include "ctok_le.h"
#include "ctok_mem.h"
#include "ctok_vocab_shown.h"

/* Slots for n entries at a load of at most 0.6, as a power of two. */
static uint32_t bits_for(size_t n) {
    uint32_t bits = 4;
    while (((size_t)1 << bits) * 6 < n * 10) bits++;
    return bits;
}

#define EIGHT(byte) (UINT64_C(0x0101010101010101) * (byte))
#define FOUR(two) (UINT64_C(0x0001000100010001) * (two))

/* How many of up to eight bytes are ASCII alone, or characters of two bytes alone: all or none. 8 may be read. */
static inline size_t plain_bytes(const uint8_t *p, size_t left) {
    const size_t n = left < 8 ? left : 8;
    const uint64_t w = ctok_load_le(p, 8), rest = n < 8 ? ~UINT64_C(0) << (8 * n) : 0;
    if ((w & EIGHT(0x80) & ~rest) == 0) return n;
    const uint64_t wrong = (w & FOUR(0xC0E0)) ^ FOUR(0x80C0), leads = (w & FOUR(0x1E)) + FOUR(0xFE); /* a lead of C0 or C1 has no carry */
    return n % 2 == 0 && ((wrong | (~leads & FOUR(0x100))) & ~rest) == 0 ? n : 0;
}

/* Is it UTF-8 by itself? 8 may be read behind it. */
static int is_utf8(const uint8_t *p, size_t n) {
    size_t i = 0;
    while (i < n) {
        const uint8_t b = p[i];
        const size_t plain = b < 0xE0 ? plain_bytes(p + i, n - i) : 0;
        if (plain) {
            i += plain;
            continue;
        }
        size_t more;
        uint8_t lo = 0x80, hi = 0xBF;
        if (b < 0x80) more = 0;
        else if (b < 0xC2 || b > 0xF4) return 0;
        else if (b < 0xE0) more = 1;
        else if (b < 0xF0) more = 2, lo = b == 0xE0 ? 0xA0 : 0x80, hi = b == 0xED ? 0x9F : 0xBF;
        else more = 3, lo = b == 0xF0 ? 0x90 : 0x80, hi = b == 0xF4 ? 0x8F : 0xBF;
        if (more > n - i - 1) return 0;
        for (size_t j = 1; j <= more; j++, lo = 0x80, hi = 0xBF)
            if (p[i + j] < lo || p[i + j] > hi) return 0;
        i += more + 1;
    }
    return 1;
}

static uint32_t flags_of(const uint8_t *p, size_t n) {
    uint64_t seen = 0;
    size_t i = 0;
    if (n == 0) return CTOK_TOKEN_KNOWN; /* says nothing about what stands before and after it */
    for (; i + 8 < n; i += 8) seen |= ctok_load_le(p + i, 8);
    seen |= ctok_load_le(p + i, n - i);
    if ((seen & EIGHT(0x80)) == 0) return CTOK_TOKEN_KNOWN | CTOK_TOKEN_ASCII | CTOK_TOKEN_UTF8;
    return is_utf8(p, n) ? CTOK_TOKEN_KNOWN | CTOK_TOKEN_UTF8 : CTOK_TOKEN_KNOWN;
}

static void insert(ctok_vocab *v, uint64_t h, ctok_id id) {
    const size_t mask = ((size_t)1 << v->slot_bits) - 1;
    size_t at = ctok_vocab_place(v, h);
    while (v->slots[at] != 0) at = (at + 1) & mask;
    v->slots[at] = ctok_vocab_tag(v, h) | id;
}

/* Which entry breaks a rule: the first that does. */
static ctok_status refuse(const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens, uint32_t *bad) {
    for (uint32_t k = 0, at = 0; k < n_tokens; at = ends[k++]) {
        *bad = k;
        if (ends[k] < at || (ends[k] == at && k > 0) || ids[k] >= INT32_MAX || ends[k] - at >= 1u << 24) break;
    }
    return CTOK_ERR_FORMAT;
}

/* What can be said before anything is built: sizes, order of the offsets, number of short tokens. */
static ctok_status survey(ctok_vocab *v, const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens,
                          const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra, uint32_t *bad) {
    uint32_t at = 0, longest = n_tokens ? ends[0] : 0, largest = n_tokens ? ids[0] : 0, wrong = 0;
    for (uint32_t k = 1; k < n_tokens; k++) { /* without a branch, so that compilers take several at once */
        const uint32_t n = ends[k] - ends[k - 1];
        longest = n > longest ? n : longest;
        largest = ids[k] > largest ? ids[k] : largest;
        wrong |= (uint32_t)(ends[k] <= ends[k - 1]);
    }
    if (wrong || longest >= 1u << 24 || largest >= INT32_MAX) return refuse(ends, ids, n_tokens, bad);
    v->longest = longest;
    v->n_ids = n_tokens ? largest + 1 : 0;
    v->n_bytes = n_tokens ? ends[n_tokens - 1] : 0;
    *bad = n_tokens ? n_tokens - 1 : 0;
    for (uint32_t k = 0; k < n_extra; k++) {
        *bad = n_tokens + k;
        if (extra_ends[k] <= at || extra_ids[k] > INT32_MAX || extra_ends[k] - at >= 1u << 24) return CTOK_ERR_FORMAT;
        if (extra_ids[k] >= v->n_ids) v->n_ids = extra_ids[k] + 1;
        at = extra_ends[k];
    }
    if (v->n_bytes + at > UINT32_MAX - CTOK_VOCAB_PAD) return CTOK_ERR_FORMAT;
    v->n_bytes += at;
    v->n_tokens = n_tokens;
    return CTOK_OK;
}

/* Below this number of tokens the tables by two bytes would be larger than everything else; a set of special tokens does without. */
#define SMALL_VOCAB 4096u

/* The next place in the block for n items of size bytes, at a cache line. */
static uint64_t place(uint64_t *at, uint64_t n, size_t size) {
    const uint64_t here = (*at + 63) & ~UINT64_C(63);
    *at = here + n * size;
    return here;
}

/* What is only shown has no table by bytes but an empty one, no tables by two bytes and no room for what kernels learn of splits. */
static ctok_status reserve(ctok_vocab *v, int shown) {
    v->slot_bits = bits_for(shown ? 0 : v->n_tokens);
    while (v->n_ids >> v->id_bits) v->id_bits++;
    /* One block for all arrays: first the places, then the pointers. What is hardly read stands last. */
    uint64_t at = 0;
    const uint64_t n_pairs = shown || v->n_tokens < SMALL_VOCAB ? 0 : 65536, n_splits = shown ? 0 : v->n_ids;
    const uint64_t slots = place(&at, (uint64_t)1 << v->slot_bits, sizeof *v->slots), pairs = place(&at, n_pairs, sizeof *v->pairs);
    const uint64_t begin = place(&at, (uint64_t)v->n_tokens + 1, sizeof *v->begin), id_of = place(&at, v->n_tokens, sizeof *v->id_of);
    const uint64_t bytes = place(&at, (uint64_t)v->n_bytes + CTOK_VOCAB_PAD, 1), by_id = place(&at, v->n_ids, sizeof *v->by_id);
    const uint64_t first2 = place(&at, n_pairs + 1, sizeof *v->first2), split = place(&at, n_splits, sizeof *v->split);
    if (at > PTRDIFF_MAX) return CTOK_ERR_MEMORY;
    uint8_t *room = ctok_mem_block((size_t)at);
    if (room == NULL) return CTOK_ERR_MEMORY;
    v->room = room;
    v->room_bytes = (size_t)at;
    v->slots = (void *)(room + slots);
    v->pairs = n_pairs ? (void *)(room + pairs) : NULL;
    v->begin = (void *)(room + begin);
    v->id_of = (void *)(room + id_of);
    v->bytes = room + bytes;
    v->by_id = (void *)(room + by_id);
    v->first2 = n_pairs ? (void *)(room + first2) : NULL;
    v->split = (void *)(room + split);
    for (size_t i = 0; i < n_pairs; i++) v->pairs[i].id = CTOK_NO_ID;
    return CTOK_OK;
}

/* Does token q of m bytes stand before token p of n bytes? */
static int ascends(const uint8_t *q, size_t m, const uint8_t *p, size_t n) {
    const int order = memcmp(q, p, m < n ? m : n);
    return order < 0 || (order == 0 && m < n);
}

/* The places where each first byte and each pair of first bytes begins. *lead and *lead2 are the last entries set so far. */
static void mark_first(ctok_vocab *v, uint32_t k, const uint8_t *p, uint32_t n, int *lead, int *lead2) {
    const int pair = n > 1 ? p[0] << 8 | p[1] : (p[0] << 8) - 1;
    while (*lead < p[0]) v->first[++*lead] = k;
    while (v->first2 && *lead2 < pair) v->first2[++*lead2] = k;
}

/* What is found out about a token some time before it is entered. */
typedef struct seen {
    uint64_t hash;
    uint64_t head; /* its first bytes in order */
    uint32_t flags;
} seen;

/* Look at the tokens k..k + n - 1 and begin to fetch what entering them will touch: their ids and hashes lie anywhere. */
static inline void look_ahead(const ctok_vocab *v, const ctok_id *ids, uint32_t k, uint32_t n, int shown, seen *found) {
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *p = v->bytes + v->begin[k + i];
        const uint32_t len = v->begin[k + i + 1] - v->begin[k + i];
        uint64_t key[2];
        ctok_key_roomy(p, len, key);
        found[i].hash = shown ? 0 : ctok_vocab_hash(p, len, key);
        found[i].head = ctok_be64_roomy(p, len);
        CTOK_PREFETCH(&v->by_id[ids[k + i]]);
        if (!shown) CTOK_PREFETCH(&v->slots[ctok_vocab_place(v, found[i].hash)]);
        const int plain = len > 0 && len <= CTOK_KEY_BYTES && ((key[0] | (key[1] & ~UINT64_C(0) >> 8)) & EIGHT(0x80)) == 0;
        found[i].flags = plain ? CTOK_TOKEN_KNOWN | CTOK_TOKEN_ASCII | CTOK_TOKEN_UTF8 : flags_of(p, len);
    }
}

static inline void enter(ctok_vocab *v, uint32_t k, ctok_id id, int shown, const seen *found, int *lead, int *lead2) {
    const uint8_t *p = v->bytes + v->begin[k];
    const uint32_t n = v->begin[k + 1] - v->begin[k];
    ctok_token *t = &v->by_id[id];
    t->begin = v->begin[k];
    t->len = n & 0xFFFFFFu;
    t->flags = found->flags & 0xFFu;
    if (n == 0) return; /* an id that decodes to nothing; no text is it */
    mark_first(v, k, p, n, lead, lead2);
    if (n == 1) v->byte_id[p[0]] = id;
    if (n == 2 && v->pairs) v->pairs[p[0] | p[1] << 8].id = id;
    if (!shown) insert(v, found->hash, id);
}

/* Does token k stand behind the one before it, whose first bytes are `last`? */
static int in_order(const ctok_vocab *v, uint32_t k, uint64_t last, uint64_t head) {
    if (k == 0 || last < head) return 1;
    const uint32_t begin = v->begin[k], before = begin - v->begin[k - 1];
    return last == head && ascends(v->bytes + begin - before, before, v->bytes + begin, v->begin[k + 1] - begin);
}

static inline ctok_status fill(ctok_vocab *v, const ctok_id *ids, int shown, uint32_t *bad) {
    enum { AHEAD = 32 };
    seen found[AHEAD];
    uint64_t last = 0;
    int lead = -1, lead2 = -1;
    for (uint32_t from = 0; from < v->n_tokens; from += AHEAD) {
        const uint32_t n = v->n_tokens - from < AHEAD ? v->n_tokens - from : AHEAD;
        look_ahead(v, ids, from, n, shown, found);
        for (uint32_t k = from; k < from + n; k++) {
            *bad = k;
            if (!in_order(v, k, last, found[k - from].head)) return CTOK_ERR_FORMAT;
            if (v->by_id[ids[k]].flags != 0) v->has_hidden |= CTOK_VOCAB_HIDES;
            last = found[k - from].head;
            enter(v, k, ids[k], shown, &found[k - from], &lead, &lead2);
        }
    }
    while (lead < 256) v->first[++lead] = v->n_tokens;
    while (v->first2 && lead2 < 65536) v->first2[++lead2] = v->n_tokens;
    return CTOK_OK;
}

static void fill_extra(ctok_vocab *v, uint32_t at, const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra) {
    for (uint32_t k = 0; k < n_extra; k++) {
        const uint32_t n = extra_ends[k] - (k ? extra_ends[k - 1] : 0);
        ctok_token *t = &v->by_id[extra_ids[k]];
        if (!(t->flags & CTOK_TOKEN_SPECIAL)) {
            if (t->flags & CTOK_TOKEN_KNOWN) v->has_hidden |= CTOK_VOCAB_HIDES;
            t->begin = at;
            t->len = n & 0xFFFFFFu;
            t->flags = (flags_of(v->bytes + at, n) | CTOK_TOKEN_SPECIAL) & 0xFFu;
        }
        at += n;
    }
}

static ctok_status build(ctok_vocab *v, const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens,
                         const uint8_t *extra, const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra, int shown,
                         uint32_t *bad) {
    memset(v, 0, sizeof *v);
    *bad = 0;
    for (int b = 0; b < 256; b++) v->byte_id[b] = CTOK_NO_ID;
    ctok_status status = survey(v, ends, ids, n_tokens, extra_ends, extra_ids, n_extra, bad);
    if (status == CTOK_OK) status = reserve(v, shown);
    if (status == CTOK_OK) {
        const uint32_t n_data = n_tokens ? ends[n_tokens - 1] : 0;
        v->n_ordinary = n_data;
        if (n_data) memcpy(v->bytes, data, n_data);
        if (n_extra) memcpy(v->bytes + n_data, extra, v->n_bytes - n_data);
        memset(v->bytes + v->n_bytes, 0, CTOK_VOCAB_PAD);
        v->begin[0] = 0;
        if (n_tokens) {
            memcpy(v->begin + 1, ends, (size_t)n_tokens * sizeof *ends);
            memcpy(v->id_of, ids, (size_t)n_tokens * sizeof *ids);
        }
        if (shown) v->has_hidden = CTOK_VOCAB_SHOWN;
        status = shown ? fill(v, ids, 1, bad) : fill(v, ids, 0, bad);
        if (status == CTOK_OK) fill_extra(v, n_data, extra_ends, extra_ids, n_extra);
    }
    if (status != CTOK_OK) ctok_vocab_free(v);
    return status;
}

ctok_status ctok_vocab_init(ctok_vocab *v, const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens,
                            const uint8_t *extra, const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra,
                            uint32_t *bad) {
    return build(v, data, ends, ids, n_tokens, extra, extra_ends, extra_ids, n_extra, 0, bad);
}

ctok_status ctok_vocab_init_shown(ctok_vocab *v, const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens,
                                  const uint8_t *extra, const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra,
                                  uint32_t *bad) {
    return build(v, data, ends, ids, n_tokens, extra, extra_ends, extra_ids, n_extra, 1, bad);
}

void ctok_vocab_free(ctok_vocab *v) {
    ctok_mem_unblock(v->room, v->room_bytes);
    ctok_mem_unblock(v->joins.slots, ctok_joins_bytes(&v->joins));
    memset(v, 0, sizeof *v);
}

/* First k in [lo, hi) whose byte at depth, which all of them have, is >= b. */
static uint32_t lower(const ctok_vocab *v, uint32_t lo, uint32_t hi, uint32_t depth, unsigned b) {
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (v->bytes[v->begin[mid] + depth] < b) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

ctok_range ctok_range_step(const ctok_vocab *v, ctok_range r, uint8_t b) {
    ctok_range out = {r.lo, r.lo, r.depth + 1};
    if (r.depth == 0) {
        out.lo = v->first[b];
        out.hi = v->first[b + 1];
        return out;
    }
    if (r.depth == 1 && r.lo < r.hi && v->first2) {
        const unsigned lead = v->bytes[v->begin[r.lo]];
        out.lo = v->first2[lead << 8 | b];
        out.hi = b == 0xFF ? r.hi : v->first2[(lead << 8 | b) + 1];
        return out;
    }
    if (r.lo < r.hi && v->begin[r.lo + 1] - v->begin[r.lo] == r.depth) r.lo++; /* the text of r itself */
    out.lo = lower(v, r.lo, r.hi, r.depth, b);
    uint32_t stride = 1; /* the end is near, as a rule */
    for (out.hi = out.lo; out.hi + stride < r.hi && v->bytes[v->begin[out.hi + stride] + r.depth] == b; stride *= 2) out.hi += stride;
    out.hi = lower(v, out.hi, out.hi + stride < r.hi ? out.hi + stride : r.hi, r.depth, (unsigned)b + 1);
    return out;
}

int ctok_vocab_begins(const ctok_vocab *v, const uint8_t *p, size_t n) {
    ctok_range r = {v->first[p[0]], v->first[p[0] + 1], 1};
    if (n == 1) return ctok_range_goes_on(v, r);
    if (v->first2) r = ctok_range_step(v, r, p[1]);
    return v->first2 && n == 2 ? ctok_range_goes_on(v, r) : ctok_vocab_begins_among(v, r.lo, r.hi, p, n);
}

int ctok_vocab_begins_among(const ctok_vocab *v, uint32_t lo, uint32_t hi, const uint8_t *p, size_t n) {
    uint8_t text[8] = {0};
    memcpy(text, p, n < 8 ? n : 8);
    const uint32_t end = hi;
    while (lo < hi) { /* the first token that stands behind p */
        const uint32_t mid = lo + (hi - lo) / 2, len = v->begin[mid + 1] - v->begin[mid];
        const uint8_t *q = v->bytes + v->begin[mid];
        const size_t m = len < n ? len : n;
        const uint64_t own = ctok_be64_roomy(q, m), least = ctok_be64_roomy(text, m);
        int order = own < least ? -1 : own > least;
        if (order == 0 && m > 8) order = memcmp(q + 8, p + 8, m - 8);
        if (order < 0 || (order == 0 && len <= n)) lo = mid + 1;
        else hi = mid;
    }
    return lo < end && v->begin[lo + 1] - v->begin[lo] > n && memcmp(v->bytes + v->begin[lo], p, n) == 0;
}
