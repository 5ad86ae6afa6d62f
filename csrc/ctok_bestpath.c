/* From each character the pieces that start with it are walked. How many there are, and which of two paths is the better one, cannot be
 * foreseen. So the first steps are taken in any case, to nowhere if need be, and offered to four places at once, without a branch: those
 * places are in registers, and the window moves on with the text. */
#include "ctok_bestpath.h"

#include <math.h>
#include <string.h>

#include "ctok_mem.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LABEL 9u
#define MINUS_INFINITY UINT32_C(0xFF800000)
#define NOWHERE ((uint64_t)MINUS_INFINITY << 32) /* a cell without children and piece */
#define AHEAD 4u                                 /* places in the window, and steps from a character: its own and three more */

/* ---- building ---- */

static uint32_t bits_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

ctok_status ctok_bestpath_init(ctok_bestpath *b, const ctok_trie *t, const double *scores, const uint8_t *data, const uint32_t *ends,
                               uint32_t n) {
    if (t->n_units > CTOK_BESTPATH_MAX_UNITS) return CTOK_ERR_FORMAT;
    b->unknown = (float)scores[0];
    b->n_cells = t->n_units;
    b->cells = (ctok_cell *)ctok_mem_block(t->n_units * sizeof *b->cells);
    if (b->cells == NULL) return CTOK_ERR_MEMORY;
    for (size_t i = 0; i < t->n_units; i++) {
        const uint64_t unit = ctok_trie_unit(t, i);
        const uint32_t piece = ctok_trie_piece(unit);
        const uint64_t score = piece ? bits_of((float)scores[piece]) : MINUS_INFINITY;
        b->cells[i] = score << 32 | (uint64_t)ctok_trie_base(unit) << LABEL | (unit & CTOK_TRIE_NO_BYTE);
    }
    const ctok_status status = ctok_beside_init(&b->beside, data, ends, n, t);
    if (status != CTOK_OK) ctok_bestpath_free(b);
    return status;
}

void ctok_bestpath_free(ctok_bestpath *b) {
    if (b->cells != NULL) ctok_mem_unblock(b->cells, b->n_cells * sizeof *b->cells);
    b->cells = NULL;
    ctok_beside_free(&b->beside);
}

/* ---- steps ---- */

/* The child of a cell for a byte, or NOWHERE; *node is where it would stand. */
static inline uint64_t step(const ctok_cell *cells, uint64_t cell, uint8_t byte, uint32_t *node) {
    const uint32_t at = ((uint32_t)cell >> LABEL) + byte;
    const uint64_t child = cells[at], found = 0 - (uint64_t)((child & CTOK_TRIE_NO_BYTE) == byte);
    *node = at;
    return NOWHERE ^ ((child ^ NOWHERE) & found);
}

/* Where the character at p stands, or 0; 4 bytes can be read. */
static inline uint32_t first_node(const ctok_bestpath *b, const uint8_t *p, size_t *size) {
    uint32_t node = 0;
    const size_t line = ctok_beside_at(p, 4, size);
    if (CTOK_LIKELY(line != CTOK_BESIDE_PLANE || *size < 4)) return b->beside.chars[line].node;
    uint64_t cell = b->cells[CTOK_TRIE_ROOT];
    for (size_t i = 0; i < 4; i++) cell = step(b->cells, cell, p[i], &node);
    return cell == NOWHERE ? 0 : node;
}

/* ---- places ahead ---- */

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* A path to one place. */
static inline void offer(ctok_places *at, size_t place, float path, uint32_t last) {
    const float best = at->best[place], second = at->second[place];
    const float high = path > best ? path : best, low = best < path ? best : path;
    at->second[place] = low > second ? low : second;
    at->best[place] = high;
    if (bits_of(high) != bits_of(best)) at->last[place] = last;
}

#if defined(__SSE2__)
/* The four places from the next one on. */
typedef struct window {
    __m128 best, second;
    __m128i last;
} window;

static inline void open_window(window *w, ctok_places *at) {
    (void)at;
    w->best = w->second = _mm_set1_ps(float_of(MINUS_INFINITY));
    w->last = _mm_setzero_si128();
}

static inline __m128i four(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return _mm_set_epi32((int)d, (int)c, (int)b, (int)a);
}

/* A path to each of the four places from `place` on. */
static inline void offer_four(window *w, size_t place, float here, const uint64_t *cells, const uint32_t *nodes, uint32_t start) {
    (void)place;
    const __m128i scores = four((uint32_t)(cells[0] >> 32), (uint32_t)(cells[1] >> 32), (uint32_t)(cells[2] >> 32),
                                (uint32_t)(cells[3] >> 32));
    const __m128i last = _mm_or_si128(four(nodes[0], nodes[1], nodes[2], nodes[3]), _mm_set1_epi32((int)start));
    const __m128 path = _mm_add_ps(_mm_set1_ps(here), _mm_castsi128_ps(scores));
    const __m128i better = _mm_castps_si128(_mm_cmpgt_ps(path, w->best));
    w->second = _mm_max_ps(_mm_min_ps(path, w->best), w->second);
    w->best = _mm_max_ps(path, w->best);
    w->last = _mm_or_si128(_mm_and_si128(better, last), _mm_andnot_si128(better, w->last));
}

