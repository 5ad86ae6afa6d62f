#include "ctok_mem.h"
#include "ctok_vocab.h"

#define LONGEST 255u /* bytes: what a split can say; and the ways to cut longer tokens would take too long to list */
#define GROUP 32     /* cuts looked up side by side */

typedef struct cut {
    ctok_id token, left;
    const uint8_t *right;
    uint32_t n_right;
    uint64_t key[2]; /* of the right part */
} cut;

/* All pairs that join; what is being looked up waits for memory together. */
typedef struct cuts {
    uint64_t *pairs; /* as the slots hold them */
    size_t n, cap;
    cut group[GROUP];
    size_t waiting;
} cuts;

/* A pair joins to this token: the merges across its border are not earlier than the lowest such. */
static void note_crossing(ctok_vocab *v, const uint8_t *right, ctok_id token) {
    if (v->pairs == NULL) return;
    ctok_byte_pair *border = &v->pairs[right[-1] | right[0] << 8];
    if (token < border->crossing) border->crossing = token;
}

static ctok_status look_up(ctok_vocab *v, cuts *c) {
    if (c->cap - c->n < GROUP) {
        const size_t cap = c->cap ? c->cap * 2 : v->n_tokens + (size_t)GROUP;
        uint64_t *pairs = ctok_mem_resize(c->pairs, cap, sizeof *pairs);
        if (pairs == NULL) return CTOK_ERR_MEMORY;
        c->pairs = pairs;
        c->cap = cap;
    }
    for (size_t i = 0; i < c->waiting; i++) {
        const cut *x = &c->group[i];
        const ctok_id right = ctok_vocab_find_key(v, x->right, x->n_right, x->key);
        if (right == CTOK_NO_ID) continue;
        c->pairs[c->n++] = ctok_joins_key(x->left, right) | x->token;
        note_crossing(v, x->right, x->token);
    }
    c->waiting = 0;
    return CTOK_OK;
}

/* Token k may be cut behind its first n_left bytes, which are a token. */
static ctok_status ask(ctok_vocab *v, cuts *c, uint32_t k, ctok_id left, uint32_t n_left) {
    if (c->waiting == GROUP) {
        const ctok_status status = look_up(v, c);
        if (status != CTOK_OK) return status;
    }
    cut *x = &c->group[c->waiting++];
    x->token = v->id_of[k];
    x->left = left;
    x->right = v->bytes + v->begin[k] + n_left;
    x->n_right = v->begin[k + 1] - v->begin[k] - n_left;
    ctok_key_roomy(x->right, x->n_right, x->key);
    CTOK_PREFETCH(&v->slots[ctok_vocab_place(v, ctok_vocab_hash(x->right, x->n_right, x->key))]);
    return CTOK_OK;
}

/* How many bytes p and q have in common at their start, at most n; 8 may be read at both beyond n. */
static uint32_t shared_bytes(const uint8_t *p, const uint8_t *q, uint32_t n) {
    uint32_t i = 0;
    for (; i < n; i += 8) {
        const uint64_t differing = ctok_load_le(p + i, 8) ^ ctok_load_le(q + i, 8);
        if (differing == 0) continue;
#if defined(__GNUC__) || defined(__clang__)
        i += (uint32_t)__builtin_ctzll(differing) / 8;
#else
        while (p[i] == q[i]) i++;
#endif
        break;
    }
    return i < n ? i : n;
}

/* In byte order, the tokens that a token begins with are among those that the one before it begins with, and that one itself. */
static ctok_status ask_all(ctok_vocab *v, cuts *c) {
    uint32_t lens[LONGEST + 1], n_chain = 0, last = 0;
    ctok_id ids[LONGEST + 1];
    ctok_status status = CTOK_OK;
    for (uint32_t k = 0; k < v->n_tokens && status == CTOK_OK; k++) {
        const uint8_t *p = v->bytes + v->begin[k];
        const uint32_t n = v->begin[k + 1] - v->begin[k];
        const uint32_t shared = shared_bytes(p, p - last, last < n ? last : n);
        while (n_chain && lens[n_chain - 1] > shared) n_chain--;
        for (uint32_t i = n_chain; i-- > 0 && status == CTOK_OK;) status = ask(v, c, k, ids[i], lens[i]);
        lens[n_chain] = n;
        ids[n_chain] = v->id_of[k];
        n_chain += n > 0;
        last = n;
    }
    return status == CTOK_OK ? look_up(v, c) : status;
}

