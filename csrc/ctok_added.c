#include "ctok_added.h"

#include <stdlib.h>
#include <string.h>

#include "ctok_le.h"
#include "ctok_mem.h"
#include "ctok_unicode.h"
#include "ctok_utf8.h"

/* ---- building ---- */

typedef struct entry {
    const uint8_t *p;
    uint64_t prefix; /* its first eight bytes: most comparisons need no more */
    uint32_t len;
    uint32_t number;
} entry;

static int compare_texts(const entry *a, const entry *b) {
    if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
    const uint32_t n = a->len < b->len ? a->len : b->len;
    const int order = memcmp(a->p, b->p, n);
    if (order) return order;
    return a->len == b->len ? 0 : a->len < b->len ? -1 : 1;
}

static int compare(const void *left, const void *right) {
    const entry *a = (const entry *)left, *b = (const entry *)right;
    const int order = compare_texts(a, b);
    if (order) return order;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* The tokens in byte order, each text once; *n_nodes is how many states they need. Returns how many are left. */
static uint32_t sort_entries(entry *list, uint32_t n, uint32_t *n_nodes) {
    uint32_t kept = 0, nodes = 1;
    qsort(list, n, sizeof *list, compare);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t same = 0;
        if (kept) {
            const entry *last = &list[kept - 1];
            const uint32_t most = last->len < list[i].len ? last->len : list[i].len;
            while (same < most && last->p[same] == list[i].p[same]) same++;
            if (same == last->len && same == list[i].len) continue;
        }
        nodes += list[i].len - same;
        list[kept++] = list[i];
    }
    *n_nodes = nodes;
    return kept;
}

static uint32_t child_of(const ctok_added *a, uint32_t node, uint8_t b) {
    if (node == 0) return a->root[b];
    const uint32_t first = a->nodes[node].first, end = a->nodes[node + 1].first;
    if (end - first <= 4) {
        for (uint32_t i = first; i < end; i++)
            if (a->labels[i] == b) return i;
        return 0;
    }
    const uint8_t *hit = (const uint8_t *)memchr(a->labels + first, b, end - first);
    return hit ? (uint32_t)(hit - a->labels) : 0;
}

/* Number the beginnings level by level. low[k]..high[k]: the entries that begin as state k does; one that ends there is the first. */
static void add_nodes(ctok_added *a, const entry *list, uint32_t n, uint32_t *low, uint32_t *high) {
    uint32_t made = 1;
    low[0] = 0;
    high[0] = n;
    memset(&a->nodes[0], 0, sizeof a->nodes[0]);
    a->nodes[0].token = CTOK_ADDED_NONE;
    for (uint32_t k = 0; k < a->n_nodes; k++) {
        const uint32_t depth = a->nodes[k].depth;
        uint32_t i = low[k];
        a->nodes[k].first = made;
        if (list[i].len == depth) a->nodes[k].token = list[i++].number;
        while (i < high[k]) {
            const uint8_t b = list[i].p[depth];
            low[made] = i;
            while (i < high[k] && list[i].p[depth] == b) i++;
            high[made] = i;
            a->labels[made] = b;
            a->nodes[made].depth = depth + 1;
            a->nodes[made].token = CTOK_ADDED_NONE;
            if (k == 0) a->root[b] = made;
            made++;
        }
    }
    a->nodes[a->n_nodes].first = made;
}

static void add_fails(ctok_added *a) {
    for (uint32_t k = 0; k < a->n_nodes; k++) {
        for (uint32_t c = a->nodes[k].first; c < a->nodes[k + 1].first; c++) {
            uint32_t fail = 0;
            if (k) {
                uint32_t at = a->nodes[k].fail;
                while ((fail = child_of(a, at, a->labels[c])) == 0 && at) at = a->nodes[at].fail;
            }
            a->nodes[c].fail = fail;
            if (a->nodes[c].token == CTOK_ADDED_NONE) a->nodes[c].token = a->nodes[fail].token;
        }
    }
}

