#include "ctok_bytelevel.h"

#include <string.h>

#include "ctok_le.h"
#include "ctok_mem.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define CTOK_BYTELEVEL_SSE2
#endif

/* Both alphabets spell a text character by character, so tokens with a common beginning stand side by side in either order. What differs is
 * only the order of the groups that go on with one byte each, and where no token stands before the one in front of it nothing differs at all. */

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS (ONES << 7)
#define IN_ORDER UINT32_MAX /* depth of a span that is in order already */

/* Tokens lo..hi-1 agree in their first `depth` bytes. */
typedef struct span {
    uint32_t lo, hi, depth;
} span;

typedef struct work {
    uint8_t *bytes;   /* of all tokens that are kept, in the order of the input; 8 may be read behind them */
    uint32_t *begin;  /* one more than there are tokens */
    ctok_id *ids;     /* of those that are kept; from the end on, backwards, the places of those that are not */
    uint32_t *drops;  /* which stand before the token in front of them, and behind them all UINT32_MAX */
    uint32_t n, n_drops;
    span *stack;      /* what is still to be put in order, the first of it on top */
    size_t height, cap;
    uint8_t *to_data; /* where the next token goes */
    uint32_t *to_ends;
    ctok_id *to_ids;
    uint32_t end;
    int16_t spells[CTOK_BYTELEVEL_CHARS]; /* the byte that a character spells, or -1 */
} work;

/* ---- spelling ---- */

/* Are the first n (1..8) of these eight bytes 33..126, which spell themselves? */
static int spell_themselves(uint64_t w, size_t n) {
    const uint64_t above = (w | HIGHS) - ONES * 33, last = (w & ~HIGHS) + ONES;
    return ((~above | last | w) & HIGHS) << (64 - 8 * n) == 0;
}

/* The bytes that n bytes of text spell, or SIZE_MAX when some character spells none. */
static size_t spelled(const work *w, const uint8_t *p, size_t n, uint8_t *to) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = p[i];
        if (c >= 0x80) {
            if (c < 0xC2 || c > 0xC5 || i + 1 >= n || (p[i + 1] & 0xC0) != 0x80) return SIZE_MAX; /* U+0080..U+017F */
            c = (c & 0x1F) << 6 | (p[++i] & 0x3F);
            if (c >= CTOK_BYTELEVEL_CHARS) return SIZE_MAX;
        }
        if (w->spells[c] < 0) return SIZE_MAX;
        to[m++] = (uint8_t)w->spells[c];
    }
    return m;
}

#ifdef CTOK_BYTELEVEL_SSE2
/* The bytes that n / 2 (1..8) characters of two bytes each spell, or SIZE_MAX: there are others, or some character spells none. */
static size_t spelled_wide(const uint8_t *p, size_t n, uint8_t *to) {
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i lead = _mm_and_si128(x, _mm_set1_epi16(0x1F)), behind = _mm_and_si128(_mm_srli_epi16(x, 8), _mm_set1_epi16(0x3F));
    const __m128i c = _mm_or_si128(_mm_slli_epi16(lead, 6), behind), last = _mm_cmpeq_epi16(c, _mm_set1_epi16(CTOK_BYTELEVEL_CHARS - 1));
    const __m128i wide = _mm_cmpeq_epi16(_mm_and_si128(x, _mm_set1_epi16((short)0xC0E0)), _mm_set1_epi16((short)0x80C0));
    const __m128i within = _mm_and_si128(_mm_cmpgt_epi16(c, _mm_set1_epi16(0xA0)), _mm_cmplt_epi16(c, _mm_set1_epi16(CTOK_BYTELEVEL_CHARS)));
    const __m128i good = _mm_andnot_si128(_mm_cmpeq_epi16(c, _mm_set1_epi16(0xAD)), _mm_and_si128(wide, within));
    /* Up to U+0120 it is the low byte; then what follows 126; the last is 173. */
    const __m128i less = _mm_and_si128(_mm_cmpgt_epi16(c, _mm_set1_epi16(0x120)), _mm_set1_epi16(0x121 - 127));
    const __m128i out = _mm_add_epi16(_mm_sub_epi16(c, less), _mm_and_si128(last, _mm_set1_epi16(173 - (0x143 - 0x121 + 127))));
    const unsigned bits = (unsigned)_mm_movemask_epi8(_mm_packs_epi16(good, good)) & 0xFF;
    if (n % 2 || ~bits & ((1u << n / 2) - 1)) return SIZE_MAX;
    _mm_storel_epi64((__m128i *)(void *)to, _mm_packus_epi16(_mm_and_si128(out, _mm_set1_epi16(0xFF)), out));
    return n / 2;
}
#else
static size_t spelled_wide(const uint8_t *p, size_t n, uint8_t *to) {
    (void)p, (void)n, (void)to;
    return SIZE_MAX;
}
#endif