/* Enter a pair; 0 if it is there. */
static int enter(ctok_joins *j, uint64_t pair) {
    const size_t mask = ((size_t)2 << j->bits) - 1;
    for (size_t at = ctok_joins_bucket(j, pair & ~(uint64_t)CTOK_JOINS_IDS);; at = (at + 2) & mask) {
        const uint64_t first = j->slots[at] & ~CTOK_JOINS_MORE, second = j->slots[at + 1];
        if ((first ^ pair) <= CTOK_JOINS_IDS || (second ^ pair) <= CTOK_JOINS_IDS) return 0;
        if (first != 0 && second != 0) {
            j->slots[at] |= CTOK_JOINS_MORE;
            continue;
        }
        j->slots[at + (first != 0)] |= pair;
        return 1;
    }
}

/* An empty table for n pairs. */
static ctok_status reserve(ctok_joins *j, size_t n) {
    j->bits = 4;
    while ((size_t)10 << j->bits < 9 * n) j->bits++; /* at most 0.56 full */
    j->slots = ctok_mem_block(((size_t)2 << j->bits) * sizeof *j->slots);
    return j->slots == NULL ? CTOK_ERR_MEMORY : CTOK_OK;
}

static ctok_status fill(ctok_joins *j, const cuts *c) {
    if (reserve(j, c->n) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t i = 0; i < c->n; i++) {
        if (i + GROUP < c->n) ctok_joins_fetch(j, c->pairs[i + GROUP] & ~(uint64_t)CTOK_JOINS_IDS);
        enter(j, c->pairs[i]);
    }
    return CTOK_OK;
}

/* ---- the cuts are known ---- */

/* A cut whose right part is looked up: slot, entry and text wait for memory one after the other, each side by side with those of the others. */
typedef struct known {
    cut cut;
    uint64_t hash;
    size_t at;       /* where the search goes on */
    ctok_id right;   /* what may be the right part, or CTOK_NO_ID */
} known;

typedef struct knowns {
    known group[GROUP];
    uint64_t found[GROUP]; /* pairs of the group before, whose places are being fetched */
    size_t n, n_found;
} knowns;

/* Find the left part. In byte order the text that a token begins with, if it is a token, is the last one of its length. */
static int find_left(const ctok_vocab *v, uint32_t k, uint32_t n_left, const uint32_t *last, known *x) {
    const uint8_t *p = v->bytes + v->begin[k];
    const uint32_t n = v->begin[k + 1] - v->begin[k];
    if (n_left >= n || last[n_left] == UINT32_MAX || memcmp(v->bytes + v->begin[last[n_left]], p, n_left) != 0) return 0;
    x->cut = (cut){v->id_of[k], v->id_of[last[n_left]], p + n_left, n - n_left, {0, 0}};
    ctok_key_roomy(p + n_left, n - n_left, x->cut.key);
    x->hash = ctok_vocab_hash(p + n_left, n - n_left, x->cut.key);
    x->at = ctok_vocab_place(v, x->hash);
    CTOK_PREFETCH(&v->slots[x->at]);
    return 1;
}

static void enter_found(ctok_vocab *v, knowns *c) {
    for (size_t i = 0; i < c->n_found; i++) enter(&v->joins, c->found[i]);
    c->n_found = 0;
}

/* Find the right parts; 0 if some is no token. */
static int find_right(ctok_vocab *v, knowns *c) {
    for (size_t i = 0; i < c->n; i++) {
        known *x = &c->group[i];
        x->right = ctok_vocab_candidate(v, x->hash, &x->at);
        if (x->right != CTOK_NO_ID) CTOK_PREFETCH(&v->by_id[x->right]);
    }
    for (size_t i = 0; i < c->n; i++)
        if (c->group[i].right != CTOK_NO_ID) CTOK_PREFETCH(v->bytes + v->by_id[c->group[i].right].begin);
    enter_found(v, c);
    for (size_t i = 0; i < c->n; i++) {
        const known *x = &c->group[i];
        ctok_id right = x->right;
        if (right == CTOK_NO_ID || !ctok_vocab_is(v, right, x->cut.right, x->cut.n_right, x->cut.key))
            right = ctok_vocab_find_key(v, x->cut.right, x->cut.n_right, x->cut.key); /* another one looked like it */
        if (right == CTOK_NO_ID) return 0;
        const uint64_t key = ctok_joins_key(x->cut.left, right);
        ctok_joins_fetch(&v->joins, key);
        c->found[c->n_found++] = key | x->cut.token;
        note_crossing(v, x->cut.right, x->cut.token);
    }
    c->n = 0;
    return 1;
}

