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
#define AHEAD CTOK_BESTPATH_AHEAD /* places in the window, too */

#define NODE_BYTES (sizeof(ctok_link) + sizeof(ctok_ending))

static const float WORST = -INFINITY;

/* ---- building ---- */

/* The character that stands at a node, or at none. */
static inline ctok_stand stand_of(const ctok_bestpath *b, uint32_t node) {
    ctok_stand one = {0, node, b->endings[node].score};
    if (node) one.link = b->links[node];
    if (one.score == WORST) one.score = b->unknown;
    return one;
}

static ctok_status make_room(ctok_bestpath *b, size_t n) {
    b->n_nodes = n;
    b->links = (ctok_link *)ctok_mem_room(n * NODE_BYTES);
    if (b->links == NULL) return CTOK_ERR_MEMORY;
    b->endings = (ctok_ending *)(b->links + n);
    return CTOK_OK;
}

ctok_status ctok_bestpath_init(ctok_bestpath *b, const ctok_trie *t, const double *scores, const ctok_id *ids, ctok_id none,
                               const uint8_t *data, const uint32_t *ends, uint32_t n) {
    if (t->n_units > CTOK_BESTPATH_MAX_UNITS) return CTOK_ERR_FORMAT;
    b->unknown = (float)scores[0];
    ctok_status status = make_room(b, t->n_units);
    if (status == CTOK_OK) status = ctok_beside_init(&b->beside, data, ends, n, t);
    if (status != CTOK_OK) {
        ctok_bestpath_free(b);
        return status;
    }
    for (size_t i = 0; i < t->n_units; i++) {
        const uint64_t unit = ctok_trie_unit(t, i);
        const uint32_t piece = ctok_trie_piece(unit);
        b->links[i] = (uint32_t)ctok_trie_base(unit) << LABEL | (uint32_t)(unit & CTOK_TRIE_NO_BYTE);
        b->endings[i].score = piece ? (float)scores[piece] : WORST;
        b->endings[i].id = piece ? ids[piece] : none;
    }
    for (unsigned c = 0; c < 128; c++) b->ascii[c] = stand_of(b, b->beside.chars[c].node);
    return CTOK_OK;
}

void ctok_bestpath_free(ctok_bestpath *b) {
    ctok_mem_unroom(b->links, b->n_nodes * NODE_BYTES);
    b->links = NULL;
    ctok_beside_free(&b->beside);
}

/* ---- steps ---- */

/* All bits, or none: a choice that cannot be foreseen is made without a branch. */
static inline uint32_t all_if(int yes) { return 0u - (uint32_t)yes; }

/* Go from a node, given by its link, to its child for a byte. Returns where that is, or 0; *link is then one without children. */
static inline uint32_t step(const ctok_link *links, ctok_link *link, uint8_t byte) {
    const uint32_t at = (*link >> LABEL) + byte;
    const ctok_link child = links[at];
    const uint32_t is_child = all_if(((child ^ byte) & CTOK_TRIE_NO_BYTE) == 0);
    *link = child & is_child;
    return at & is_child;
}

/* Where the character at p stands, or 0; 4 bytes can be read. */
static uint32_t first_node(const ctok_bestpath *b, const uint8_t *p, size_t *size) {
    uint32_t node = 0;
    const size_t line = ctok_beside_at(p, 4, size);
    if (CTOK_LIKELY(line != CTOK_BESIDE_PLANE || *size < 4)) return b->beside.chars[line].node;
    ctok_link link = b->links[CTOK_TRIE_ROOT];
    for (size_t i = 0; i < 4; i++) node = step(b->links, &link, p[i]);
    return node;
}

/* Walks from all characters of at->text[0..n): none waits for another, so what they read is fetched side by side. */
static size_t walk_all(const ctok_bestpath *b, ctok_places *at, size_t n) {
    const ctok_link *links = b->links;
    size_t n_chars = 0, size = 1;
    for (const uint8_t *p = at->text, *end = p + n; p < end; p += size) {
        ctok_walk *w = at->walks + n_chars++;
        ctok_stand one;
        if (CTOK_LIKELY(*p < 0x80)) {
            size = 1;
            one = b->ascii[*p];
        } else {
            one = stand_of(b, first_node(b, p, &size));
        }
        w->size = (uint32_t)size;
        w->scores[0] = one.score;
        w->nodes[0] = one.node;
        for (unsigned i = 1; i < AHEAD; i++) {
            const uint32_t node = step(links, &one.link, p[size + i - 1]);
            w->nodes[i] = node;
            w->scores[i] = b->endings[node].score;
        }
        w->far = one.link;
        CTOK_PREFETCH(links + (one.link >> LABEL) + p[size + AHEAD - 1]);
    }
    return n_chars;
}

/* ---- places ahead ---- */

/* A path to one place. */
static inline void offer(ctok_places *at, size_t place, float path, uint32_t last) {
    const float best = at->best[place], second = at->second[place];
    const uint32_t better = all_if(path > best);
    const float low = path > best ? best : path;
    at->best[place] = path > best ? path : best;
    at->second[place] = low > second ? low : second;
    at->last[place] = (last & better) | (at->last[place] & ~better);
}

#if defined(__SSE2__)
/* The four places from the next one on. */
typedef struct window {
    __m128 here; /* the best path to this one, four times */
    __m128 best, second;
    __m128i last;
} window;

static inline void open_window(window *w, ctok_places *at, float before) {
    (void)at;
    w->here = _mm_set1_ps(before);
    w->best = w->second = _mm_set1_ps(WORST);
    w->last = _mm_setzero_si128();
}