/* `spelled` where 16 bytes may be read at p and written at `to`. Most tokens are a blank, or none, and a word: in ASCII, or in characters that
 * spell what is none. */
static size_t spelled_roomy(const work *w, const uint8_t *p, size_t n, uint8_t *to) {
    if (n == 0 || n > 16) return spelled(w, p, n, to);
    const size_t from = n > 2 && p[0] == 0xC4 && p[1] == 0xA0 ? 2 : 0, rest = n - from;
    const size_t n_first = rest < 8 ? rest : 8;
    if (rest <= 14 && spell_themselves(ctok_le64_get(p + from), n_first) && (rest <= 8 || spell_themselves(ctok_le64_get(p + n - 8), 8))) {
        to[0] = ' ';
        memcpy(to + from / 2, p + from, 14);
        return rest + from / 2;
    }
    const size_t m = p[n - 1] >= 0x80 ? spelled_wide(p, n, to) : SIZE_MAX;
    return m != SIZE_MAX ? m : spelled(w, p, n, to);
}

/* Does token q of m bytes stand before token p of n bytes? */
static int ascends(const uint8_t *q, size_t m, const uint8_t *p, size_t n) {
    const int order = memcmp(q, p, m < n ? m : n);
    return order < 0 || (order == 0 && m < n);
}

/* Spell all tokens that can be spelled. */
static ctok_status spell_all(work *w, const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n) {
    const uint32_t total = ends[n - 1];
    uint32_t from = 0, last = 0;
    uint64_t before = 0;
    w->begin[0] = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (ends[k] < from || ends[k] > total) return CTOK_ERR_FORMAT;
        const uint32_t size = ends[k] - from;
        const int roomy = total - from >= 16;
        const uint64_t head = roomy ? ctok_be64_roomy(data + from, size) : ctok_be64_prefix(data + from, size);
        if (k && head <= before && (head < before || !ascends(data + last, from - last, data + from, size))) return CTOK_ERR_FORMAT;
        uint8_t *to = w->bytes + w->begin[w->n];
        const size_t m = roomy ? spelled_roomy(w, data + from, size, to) : spelled(w, data + from, size, to);
        if (m == SIZE_MAX) {
            w->ids[n - 1 - (k - w->n)] = k;
        } else {
            w->ids[w->n++] = ids[k];
            w->begin[w->n] = (uint32_t)(to + m - w->bytes);
        }
        before = head;
        last = from;
        from = ends[k];
    }
    return CTOK_OK;
}

/* ---- order ---- */

static void find_drops(work *w) {
    uint64_t before = 0;
    for (uint32_t k = 0; k < w->n; k++) {
        const uint8_t *p = w->bytes + w->begin[k];
        const uint32_t size = w->begin[k + 1] - w->begin[k];
        const uint64_t head = ctok_be64_roomy(p, size);
        if (k && head <= before) {
            const uint32_t last = w->begin[k] - w->begin[k - 1];
            if (head < before || !ascends(p - last, last, p, size)) w->drops[w->n_drops++] = k;
        }
        before = head;
    }
    w->drops[w->n_drops] = UINT32_MAX;
}

static uint8_t byte_at(const work *w, uint32_t k, uint32_t depth) {
    return w->bytes[w->begin[k] + depth];
}

