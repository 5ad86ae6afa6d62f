/* As in csrc/ctok_bestpath.c the first steps from each character are taken in any case, and offered to four places at once, which are in
 * registers: nothing of that needs a branch. */
#include "ctok_finepath.h"

#include <math.h>
#include <string.h>

#include "ctok_mem.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define AHEAD CTOK_FINEPATH_AHEAD /* places in the window, too */
#define FARTHEST 1e300            /* of a score from 0 */

static const double WORST = -INFINITY;

/* ---- building ---- */

ctok_status ctok_finepath_init(ctok_finepath *f, const ctok_trie *t, const double *scores, size_t n_pieces) {
    for (size_t i = 0; i <= n_pieces; i++) {
        if (!(fabs(scores[i]) < FARTHEST)) return CTOK_ERR_FORMAT;
    }
    f->scores = (double *)ctok_mem_alloc(n_pieces + 1, sizeof *f->scores);
    if (f->scores == NULL) return CTOK_ERR_MEMORY;
    memcpy(f->scores, scores, (n_pieces + 1) * sizeof *scores);
    f->scores[0] = WORST;
    f->unknown = scores[0];
    f->t = t;
    return CTOK_OK;
}

void ctok_finepath_free(ctok_finepath *f) {
    ctok_mem_free(f->scores);
    f->scores = NULL;
}

/* ---- steps ---- */

/* The child of a unit for a byte, or 0: a unit without children and piece. */
static inline uint64_t step(const uint64_t *units, uint64_t unit, uint8_t byte) {
    const uint64_t child = units[ctok_trie_base(unit) + byte];
    return child & (UINT64_C(0) - (uint64_t)(((child ^ byte) & CTOK_TRIE_NO_BYTE) == 0));
}

/* Walks from all characters of at->text[0..n): none waits for another, so what they read is fetched side by side. */
static size_t walk_all(const ctok_finepath *f, ctok_fineplaces *at, size_t n) {
    const uint64_t *units = f->t->units, root = units[CTOK_TRIE_ROOT];
    size_t n_chars = 0;
    for (const uint8_t *p = at->text, *end = p + n; p < end;) {
        ctok_finewalk *w = at->walks + n_chars++;
        const uint8_t lead = *p;
        uint64_t unit = step(units, root, lead);
        w->size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        for (unsigned i = 1; i < w->size; i++) unit = step(units, unit, p[i]);
        p += w->size;
        w->pieces[0] = ctok_trie_piece(unit);
        w->scores[0] = w->pieces[0] ? f->scores[w->pieces[0]] : f->unknown;
        for (unsigned i = 1; i < AHEAD; i++) {
            unit = step(units, unit, p[i - 1]);
            w->pieces[i] = ctok_trie_piece(unit);
            w->scores[i] = f->scores[w->pieces[i]];
        }
        w->far = unit;
        CTOK_PREFETCH(units + ctok_trie_base(unit) + p[AHEAD - 1]);
    }
    return n_chars;
}

/* ---- places ahead ---- */

#if defined(__SSE2__)
/* The four places from the next one on: two and two. */
typedef struct window {
    __m128d here; /* the best path to this one, twice */
    __m128d near, far;
    __m128i last;
} window;

static inline void open_window(window *w, ctok_fineplaces *at) {
    (void)at;
    w->here = _mm_setzero_pd();
    w->near = w->far = _mm_set1_pd(WORST);
    w->last = _mm_setzero_si128();
}

/* A path to each of the four places. */
static inline void offer_four(window *w, size_t place, const double *scores, uint32_t last) {
    (void)place;
    const __m128d near = _mm_add_pd(w->here, _mm_loadu_pd(scores)), far = _mm_add_pd(w->here, _mm_loadu_pd(scores + 2));
    const __m128 near_better = _mm_castpd_ps(_mm_cmpgt_pd(near, w->near)), far_better = _mm_castpd_ps(_mm_cmpgt_pd(far, w->far));
    const __m128i better = _mm_castps_si128(_mm_shuffle_ps(near_better, far_better, 0x88));
    w->near = _mm_max_pd(near, w->near);
    w->far = _mm_max_pd(far, w->far);
    w->last = _mm_or_si128(_mm_and_si128(better, _mm_set1_epi32((int)last)), _mm_andnot_si128(better, w->last));
}