/* A path to each of the four places. */
static inline void offer_four(window *w, size_t place, const float *scores, uint32_t last) {
    (void)place;
    const __m128 path = _mm_add_ps(w->here, _mm_loadu_ps(scores));
    const __m128i better = _mm_castps_si128(_mm_cmpgt_ps(path, w->best));
    w->second = _mm_max_ps(_mm_min_ps(path, w->best), w->second);
    w->best = _mm_max_ps(path, w->best);
    w->last = _mm_or_si128(_mm_and_si128(better, _mm_set1_epi32((int)last)), _mm_andnot_si128(better, w->last));
}

/* All but the first of a window, and the one that comes in. */
static inline __m128 shifted(__m128 all, const float *in) {
    all = _mm_move_ss(all, _mm_load_ss(in));
    return _mm_shuffle_ps(all, all, 0x39);
}

/* The window moves from `place` to the next; what was found for the one is kept, what is known of the one that comes in is fetched. */
static inline void move_on(window *w, ctok_places *at, size_t place) {
    const float *in = at->best + place + AHEAD, *in_second = at->second + place + AHEAD;
    const __m128i in_last = _mm_cvtsi32_si128((int)at->last[place + AHEAD]);
    _mm_store_ss(at->best + place, w->best);
    _mm_store_ss(at->second + place, w->second);
    at->last[place] = (uint32_t)_mm_cvtsi128_si32(w->last);
    w->best = shifted(w->best, in);
    w->second = shifted(w->second, in_second);
    w->last = _mm_or_si128(_mm_srli_si128(w->last, 4), _mm_slli_si128(in_last, 12));
}

/* `place`, the next one, is where the following paths go on from. */
static inline void stand_at(window *w, size_t place) {
    (void)place;
    w->here = _mm_shuffle_ps(w->best, w->best, 0);
}

static inline float here_of(const window *w) { return _mm_cvtss_f32(w->here); }
#else
typedef struct window {
    ctok_places *at;
    float here;
} window;

static inline void open_window(window *w, ctok_places *at, float before) {
    w->at = at;
    w->here = before;
}

static inline void offer_four(window *w, size_t place, const float *scores, uint32_t last) {
    for (size_t i = 0; i < AHEAD; i++) offer(w->at, place + i, w->here + scores[i], last);
}

static inline void move_on(window *w, ctok_places *at, size_t place) {
    (void)w;
    (void)at;
    (void)place;
}

static inline void stand_at(window *w, size_t place) {
    w->here = w->at->best[place];
}

static inline float here_of(const window *w) { return w->here; }
#endif

/* ---- the search ---- */

/* The steps behind the first ones, to `place` and on, of the piece that starts at `last`. */
static inline void go_far(const ctok_bestpath *b, ctok_link link, ctok_places *at, size_t place, size_t n, float here, uint32_t last) {
    for (; link >> LABEL && place <= n; place++) {
        const uint32_t node = step(b->links, &link, at->text[place - 1]);
        offer(at, place, here + b->endings[node].score, last);
    }
}

/* The text, with as many bytes that can be read behind it as a character that it ends inside, and the steps from that, may take. */
static const uint8_t *roomy(ctok_places *at, const uint8_t *p, size_t n, const uint8_t *end) {
    if (CTOK_LIKELY((size_t)(end - p) >= n + 2 * AHEAD)) return p;
    memcpy(at->room, p, n);
    memset(at->room + n, 0, 2 * AHEAD);
    return at->room;
}

size_t ctok_bestpath_find(const ctok_bestpath *b, ctok_places *at, const uint8_t *p, size_t n, const uint8_t *end, float before) {
    window w;
    size_t place = 0;
    at->text = roomy(at, p, n, end);
    for (size_t i = 0; i < n + 2 * AHEAD; i++) at->best[i] = at->second[i] = WORST;
    open_window(&w, at, before);
    const size_t n_chars = walk_all(b, at, n);
    for (size_t k = 0; k < n_chars; k++) {
        const ctok_walk *one = at->walks + k;
        const uint32_t start = (uint32_t)(k << 8 | place);
        if (k == 0) place = one->size; /* nothing leads to places before */
        else for (place++; place < start % 256 + one->size; place++) move_on(&w, at, place);
        offer_four(&w, place, one->scores, start);
        if (CTOK_UNLIKELY(one->far >> LABEL)) go_far(b, one->far, at, place + AHEAD, n, here_of(&w), start);
        stand_at(&w, place);
        move_on(&w, at, place);
    }
    if (place != n) at->best[n] = WORST;
    return n_chars;
}

/* Where the piece at->text[start..end), which begins with character k, stands. */
static uint32_t node_of(const ctok_bestpath *b, const ctok_places *at, size_t k, size_t start, size_t end) {
    const ctok_walk *w = at->walks + k;
    const size_t at_step = end - start - w->size;
    if (at_step < AHEAD) return w->nodes[at_step];
    ctok_link link = w->far;
    uint32_t node = 0;
    for (size_t i = start + w->size + AHEAD - 1; i < end; i++) node = step(b->links, &link, at->text[i]);
    return node;
}

size_t ctok_bestpath_steps(const ctok_bestpath *b, const ctok_places *at, size_t n, ctok_step *steps) {
    size_t count = 0;
    for (size_t place = n; place;) {
        const size_t start = at->last[place] & 255;
        ctok_step *one = steps - ++count;
        one->id = ctok_bestpath_id(b, node_of(b, at, at->last[place] >> 8, start, place));
        one->end = (uint32_t)place;
        one->lead = at->best[place] - at->second[place];
        place = start;
    }
    return count;
}