/* Where the tokens from lo on that go on with the same byte end; all up to hi go on. */
static uint32_t group_end(const work *w, uint32_t lo, uint32_t hi, uint32_t depth) {
    const uint8_t b = byte_at(w, lo, depth);
    uint32_t step = 1;
    while (step < hi - lo && byte_at(w, lo + step, depth) == b) {
        lo += step;
        step *= 2;
    }
    if (step < hi - lo) hi = lo + step;
    for (lo++; lo < hi;) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (byte_at(w, mid, depth) == b) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static uint32_t first_drop(const work *w, uint32_t above) {
    uint32_t lo = 0, hi = w->n_drops;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (w->drops[mid] <= above) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static ctok_status push(work *w, span s) {
    if (w->height == w->cap) {
        const size_t cap = w->cap * 2 + 512;
        span *stack = ctok_mem_resize(w->stack, cap, sizeof *stack);
        if (stack == NULL) return CTOK_ERR_MEMORY;
        w->stack = stack;
        w->cap = cap;
    }
    w->stack[w->height++] = s;
    return CTOK_OK;
}

/* Hand out tokens that are in order. */
static void write_out(work *w, uint32_t lo, uint32_t hi) {
    const uint32_t from = w->begin[lo], size = w->begin[hi] - from, shift = w->end - from;
    if (size) {
        memcpy(w->to_data, w->bytes + from, size);
        w->to_data += size;
    }
    memcpy(w->to_ids, w->ids + lo, (hi - lo) * sizeof *w->ids);
    for (uint32_t k = lo; k < hi; k++) w->to_ends[k - lo] = w->begin[k + 1] + shift;
    w->to_ids += hi - lo;
    w->to_ends += hi - lo;
    w->end += size;
}

/* Put the groups that go on with one byte each on the stack, the lowest byte on top; neighbours that are in order are one. */
static ctok_status push_groups(work *w, span s) {
    span groups[256];
    uint64_t there[4] = {0};
    uint32_t drop = first_drop(w, s.lo);
    for (uint32_t lo = s.lo, hi; lo < s.hi; lo = hi) {
        const uint8_t b = byte_at(w, lo, s.depth);
        hi = group_end(w, lo, s.hi, s.depth);
        while (w->drops[drop] <= lo) drop++;
        groups[b] = (span){lo, hi, w->drops[drop] < hi ? s.depth + 1 : IN_ORDER};
        there[(255 - b) >> 6] |= UINT64_C(1) << ((255 - b) & 63);
    }
    const size_t floor = w->height;
    for (unsigned i = 0; i < 4; i++) { /* from the highest byte down */
        for (; there[i]; there[i] &= there[i] - 1) {
            const span g = groups[255 - 64 * i - ctok_lowest_bit(there[i])];
            span *top = w->height > floor ? &w->stack[w->height - 1] : NULL;
            if (top && g.depth == IN_ORDER && top->depth == IN_ORDER && g.hi == top->lo) top->lo = g.lo;
            else if (push(w, g) != CTOK_OK) return CTOK_ERR_MEMORY;
        }
    }
    return CTOK_OK;
}

static ctok_status sort(work *w) {
    find_drops(w);
    ctok_status status = push(w, (span){0, w->n, w->n_drops ? 0 : IN_ORDER});
    while (w->height && status == CTOK_OK) {
        span s = w->stack[--w->height];
        if (s.depth == IN_ORDER) {
            write_out(w, s.lo, s.hi);
            continue;
        }
        if (w->begin[s.lo + 1] - w->begin[s.lo] == s.depth) { /* the token that ends here stands first in either order */
            write_out(w, s.lo, s.lo + 1);
            s.lo++;
        }
        status = push_groups(w, s);
    }
    return status;
}

/* ---- the table ---- */

/* Everything in one block, what needs the widest places first. */
static uint8_t *take_room(work *w, uint32_t n, size_t total, size_t *size) {
    *size = ((size_t)n + 1) * (sizeof *w->begin + sizeof *w->ids + sizeof *w->drops) + total + 8;
    uint8_t *room = ctok_mem_block(*size);
    if (room == NULL) return NULL;
    w->begin = (void *)room;
    w->ids = w->begin + n + 1;
    w->drops = w->ids + n + 1;
    w->bytes = (void *)(w->drops + n + 1);
    return room;
}

ctok_status ctok_bytelevel_table(const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n, uint8_t *to_data,
                                 uint32_t *to_ends, ctok_id *to_ids, uint32_t *to_n) {
    work w = {.to_data = to_data, .to_ends = to_ends, .to_ids = to_ids};
    size_t size;
    *to_n = 0;
    if (n == 0) return CTOK_OK;
    uint8_t *room = take_room(&w, n, ends[n - 1], &size);
    if (room == NULL) return CTOK_ERR_MEMORY;
    for (uint32_t c = 0; c < CTOK_BYTELEVEL_CHARS; c++) w.spells[c] = (int16_t)ctok_bytelevel_byte(c);
    ctok_status status = spell_all(&w, data, ends, ids, n);
    if (status == CTOK_OK && w.n) status = sort(&w);
    for (uint32_t i = w.n; i < n && status == CTOK_OK; i++) to_ids[i] = w.ids[n - 1 - (i - w.n)];
    *to_n = w.n;
    ctok_mem_free(w.stack);
    ctok_mem_unblock(room, size);
    return status;
}