/* The window moves from `place` to the next; what was found for the one is kept, what is known of the one that comes in is fetched. */
static inline void move_on(window *w, ctok_fineplaces *at, size_t place) {
    at->last[place] = (uint32_t)_mm_cvtsi128_si32(w->last);
    w->near = _mm_shuffle_pd(w->near, w->far, 1);
    w->far = _mm_shuffle_pd(w->far, _mm_load_sd(at->best + place + AHEAD), 1);
    w->last = _mm_or_si128(_mm_srli_si128(w->last, 4), _mm_slli_si128(_mm_cvtsi32_si128((int)at->last[place + AHEAD]), 12));
}

/* `place`, the next one, is where the following paths go on from. */
static inline void stand_at(window *w, size_t place) {
    (void)place;
    w->here = _mm_unpacklo_pd(w->near, w->near);
}

static inline double here_of(const window *w) { return _mm_cvtsd_f64(w->here); }
#else
typedef struct window {
    ctok_fineplaces *at;
    double here;
} window;

static inline void open_window(window *w, ctok_fineplaces *at) {
    w->at = at;
    w->here = 0;
}

static inline void offer_four(window *w, size_t place, const double *scores, uint32_t last) {
    for (size_t i = 0; i < AHEAD; i++) {
        const double path = w->here + scores[i];
        if (!(path > w->at->best[place + i])) continue;
        w->at->best[place + i] = path;
        w->at->last[place + i] = last;
    }
}

static inline void move_on(window *w, ctok_fineplaces *at, size_t place) {
    (void)w;
    (void)at;
    (void)place;
}

static inline void stand_at(window *w, size_t place) { w->here = w->at->best[place]; }

static inline double here_of(const window *w) { return w->here; }
#endif

/* ---- the search ---- */

/* The steps behind the first ones, to `place` and on, of the piece that starts at `last`. */
static inline void go_far(const ctok_finepath *f, uint64_t unit, ctok_fineplaces *at, size_t place, size_t n, double here, uint32_t last) {
    for (; ctok_trie_goes_on(unit) && place <= n; place++) {
        unit = step(f->t->units, unit, at->text[place - 1]);
        const double path = here + f->scores[ctok_trie_piece(unit)];
        const uint32_t better = 0u - (uint32_t)(path > at->best[place]);
        at->best[place] = path > at->best[place] ? path : at->best[place];
        at->last[place] = (last & better) | (at->last[place] & ~better);
    }
}

/* The piece at->text[start..end), which begins with character k. */
static uint32_t piece_of(const ctok_finepath *f, const ctok_fineplaces *at, size_t k, size_t start, size_t end) {
    const ctok_finewalk *w = at->walks + k;
    const size_t at_step = end - start - w->size;
    if (at_step < AHEAD) return w->pieces[at_step];
    uint64_t unit = w->far;
    for (size_t i = start + w->size + AHEAD - 1; i < end; i++) unit = step(f->t->units, unit, at->text[i]);
    return ctok_trie_piece(unit);
}

static size_t go_back(const ctok_finepath *f, const ctok_fineplaces *at, size_t n, ctok_finestep *steps) {
    size_t count = 0;
    for (size_t place = n; place;) {
        const size_t start = at->last[place] & 255;
        ctok_finestep *one = steps - ++count;
        one->piece = piece_of(f, at, at->last[place] >> 8, start, place);
        one->end = (uint32_t)place;
        place = start;
    }
    return count;
}

size_t ctok_finepath_find(const ctok_finepath *f, ctok_fineplaces *at, const uint8_t *p, size_t n, ctok_finestep *steps) {
    window w;
    size_t place = 0;
    memcpy(at->text, p, n);
    memset(at->text + n, 0, 2 * AHEAD); /* a character that the text ends inside, and the steps from that */
    for (size_t i = 0; i < n + 2 * AHEAD; i++) at->best[i] = WORST;
    open_window(&w, at);
    const size_t n_chars = walk_all(f, at, n);
    for (size_t k = 0; k < n_chars; k++) {
        const ctok_finewalk *one = at->walks + k;
        const uint32_t start = (uint32_t)(k << 8 | place);
        if (k == 0) place = one->size; /* nothing leads to places before */
        else for (place++; place < start % 256 + one->size; place++) move_on(&w, at, place);
        offer_four(&w, place, one->scores, start);
        if (CTOK_UNLIKELY(ctok_trie_goes_on(one->far))) go_far(f, one->far, at, place + AHEAD, n, here_of(&w), start);
        stand_at(&w, place);
        move_on(&w, at, place);
    }
    return place == n ? go_back(f, at, n, steps) : 0;
}