static ctok_status join_known(ctok_vocab *v, const uint8_t *splits) {
    uint32_t last[LONGEST + 1]; /* of each length */
    knowns c = {.n = 0};
    size_t n_pairs = 0;
    for (uint32_t k = 0; k < v->n_tokens; k++) n_pairs += splits[k] != 0;
    if (reserve(&v->joins, n_pairs) != CTOK_OK) return CTOK_ERR_MEMORY;
    memset(last, 0xFF, sizeof last);
    for (uint32_t k = 0; k < v->n_tokens; k++) {
        if (splits[k]) {
            if (!find_left(v, k, splits[k], last, &c.group[c.n])) return CTOK_ERR_FORMAT;
            if (++c.n == GROUP && !find_right(v, &c)) return CTOK_ERR_FORMAT;
        }
        last[v->begin[k + 1] - v->begin[k]] = k;
    }
    if (!find_right(v, &c)) return CTOK_ERR_FORMAT;
    enter_found(v, &c);
    return CTOK_OK;
}

/* ---- both ---- */

/* Is every byte that occurs in a token one by itself? Else symbols without an id take part in merges. */
static int has_all_bytes(const ctok_vocab *v) {
    int all = 1;
    for (int b = 0; b < 256; b++) all &= v->byte_id[b] != CTOK_NO_ID;
    if (all) return 1;
    for (uint32_t i = 0; i < v->begin[v->n_tokens]; i++)
        if (v->byte_id[v->bytes[i]] == CTOK_NO_ID) return 0;
    return 1;
}

ctok_status ctok_vocab_join(ctok_vocab *v, const uint8_t *splits) {
    cuts c = {0};
    if (v->n_ids > CTOK_JOINS_IDS || v->longest > LONGEST || !has_all_bytes(v)) return CTOK_OK;
    for (size_t i = 0; v->pairs && i < 65536; i++) v->pairs[i].crossing = CTOK_NO_ID;
    if (splits) return join_known(v, splits);
    ctok_status status = ask_all(v, &c);
    if (status == CTOK_OK) status = fill(&v->joins, &c);
    ctok_mem_free(c.pairs);
    return status;
}

/* ---- from a list ---- */

/* Of a token by id: its first byte, its last one above that, above both its length; 0 where no text is it. */
static uint32_t *new_edges(const ctok_vocab *v) {
    uint32_t *edges = ctok_mem_zeroed(v->n_ids, sizeof *edges);
    for (uint32_t k = 0; edges && k < v->n_tokens; k++) {
        const uint32_t begin = v->begin[k], end = v->begin[k + 1];
        if (begin < end) edges[v->id_of[k]] = (end - begin) << 16 | (uint32_t)v->bytes[end - 1] << 8 | v->bytes[begin];
    }
    return edges;
}

/* Can a list over this vocabulary be a rule by rank? */
static int takes_list(const ctok_vocab *v) {
    int all = v->pairs != NULL && v->n_ids <= CTOK_JOINS_IDS && v->longest <= UINT16_MAX;
    for (int b = 0; b < 256; b++) all &= v->byte_id[b] != CTOK_NO_ID;
    return all;
}

/* The merges of a list that are wanted, one group after the other. */
typedef struct wanted {
    const uint8_t *used; /* a bit for each merge; NULL: all */
    size_t n;            /* merges of the list */
    size_t at;           /* the next one; of a bitmap: the first behind those of `bits` */
    uint64_t bits;       /* merges at - 64 and on that are left to be handed out */
} wanted;

/* The bits of the merges at..at + 63. */
static uint64_t bits_from(const wanted *w, size_t at) {
    const size_t left = w->n - at, n = left < 64 ? left : 64;
    return ctok_load_le(w->used + at / 8, (n + 7) / 8) & ~UINT64_C(0) >> (64 - n);
}

static size_t count_bits(uint64_t x) {
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    return (size_t)(((x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F)) * UINT64_C(0x0101010101010101) >> 56);
}

static size_t count_wanted(const wanted *w) {
    size_t sum = 0;
    if (w->used == NULL) return w->n;
    for (size_t at = 0; at < w->n; at += 64) sum += count_bits(bits_from(w, at));
    return sum;
}