static void add_filter(ctok_added *a) {
    a->n_firsts = 0;
    for (uint32_t b = 0; b < 256; b++) {
        const uint32_t k = a->root[b];
        if (k == 0) continue;
        if (a->n_firsts < CTOK_ADDED_FIRSTS) a->firsts[a->n_firsts] = (uint8_t)b;
        a->n_firsts++;
        if (a->nodes[k].token != CTOK_ADDED_NONE) memset(a->pairs + b * 32, 0xFF, 32);
        for (uint32_t c = a->nodes[k].first; c < a->nodes[k + 1].first; c++)
            a->pairs[b * 32 + (a->labels[c] >> 3)] |= (uint8_t)(1u << (a->labels[c] & 7));
    }
    for (uint32_t i = a->n_firsts; i < CTOK_ADDED_FIRSTS; i++) a->firsts[i] = a->firsts[0];
}

static ctok_status build(ctok_added *a, entry *list, uint32_t n, uint32_t n_nodes) {
    const size_t states = (size_t)n_nodes + 1;
    uint32_t *ranges = (uint32_t *)ctok_mem_alloc(states, 2 * sizeof *ranges);
    a->n_nodes = n_nodes;
    a->nodes = (ctok_added_node *)ctok_mem_alloc(states, sizeof *a->nodes);
    a->labels = (uint8_t *)ctok_mem_alloc(states, 1);
    a->pairs = (uint8_t *)ctok_mem_zeroed(65536 / 8, 1);
    if (ranges == NULL || a->nodes == NULL || a->labels == NULL || a->pairs == NULL) {
        ctok_mem_free(ranges);
        return CTOK_ERR_MEMORY;
    }
    add_nodes(a, list, n, ranges, ranges + states);
    ctok_mem_free(ranges);
    add_fails(a);
    add_filter(a);
    return CTOK_OK;
}

static ctok_status copy_tokens(ctok_added *a, entry *list, const uint8_t *bytes, const uint32_t *ends, const ctok_id *ids,
                               const uint8_t *flags, uint32_t *bad) {
    uint32_t begin = 0;
    for (uint32_t i = 0; i < a->n_tokens; i++) {
        const uint32_t len = ends[i] - begin;
        if (len == 0) {
            *bad = i;
            return CTOK_ERR_FORMAT;
        }
        list[i] = (entry){.p = bytes + begin, .prefix = ctok_be64_prefix(bytes + begin, len), .len = len, .number = i};
        a->lens[i] = len;
        a->ids[i] = ids[i];
        a->flags[i] = (uint8_t)(flags[i] & CTOK_ADDED_FLAGS);
        a->any |= a->flags[i];
        begin = ends[i];
    }
    return CTOK_OK;
}

ctok_status ctok_added_init(ctok_added *a, const uint8_t *bytes, const uint32_t *ends, const ctok_id *ids, const uint8_t *flags,
                            uint32_t n, uint32_t *bad) {
    memset(a, 0, sizeof *a);
    entry *list = (entry *)ctok_mem_alloc(n, sizeof *list);
    a->n_tokens = n;
    a->lens = (uint32_t *)ctok_mem_alloc(n, sizeof *a->lens);
    a->ids = (ctok_id *)ctok_mem_alloc(n, sizeof *a->ids);
    a->flags = (uint8_t *)ctok_mem_alloc(n, 1);
    ctok_status status = CTOK_ERR_MEMORY;
    if (list && a->lens && a->ids && a->flags) {
        status = copy_tokens(a, list, bytes, ends, ids, flags, bad);
        if (status == CTOK_OK) {
            uint32_t n_nodes;
            const uint32_t kept = sort_entries(list, n, &n_nodes);
            status = build(a, list, kept, n_nodes);
        }
    }
    ctok_mem_free(list);
    if (status != CTOK_OK) ctok_added_free(a);
    return status;
}