/* All but the first of a window, and the one that comes in. */
static inline __m128i shifted(__m128i all, __m128i in) {
    return _mm_or_si128(_mm_srli_si128(all, 4), _mm_slli_si128(in, 12));
}

/* The window moves from `place` to the next; what was found for the one is kept, what is known of the one that comes in is fetched. */
static inline float move_on(window *w, ctok_places *at, size_t place) {
    const float best = _mm_cvtss_f32(w->best);
    const __m128 in = _mm_load_ss(at->best + place + AHEAD), in_second = _mm_load_ss(at->second + place + AHEAD);
    const __m128i in_last = _mm_cvtsi32_si128((int)at->last[place + AHEAD]);
    at->best[place] = best;
    at->second[place] = _mm_cvtss_f32(w->second);
    at->last[place] = (uint32_t)_mm_cvtsi128_si32(w->last);
    w->best = _mm_castsi128_ps(shifted(_mm_castps_si128(w->best), _mm_castps_si128(in)));
    w->second = _mm_castsi128_ps(shifted(_mm_castps_si128(w->second), _mm_castps_si128(in_second)));
    w->last = shifted(w->last, in_last);
    return best;
}
#else
typedef struct window {
    ctok_places *at;
} window;

static inline void open_window(window *w, ctok_places *at) {
    w->at = at;
}

static inline void offer_four(window *w, size_t place, float here, const uint64_t *cells, const uint32_t *nodes, uint32_t start) {
    for (size_t i = 0; i < AHEAD; i++) offer(w->at, place + i, here + float_of((uint32_t)(cells[i] >> 32)), start | nodes[i]);
}

static inline float move_on(window *w, ctok_places *at, size_t place) {
    (void)w;
    return at->best[place];
}
#endif

/* ---- the search ---- */

/* The first steps from a character. */
typedef struct walk {
    uint64_t cells[AHEAD];
    uint32_t nodes[AHEAD];
    uint32_t size;           /* of the character */
} walk;

/* Walks from all characters of at->text[0..n): none waits for another, so what they read is fetched side by side. */
static size_t walk_all(const ctok_bestpath *b, const ctok_places *at, size_t n, walk *walks) {
    const ctok_cell *cells = b->cells;
    const uint64_t unknown = (uint64_t)bits_of(b->unknown) << 32;
    size_t n_chars = 0, size;
    for (size_t s = 0; s < n; s += size) {
        walk *w = walks + n_chars++;
        const uint32_t node = first_node(b, at->text + s, &size);
        uint64_t cell = node ? cells[node] : NOWHERE;
        const uint64_t alone = 0 - (uint64_t)(cell >> 32 != MINUS_INFINITY);
        w->size = (uint32_t)size;
        w->cells[0] = (cell & alone) | (unknown & ~alone);
        w->nodes[0] = node & (uint32_t)alone;
        for (unsigned i = 1; i < AHEAD; i++) w->cells[i] = cell = step(cells, cell, at->text[s + size + i - 1], &w->nodes[i]);
    }
    return n_chars;
}

/* The steps behind the first ones, from place `at` on, of the piece that starts at `start`. */
static void go_far(const ctok_cell *cells, uint64_t cell, ctok_places *at, size_t place, size_t n, float here, uint32_t start) {
    uint32_t node;
    for (; (uint32_t)cell >> LABEL && place <= n; place++) {
        cell = step(cells, cell, at->text[place - 1], &node);
        offer(at, place, here + float_of((uint32_t)(cell >> 32)), start | node);
    }
}

size_t ctok_bestpath_find(const ctok_bestpath *b, ctok_places *at, const uint8_t *p, size_t n, float before) {
    walk walks[CTOK_BESTPATH_BYTES];
    window w;
    size_t place = 0;
    float here = before;
    memcpy(at->text, p, n);
    memset(at->text + n, 0, 2 * AHEAD);
    for (size_t i = 0; i < n + 3 * AHEAD; i++) at->best[i] = at->second[i] = float_of(MINUS_INFINITY);
    open_window(&w, at);
    const size_t n_chars = walk_all(b, at, n, walks);
    for (size_t k = 0; k < n_chars; k++) {
        const walk *one = walks + k;
        const uint32_t start = (uint32_t)place << CTOK_BESTPATH_NODE;
        for (size_t i = 1; i < one->size; i++) move_on(&w, at, ++place);
        place++;
        offer_four(&w, place, here, one->cells, one->nodes, start);
        const uint64_t last = one->cells[AHEAD - 1];
        if (CTOK_UNLIKELY((uint32_t)last >> LABEL)) go_far(b->cells, last, at, place + AHEAD, n, here, start);
        here = move_on(&w, at, place);
    }
    if (place != n) at->best[n] = float_of(MINUS_INFINITY);
    return n_chars;
}