/* The numbers of up to GROUP further merges. Returns how many. */
static size_t next_wanted(wanted *w, size_t *numbers) {
    size_t n = 0;
    if (w->used == NULL) {
        while (n < GROUP && w->at < w->n) numbers[n++] = w->at++;
        return n;
    }
    for (;;) {
        for (; w->bits && n < GROUP; w->bits &= w->bits - 1) numbers[n++] = w->at - 64 + ctok_lowest_bit(w->bits);
        if (n == GROUP || w->at >= w->n) return n;
        w->bits = bits_from(w, w->at);
        w->at += 64;
    }
}

/* Merges on their way in: what they touch lies anywhere, and is fetched for all of a group at once. */
typedef struct listed {
    uint64_t pair;
    ctok_byte_pair *border;
} listed;

/* Look at n merges, before which one gave *last; 0 if the order is another, or the texts of one are none, or not as long together as what it
 * gives. */
static int look_at_listed(ctok_vocab *v, const uint32_t *edges, const uint32_t *pairs, const ctok_id *joined, const size_t *numbers, size_t n,
                          ctok_id *last, listed *group) {
    int good = 1;
    for (size_t i = 0; i < n; i++) {
        const ctok_id left = pairs[2 * numbers[i]], right = pairs[2 * numbers[i] + 1], whole = joined[numbers[i]];
        if (left >= v->n_ids || right >= v->n_ids || whole >= v->n_ids || whole < *last) return 0;
        *last = whole;
        const uint32_t a = edges[left], b = edges[right];
        const uint64_t key = ctok_joins_key(left, right);
        good &= a != 0 && b != 0 && (a >> 16) + (b >> 16) == edges[whole] >> 16;
        group[i] = (listed){key | whole, &v->pairs[(a >> 8 & 0xFF) | (b & 0xFF) << 8]};
        ctok_joins_fetch(&v->joins, key);
        CTOK_PREFETCH(group[i].border);
    }
    return good;
}

static int enter_listed(ctok_vocab *v, const uint32_t *edges, const listed *x) {
    const ctok_id joined = (ctok_id)(x->pair & CTOK_JOINS_IDS);
    if (x->border->crossing == CTOK_NO_ID) x->border->crossing = joined; /* the first is the lowest */
    if (edges[joined] >> 16 == 2) x->border->id = joined;
    return enter(&v->joins, x->pair);
}

/* Begin to fetch the edges of the two texts of each of n merges. */
static void fetch_edges(const ctok_vocab *v, const uint32_t *edges, const uint32_t *pairs, const size_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t *pair = pairs + 2 * numbers[i];
        if (pair[0] < v->n_ids) CTOK_PREFETCH(&edges[pair[0]]);
        if (pair[1] < v->n_ids) CTOK_PREFETCH(&edges[pair[1]]);
    }
}

/* Enter those merges of a list that are wanted; 0 if it is no rule by rank. */
static int enter_wanted(ctok_vocab *v, const uint32_t *edges, const uint32_t *pairs, const ctok_id *joined, wanted *w) {
    size_t numbers[2][GROUP], n = next_wanted(w, numbers[0]), m = 0;
    listed group[GROUP];
    ctok_id last = 0;
    int good = 1;
    for (unsigned turn = 0; n && good; turn ^= 1, n = m) {
        m = next_wanted(w, numbers[turn ^ 1]);
        fetch_edges(v, edges, pairs, numbers[turn ^ 1], m);
        good = look_at_listed(v, edges, pairs, joined, numbers[turn], n, &last, group);
        for (size_t i = 0; i < n && good; i++) good = enter_listed(v, edges, &group[i]);
    }
    return good;
}

ctok_status ctok_vocab_join_listed(ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n, const uint8_t *used) {
    ctok_joins *j = &v->joins;
    wanted w = {.used = used, .n = n};
    if (!takes_list(v)) return CTOK_OK;
    uint32_t *edges = new_edges(v);
    const ctok_status status = edges == NULL ? CTOK_ERR_MEMORY : reserve(j, count_wanted(&w));
    for (size_t i = 0; i < 65536; i++) v->pairs[i].id = v->pairs[i].crossing = CTOK_NO_ID;
    const int good = status == CTOK_OK && enter_wanted(v, edges, pairs, joined, &w);
    ctok_mem_free(edges);
    if (good || status != CTOK_OK) return status;
    ctok_mem_unblock(j->slots, ctok_joins_bytes(j));
    j->slots = NULL;
    return CTOK_OK;
}