void ctok_added_free(ctok_added *a) {
    ctok_mem_free(a->nodes);
    ctok_mem_free(a->labels);
    ctok_mem_free(a->pairs);
    ctok_mem_free(a->lens);
    ctok_mem_free(a->ids);
    ctok_mem_free(a->flags);
    memset(a, 0, sizeof *a);
}

/* ---- characters ---- */

int ctok_added_is_word(uint32_t code) {
    const uint32_t categories = CTOK_SET_L | CTOK_SET_M | CTOK_CAT_BIT(CTOK_CAT_ND) | CTOK_CAT_BIT(CTOK_CAT_NL) | CTOK_CAT_BIT(CTOK_CAT_PC);
    if (ctok_unicode_in(code, categories)) return 1;
    return (code >= 0x200C && code <= 0x200D) || (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
           (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
}

/* The character that ends at `at`, which is not 0; *start is where it begins. */
static uint32_t char_before(const uint8_t *buf, size_t at, size_t *start) {
    uint32_t code;
    size_t i = at - 1;
    while (i && (buf[i] & 0xC0) == 0x80) i--;
    ctok_utf8_step(buf + i, at - i, &code);
    *start = i;
    return code;
}

static int is_white(uint32_t code) { return code <= 0x10FFFF && ctok_unicode_is_space(code); }
static int is_word(uint32_t code) { return code <= 0x10FFFF && ctok_added_is_word(code); }

/* Where the white space that ends at `at` starts, but not before low. */
static size_t white_before(const uint8_t *buf, size_t at, size_t low) {
    size_t start;
    while (at > low && is_white(char_before(buf, at, &start))) at = start;
    return at;
}

static size_t white_after(const uint8_t *buf, size_t at, size_t end) {
    while (at < end) {
        uint32_t code;
        const size_t n = ctok_utf8_step(buf + at, end - at, &code);
        if (!is_white(code)) break;
        at += n;
    }
    return at;
}

/* ---- searching ---- */

static int pair_fits(const ctok_added *a, const uint8_t *buf, size_t i, size_t end) {
    return i + 1 == end || (a->pairs[(size_t)buf[i] * 32 + (buf[i + 1] >> 3)] >> (buf[i + 1] & 7) & 1);
}

static size_t next_one(const ctok_added *a, const uint8_t *buf, size_t i, size_t end) {
    while (i < end) {
        const uint8_t *hit = (const uint8_t *)memchr(buf + i, a->firsts[0], end - i);
        if (hit == NULL) return end;
        i = (size_t)(hit - buf);
        if (pair_fits(a, buf, i, end)) return i;
        i++;
    }
    return end;
}

static size_t next_plain(const ctok_added *a, const uint8_t *buf, size_t i, size_t end) {
    while (i < end && !(a->root[buf[i]] && pair_fits(a, buf, i, end))) i++;
    return i;
}

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
typedef uint8_t lanes __attribute__((vector_size(16)));

/* Eight places of which those with a byte that is not 0 hold a first byte: the first where a token may begin, or end. */
static size_t first_fit(const ctok_added *a, const uint8_t *buf, size_t i, size_t end, uint64_t hits) {
    while (hits) {
        const unsigned shift = (unsigned)__builtin_ctzll(hits) & ~7u;
        if (pair_fits(a, buf, i + shift / 8, end)) return i + shift / 8;
        hits &= ~((uint64_t)0xFF << shift);
    }
    return end;
}

static size_t next_few(const ctok_added *a, const uint8_t *buf, size_t i, size_t end) {
    lanes want[CTOK_ADDED_FIRSTS];
    for (int k = 0; k < CTOK_ADDED_FIRSTS; k++) want[k] = (lanes){0} + a->firsts[k];
    for (; i + 16 <= end; i += 16) {
        lanes x, hits;
        uint64_t half[2];
        memcpy(&x, buf + i, 16);
        hits = (lanes)(x == want[0]);
        for (int k = 1; k < CTOK_ADDED_FIRSTS; k++) hits |= (lanes)(x == want[k]);
        memcpy(half, &hits, 16);
        if (CTOK_LIKELY(!(half[0] | half[1]))) continue;
        size_t at = first_fit(a, buf, i, end, half[0]);
        if (at == end) at = first_fit(a, buf, i + 8, end, half[1]);
        if (at != end) return at;
    }
    return next_plain(a, buf, i, end);
}
#else
#define next_few next_plain
#endif

/* The first place at or behind i where a token may begin. */
static size_t next_candidate(const ctok_added *a, const uint8_t *buf, size_t i, size_t end) {
    if (i < end && a->root[buf[i]] && pair_fits(a, buf, i, end)) return i;
    if (a->n_firsts == 1) return next_one(a, buf, i, end);
    if (a->n_firsts <= CTOK_ADDED_FIRSTS) return next_few(a, buf, i, end);
    return next_plain(a, buf, i, end);
}

/* Go on until the leftmost-longest match is certain (1) or the window is used up (0). */
static int search(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t end, int at_eof) {
    size_t at = s->at;
    uint32_t node = s->node;
    int found = 0;
    for (;;) {
        const ctok_added_node *here = &a->nodes[node];
        if (s->token != CTOK_ADDED_NONE && at - here->depth > s->best) { /* what could still come starts further right */
            found = 1;
            break;
        }
        if (node == 0) {
            at = next_candidate(a, buf, at, end);
        } else if (here[0].first == here[1].first) {
            node = here->fail;
            continue;
        }
        if (at == end) {
            found = at_eof && s->token != CTOK_ADDED_NONE;
            break;
        }
        const uint32_t child = child_of(a, node, buf[at]);
        if (child == 0) {
            node = here->fail;
            continue;
        }
        node = child;
        at++;
        if (a->nodes[node].token != CTOK_ADDED_NONE) {
            const uint32_t token = a->nodes[node].token;
            const size_t start = at - a->lens[token];
            if (s->token == CTOK_ADDED_NONE || start <= s->best) {
                s->token = token;
                s->best = start;
            }
        }
    }
    s->at = at;
    s->node = node;
    return found;
}

/* The search goes on at `at`, with no match in hand. */
static void resume(ctok_added_state *s, size_t at) {
    s->at = at;
    s->node = 0;
    s->token = CTOK_ADDED_NONE;
    s->decided = 0;
}

void ctok_added_begin(ctok_added_state *s) {
    memset(s, 0, sizeof *s);
    s->token = CTOK_ADDED_NONE;
}

/* Move `text` over the white space that belongs to the token before. */
static void settle(ctok_added_state *s, const uint8_t *buf, size_t end) {
    if (!s->swallow) return;
    s->text = white_after(buf, s->text, end);
    s->run_end = s->text;
    if (s->text < end) s->swallow = 0;
}

/* Where the white space starts that stands directly before `at`: no further left than `text`. Every character is looked at once in all. */
static size_t white_start(ctok_added_state *s, const uint8_t *buf, size_t at) {
    size_t start = white_before(buf, at, s->white_end < at ? s->white_end : 0);
    if (start == s->white_end) start = s->white;
    s->white = start;
    s->white_end = at;
    return start > s->text ? start : s->text;
}

static int touches_word(const ctok_added_state *s, const uint8_t *buf, size_t start, size_t stop, size_t end) {
    uint32_t code;
    size_t from;
    if (start ? is_word(char_before(buf, start, &from)) : s->word) return 1;
    if (stop == end) return 0;
    ctok_utf8_step(buf + stop, end - stop, &code);
    return is_word(code);
}

/* The match is a token: say where, and go on behind it. 0: another token has all of it. */
static int take(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t end, ctok_added_event *event) {
    const uint32_t token = s->token;
    const size_t stop = s->best + a->lens[token];
    size_t start = s->best;
    settle(s, buf, end);
    resume(s, stop);
    if (a->flags[token] & CTOK_ADDED_LEFT) {
        if (s->text >= stop) return 0;
        start = s->text > start ? s->text : white_start(s, buf, start);
    }
    event->text = s->text;
    event->text_end = start > s->text ? start : s->text;
    event->start = start;
    event->token = token;
    event->id = a->ids[token];
    s->swallow = (a->flags[token] & CTOK_ADDED_RIGHT) != 0;
    s->text = stop;
    if (s->swallow) {
        if (stop >= s->run && stop < s->run_end) s->text = s->run_end;
        else s->run = stop;
        settle(s, buf, end);
    }
    event->end = s->text;
    event->keep = stop < s->text ? stop : s->text;
    return 1;
}

/* No more tokens in the window: hand out the text that none can touch any more. */
static void rest(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t end, int at_eof, ctok_added_event *event) {
    size_t open = end;
    settle(s, buf, end);
    if (!at_eof) open = s->decided ? s->best : s->at - a->nodes[s->node].depth;
    size_t safe = open;
    if (!at_eof && a->any & CTOK_ADDED_LEFT && s->text < open) safe = white_start(s, buf, open);
    if (safe < s->text) safe = s->text;
    event->text = s->text;
    event->text_end = safe;
    event->start = event->end = safe;
    event->token = CTOK_ADDED_NONE;
    event->id = CTOK_NO_ID;
    event->keep = open < safe ? open : safe;
    s->text = safe;
}

ctok_added_result ctok_added_next(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t end, int at_eof, const uint8_t *skip,
                                  ctok_added_event *event) {
    while (s->decided || search(a, s, buf, end, at_eof)) {
        const size_t stop = s->best + a->lens[s->token];
        if (skip && skip[s->token]) {
            resume(s, stop);
        } else if (!(a->flags[s->token] & CTOK_ADDED_WORD)) {
            if (take(a, s, buf, end, event)) return CTOK_ADDED_FOUND;
        } else if (stop == end && !at_eof) {
            s->decided = 1;
            break;
        } else if (touches_word(s, buf, s->best, stop, end)) {
            resume(s, stop);
        } else if (take(a, s, buf, end, event)) {
            return CTOK_ADDED_FOUND;
        }
    }
    rest(a, s, buf, end, at_eof, event);
    return CTOK_ADDED_MORE;
}

/* ---- the window ---- */

static void move(size_t *place, size_t n) { *place = *place > n ? *place - n : 0; }

void ctok_added_drop(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t n) {
    size_t start;
    if (n == 0) return;
    if (a->any & CTOK_ADDED_WORD) s->word = (uint8_t)is_word(char_before(buf, n, &start));
    move(&s->text, n);
    move(&s->at, n);
    move(&s->best, n);
    move(&s->run, n);
    move(&s->run_end, n);
    move(&s->white, n);
    move(&s->white_end, n);
}

void ctok_added_save(const ctok_added *a, const ctok_added_state *s, uint8_t out[CTOK_ADDED_SAVED]) {
    const size_t open = s->decided ? s->best : s->at - a->nodes[s->node].depth;
    ctok_le64_put(out, open);
    ctok_le64_put(out + 8, s->text);
    out[16] = (uint8_t)(s->swallow | s->word << 1);
}

ctok_status ctok_added_load(ctok_added_state *s, const uint8_t in[CTOK_ADDED_SAVED], size_t n) {
    const uint64_t open = ctok_le64_get(in), text = ctok_le64_get(in + 8);
    ctok_added_begin(s);
    if (open > n || text > n || in[16] > 3) return CTOK_ERR_FORMAT;
    s->at = (size_t)open;
    s->text = (size_t)text;
    s->run = s->run_end = s->text;
    s->swallow = in[16] & 1;
    s->word = in[16] >> 1;
    return CTOK_OK;
}
