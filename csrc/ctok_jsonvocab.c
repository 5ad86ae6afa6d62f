/* ctok_jsonvocab.c - see ctok_jsonvocab.h. */
#include "ctok_jsonvocab.h"

#include <math.h>
#include <string.h>

#include "ctok_jsonrun.h"
#include "ctok_mem.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define CTOK_JSON_SSE2
#endif

/* How the last entry of a table is written: offsets of where it begins, of its first text, and of the end of what it says last, which is a
 * number or a text. */
typedef struct layout {
    size_t begin, text, end;
    ctok_jsonrun_gap inner, outer; /* between the two things that it says; from the last of them to the first text of the next entry */
} layout;

typedef struct reader {
    ctok_json j;
    ctok_jsonvocab *f;
    ctok_jv_error *error;
    uint8_t *scratch; /* texts of merges that were escaped, until they are looked up */
    size_t scratch_n, scratch_cap;
    ctok_status status;
    size_t late_merges; /* where merges are that stand before the vocabulary; 0: none */
    layout last;
} reader;

/* ---- faults ---- */

static int fail(reader *r, ctok_jv_fault fault, size_t where, uint32_t entry) {
    if (r->status == CTOK_OK) {
        r->status = CTOK_ERR_FORMAT;
        *r->error = (ctok_jv_error){.fault = fault, .where = where, .entry = entry};
    }
    return 0;
}

/* The document itself is wrong: what the JSON reader noted. */
static int fail_json(reader *r, uint32_t entry) {
    if (r->status == CTOK_OK) {
        r->status = CTOK_ERR_FORMAT;
        *r->error = (ctok_jv_error){.fault = r->j.fault, .where = r->j.where, .entry = entry};
    }
    return 0;
}

static int no_memory(reader *r) {
    if (r->status == CTOK_OK) r->status = CTOK_ERR_MEMORY;
    return 0;
}

/* ---- entries that are written alike ---- */

#define REACH (5 * CTOK_JSONRUN_BYTES) /* what an entry and the gaps around it take, and may be read behind them */

/* What stands between the last entry and the one that begins here, if that one begins as it did, and it is short enough. */
static ctok_jsonrun_gap outer_gap(reader *r) {
    const layout *last = &r->last;
    const ctok_jsonrun_gap none = {NULL, 0};
    if (!CTOK_JSONRUN_HERE || !last->text || last->inner.n > CTOK_JSONRUN_BYTES) return none;
    ctok_json_peek(&r->j);
    const size_t at = r->j.at, opening = last->text - last->begin, n = at - last->end + opening;
    if (n > CTOK_JSONRUN_BYTES || r->j.end - at < opening) return none;
    return memcmp(r->j.buf + last->begin, r->j.buf + at, opening) == 0 ? (ctok_jsonrun_gap){r->j.buf + last->end, n} : none;
}

/* ---- the vocabulary ---- */

static int push(reader *r, const ctok_json_string *s, uint32_t id) {
    ctok_texttable *t = &r->f->table;
    uint8_t *to = ctok_texttable_room(t, s->len + 1);
    if (!to) return no_memory(r);
    const size_t n = ctok_json_unescape(&r->j, s, to);
    if (n > CTOK_TEXT_MAX) return fail(r, CTOK_JV_LONG, s->begin, t->n);
    return ctok_texttable_push(t, n, id) == CTOK_OK ? 1 : no_memory(r);
}

static int read_id(reader *r, uint32_t *id) {
    ctok_json *j = &r->j;
    uint64_t x = 0;
    const int c = ctok_json_peek(j);
    const size_t begin = j->at;
    if (c == '-' || (c >= '0' && c <= '9')) {
        size_t at = begin;
        for (; at < j->end && j->buf[at] >= '0' && j->buf[at] <= '9' && x <= INT32_MAX; at++) x = x * 10 + (uint64_t)(j->buf[at] - '0');
        const int simple = at > begin && x <= INT32_MAX && (at - begin == 1 || j->buf[begin] != '0');
        if (CTOK_LIKELY(simple && at < j->end && (j->buf[at] == ',' || j->buf[at] == '}' || j->buf[at] <= ' '))) {
            j->at = at;
            *id = (uint32_t)x;
            return 1;
        }
        size_t number;
        if (!ctok_json_number_at(j, &number)) return fail_json(r, r->f->table.n);
        for (at = begin; at < j->at; at++) {
            if (j->buf[at] == '.' || (j->buf[at] | 0x20) == 'e') return fail(r, CTOK_JV_ID, begin, r->f->table.n);
        }
        return fail(r, CTOK_JV_ID_RANGE, begin, r->f->table.n);
    }
    if (!ctok_json_skip(j)) return fail_json(r, r->f->table.n);
    return fail(r, CTOK_JV_ID, begin, r->f->table.n);
}

/* The plain number of one to nine digits at p. Returns where it ends, or NULL: it is another. */
static inline const uint8_t *read_plain_id(const uint8_t *p, uint32_t *id) {
    const uint8_t *at = p;
    uint32_t x = 0;
    for (; *at >= '0' && *at <= '9' && at - p < 10; at++) x = x * 10 + (uint32_t)(*at - '0');
    *id = x;
    return at == p || at - p == 10 || (*p == '0' && at - p > 1) ? NULL : at;
}

/* Read entries that are written like the last one, as long as another follows them. The reader is then where that one begins. */
static int read_ids_alike(reader *r) {
    ctok_json *j = &r->j;
    ctok_texttable *t = &r->f->table;
    const ctok_jsonrun_gap inner = r->last.inner, outer = outer_gap(r);
    if (!outer.n) return 1;
    const uint8_t *end = j->buf + j->end, *p = j->buf + j->at + 1;
    while (end - p >= REACH) {
        uint32_t blanks, id;
        const uint32_t n = ctok_jsonrun_text(p, &blanks);
        if (CTOK_UNLIKELY(n == CTOK_JSONRUN_ODD) || !ctok_jsonrun_is(p + n, inner)) break;
        const uint8_t *next = read_plain_id(p + n + inner.n, &id);
        if (CTOK_UNLIKELY(next == NULL) || !ctok_jsonrun_is(next, outer)) break;
        uint8_t *to = ctok_texttable_room(t, CTOK_JSONRUN_BYTES);
        if (!to) return no_memory(r);
        memcpy(to, p, CTOK_JSONRUN_BYTES);
        if (ctok_texttable_push(t, n, id) != CTOK_OK) return no_memory(r);
        p = next + outer.n;
    }
    j->at = (size_t)(p - j->buf) - 1;
    return 1;
}

static int read_ids(reader *r) {
    ctok_json *j = &r->j;
    ctok_json_string s;
    uint32_t id;
    r->f->vocab_kind = CTOK_JV_IDS;
    r->last = (layout){0};
    if (!ctok_json_enter(j, '}')) return 1;
    do {
        if (!read_ids_alike(r)) return 0;
        if (!ctok_json_key(j, &s)) break;
        ctok_json_peek(j);
        r->last.begin = s.begin - 1;
        r->last.text = s.begin;
        r->last.inner = (ctok_jsonrun_gap){j->buf + s.begin + s.len, j->at - s.begin - s.len};
        if (!read_id(r, &id) || !push(r, &s, id)) return 0;
        r->last.end = j->at;
    } while (ctok_json_more(j, '}'));
    return j->fault ? fail_json(r, r->f->table.n) : 1;
}

static int push_score(reader *r, size_t begin, size_t end) {
    ctok_jsonvocab *f = r->f;
    const uint32_t n = f->table.n;
    if (n == f->cap_scores) {
        const uint32_t cap = n ? 2 * n : 4096;
        double *scores = ctok_mem_resize(f->scores, cap, sizeof *scores);
        if (scores) f->scores = scores;
        uint32_t *at = ctok_mem_resize(f->score_at, cap, sizeof *at);
        if (at) f->score_at = at;
        if (!scores || !at) return no_memory(r);
        f->cap_scores = cap;
    }
    int exact;
    f->scores[n] = ctok_json_score(r->j.buf + begin, r->j.buf + end, &exact);
    f->score_at[n] = exact ? 0 : (uint32_t)begin;
    return isinf(f->scores[n]) ? fail(r, CTOK_JV_SCORE, begin, n) : 1;
}

/* One [text, score]. */
static int read_piece(reader *r) {
    ctok_json *j = &r->j;
    ctok_json_string s;
    size_t number;
    const int c = ctok_json_peek(j);
    const size_t begin = j->at;
    if (c == '[' && ctok_json_enter(j, ']') && ctok_json_peek(j) == '"' && ctok_json_string_at(j, CTOK_JSON_VALUE, &s) &&
        ctok_json_peek(j) == ',' && ctok_json_more(j, ']')) {
        const int sign = ctok_json_peek(j);
        if ((sign == '-' || (sign >= '0' && sign <= '9')) && ctok_json_number_at(j, &number) && ctok_json_peek(j) == ']') {
            if (!push_score(r, number, j->at)) return 0;
            j->at++;
            return push(r, &s, r->f->table.n);
        }
    }
    if (j->fault) return fail_json(r, r->f->table.n);
    j->at = begin; /* if the document breaks further on, that is the first thing to say */
    if (!ctok_json_skip(j)) return fail_json(r, r->f->table.n);
    return fail(r, CTOK_JV_PIECE, begin, r->f->table.n);
}

static int read_pieces(reader *r) {
    r->f->vocab_kind = CTOK_JV_PIECES;
    if (!ctok_json_enter(&r->j, ']')) return 1;
    do {
        if (!read_piece(r)) return 0;
    } while (ctok_json_more(&r->j, ']'));
    return r->j.fault ? fail_json(r, r->f->table.n) : 1;
}

static int read_vocab(reader *r, int c) {
    ctok_jsonvocab *f = r->f;
    int crowded;
    f->vocab.begin = r->j.at;
    if (!(c == '{' ? read_ids(r) : read_pieces(r))) return 0;
    f->vocab.end = r->j.at;
    if (ctok_texttable_index(&f->table, c == '[', &crowded) != CTOK_OK) return no_memory(r);
    return crowded ? fail(r, CTOK_JV_CROWDED, f->vocab.begin, 0) : 1;
}

/* ---- the merges ---- */

static int flush(reader *r) {
    ctok_mergeids *m = &r->f->merges;
    const ctok_status status = ctok_mergeids_flush(m, &r->f->table);
    r->scratch_n = 0;
    if (status == CTOK_ERR_FORMAT) {
        fail(r, CTOK_JV_PART, 0, m->bad + r->f->headers);
        if (r->error->fault == CTOK_JV_PART) r->error->side = m->bad_side;
    }
    return status == CTOK_OK ? 1 : status == CTOK_ERR_MEMORY ? no_memory(r) : 0;
}

/* Something is wrong with the merge that is being read; but one of those that wait may be wrong before it. */
static int fail_merge(reader *r, int fault, size_t where) {
    const uint32_t entry = r->f->merges.n + r->f->merges.n_waiting / 2 + r->f->headers;
    if (!flush(r)) return 0;
    return fault ? fail(r, (ctok_jv_fault)fault, where, entry) : fail_json(r, entry);
}

/* Have n bytes of scratch room; what is there may be lost, so what waits is looked up first. */
static int scratch_room(reader *r, size_t n) {
    if (r->scratch_cap - r->scratch_n >= n) return 1;
    if (!flush(r)) return 0;
    if (r->scratch_cap >= n) return 1;
    uint8_t *room = ctok_mem_resize(r->scratch, 2 * n + 4096, 1);
    if (!room) return no_memory(r);
    r->scratch = room;
    r->scratch_cap = 2 * n + 4096;
    return 1;
}

/* A text of a merge, and how many bytes may be read from there on. */
typedef struct text {
    const uint8_t *at;
    size_t n, readable;
} text;

/* Where the text of a string is until the next flush: in the file or, when it is escaped, in the scratch room, which must be large enough. */
static text text_of(reader *r, const ctok_json_string *s) {
    if (s->plain) return (text){r->j.buf + s->begin, s->len, r->j.end - s->begin};
    uint8_t *to = r->scratch + r->scratch_n;
    const size_t n = ctok_json_unescape(&r->j, s, to);
    const text found = {to, n, r->scratch_cap - r->scratch_n};
    r->scratch_n += n;
    return found;
}

static inline int add_checked(reader *r, text left, text right) {
    ctok_mergeids *m = &r->f->merges;
    const ctok_merge_text a = ctok_merge_text_of(left.at, left.n, left.readable);
    const ctok_merge_text b = ctok_merge_text_of(right.at, right.n, right.readable);
    if (CTOK_LIKELY(ctok_mergeids_add(m, &r->f->table, &a, &b) == CTOK_OK)) {
        if (m->n_waiting == 0) r->scratch_n = 0;
        return 1;
    }
    return flush(r); /* again, for its error */
}

static int add(reader *r, text left, text right) {
    if (left.n > CTOK_TEXT_MAX || right.n > CTOK_TEXT_MAX) return fail_merge(r, CTOK_JV_LONG, r->j.at);
    return add_checked(r, left, right);
}

/* Where the only blank of a text is, or the text's length. */
static size_t only_blank(const text *t) {
    size_t at = 0, behind;
#ifdef CTOK_JSON_SSE2
    if (t->n <= 16 && t->readable >= 16) {
        const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)t->at);
        const unsigned blanks = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(' '))) & ((1u << t->n) - 1);
        return blanks && !(blanks & (blanks - 1)) ? ctok_lowest_bit(blanks) : t->n;
    }
#endif
    while (at < t->n && t->at[at] != ' ') at++;
    for (behind = at + 1; behind < t->n && t->at[behind] != ' ';) behind++;
    return behind < t->n ? t->n : at;
}

static int read_merge_text(reader *r) {
    ctok_json_string s;
    if (!ctok_json_string_at(&r->j, CTOK_JSON_VALUE, &s)) return fail_merge(r, 0, 0);
    if (!s.plain && !scratch_room(r, s.len)) return 0;
    r->last.text = s.begin;
    r->last.inner.n = 0;
    r->last.end = s.begin + s.len;
    const text both = text_of(r, &s);
    if (both.n >= 8 && memcmp(both.at, "#version", 8) == 0) {
        if (!flush(r)) return 0;
        r->f->headers++;
        return 1;
    }
    const size_t at = only_blank(&both);
    if (at == both.n) return fail_merge(r, CTOK_JV_BLANK, s.begin);
    return add(r, (text){both.at, at, both.readable}, (text){both.at + at + 1, both.n - at - 1, both.readable - at - 1});
}

static int read_merge_pair(reader *r) {
    ctok_json *j = &r->j;
    ctok_json_string a, b;
    const size_t begin = j->at;
    if (ctok_json_enter(j, ']') && ctok_json_peek(j) == '"' && ctok_json_string_at(j, CTOK_JSON_VALUE, &a) && ctok_json_peek(j) == ',' &&
        ctok_json_more(j, ']') && ctok_json_peek(j) == '"' && ctok_json_string_at(j, CTOK_JSON_VALUE, &b) && ctok_json_peek(j) == ']') {
        j->at++;
        if ((!a.plain || !b.plain) && !scratch_room(r, a.len + b.len)) return 0;
        r->last.text = a.begin;
        r->last.inner = (ctok_jsonrun_gap){j->buf + a.begin + a.len, b.begin - a.begin - a.len};
        r->last.end = b.begin + b.len;
        const text left = text_of(r, &a);
        return add(r, left, text_of(r, &b));
    }
    if (j->fault) return fail_merge(r, 0, 0);
    j->at = begin;
    return ctok_json_skip(j) ? fail_merge(r, CTOK_JV_MERGE, begin) : fail_merge(r, 0, 0);
}

static int read_merge(reader *r) {
    const int c = ctok_json_peek(&r->j), kind = c == '"' ? CTOK_JV_TEXTS : c == '[' ? CTOK_JV_PAIRS : CTOK_JV_NONE;
    const size_t begin = r->last.begin = r->j.at;
    if (r->f->merges_kind == CTOK_JV_NONE) r->f->merges_kind = kind;
    if (kind == CTOK_JV_NONE || kind != r->f->merges_kind) {
        const int fault = kind == CTOK_JV_NONE ? CTOK_JV_MERGE : CTOK_JV_MIXED;
        return ctok_json_skip(&r->j) ? fail_merge(r, fault, begin) : fail_merge(r, 0, 0);
    }
    return kind == CTOK_JV_TEXTS ? read_merge_text(r) : read_merge_pair(r);
}

/* The two texts of a merge that is written like the last one. Returns where the last ends, or NULL: it is not. */
static inline const uint8_t *read_alike(const uint8_t *p, const layout *last, uint32_t *n_left, const uint8_t **right) {
    uint32_t blanks, n = ctok_jsonrun_text(p, &blanks);
    if (CTOK_UNLIKELY(n == CTOK_JSONRUN_ODD)) return NULL;
    if (last->inner.n) {
        *n_left = n;
        p += n;
        if (CTOK_UNLIKELY(!ctok_jsonrun_is(p, last->inner))) return NULL;
        *right = p += last->inner.n;
        n = ctok_jsonrun_text(p, &blanks);
        if (CTOK_UNLIKELY(n == CTOK_JSONRUN_ODD)) return NULL;
    } else {
        if (CTOK_UNLIKELY(!blanks || (blanks & (blanks - 1)) || memcmp(p, "#version", 8) == 0)) return NULL;
        *n_left = ctok_lowest_bit(blanks);
        *right = p + *n_left + 1;
    }
    return CTOK_LIKELY(ctok_jsonrun_is(p + n, last->outer)) ? p + n : NULL;
}

/* Read merges that are written like the last one, as long as another follows them. The reader is then where that one begins. */
static int read_merges_alike(reader *r) {
    ctok_json *j = &r->j;
    layout last = r->last;
    last.outer = outer_gap(r);
    if (!last.outer.n) return 1;
    const size_t opening = last.text - last.begin;
    r->f->merges.expected = (uint32_t)((j->end - j->at) / (last.inner.n + last.outer.n + 6)); /* at least about three bytes a text */
    const uint8_t *end = j->buf + j->end, *p = j->buf + j->at + opening, *right, *next;
    uint32_t n_left;
    for (; end - p >= REACH && (next = read_alike(p, &last, &n_left, &right)) != NULL; p = next + last.outer.n) {
        if (!add_checked(r, (text){p, n_left, REACH}, (text){right, (size_t)(next - right), REACH - 3 * CTOK_JSONRUN_BYTES})) return 0;
    }
    j->at = (size_t)(p - j->buf) - opening;
    return 1;
}

static int read_merges(reader *r) {
    r->last = (layout){0};
    if (!ctok_json_enter(&r->j, ']')) return 1;
    do {
        if (!read_merges_alike(r) || !read_merge(r)) return 0;
    } while (ctok_json_more(&r->j, ']'));
    return r->j.fault ? fail_merge(r, 0, 0) : flush(r);
}

/* ---- the document ---- */

/* Merges can be looked up once the vocabulary is there. */
static int meet_merges(reader *r) {
    ctok_jsonvocab *f = r->f;
    f->merges_span.begin = r->j.at;
    if (f->table.slots) {
        if (!read_merges(r)) return 0;
    } else {
        r->late_merges = r->j.at;
        if (!ctok_json_skip(&r->j)) return fail_json(r, 0);
    }
    f->merges_span.end = r->j.at;
    return 1;
}

static int read_late_merges(reader *r) {
    if (!r->late_merges || !r->f->table.slots) return 1;
    const size_t at = r->j.at;
    r->j.at = r->late_merges;
    if (!read_merges(r)) return 0;
    r->j.at = at;
    return 1;
}

static int read_model(reader *r) {
    ctok_json *j = &r->j;
    ctok_json_string key;
    if (r->f->has_model) return fail(r, CTOK_JV_TWICE, j->at, 0);
    r->f->has_model = 1;
    if (!ctok_json_enter(j, '}')) return 1;
    do {
        if (!ctok_json_key(j, &key)) break;
        const int c = ctok_json_peek(j), vocab = ctok_json_is(j, &key, "vocab"), merges = ctok_json_is(j, &key, "merges");
        if ((vocab && r->f->vocab.end) || (merges && r->f->merges_span.end)) return fail(r, CTOK_JV_TWICE, key.begin, 0);
        if (vocab && (c == '{' || c == '[')) {
            if (!read_vocab(r, c)) return 0;
        } else if (merges && c == '[') {
            if (!meet_merges(r)) return 0;
        } else if (!ctok_json_skip(j)) {
            break;
        }
    } while (ctok_json_more(j, '}'));
    return j->fault ? fail_json(r, 0) : read_late_merges(r);
}

static int read_document(reader *r) {
    ctok_json *j = &r->j;
    ctok_json_string key;
    if (ctok_json_peek(j) != '{') return ctok_json_fail(j, CTOK_JSON_VALUE, j->at), fail_json(r, 0);
    if (ctok_json_enter(j, '}')) {
        do {
            if (!ctok_json_key(j, &key)) break;
            if (ctok_json_peek(j) == '{' && ctok_json_is(j, &key, "model")) {
                if (!read_model(r)) return 0;
            } else if (!ctok_json_skip(j)) {
                break;
            }
        } while (ctok_json_more(j, '}'));
    }
    return ctok_json_end(j) ? 1 : fail_json(r, 0);
}

static int read_bare(reader *r) {
    ctok_json *j = &r->j;
    if (ctok_json_peek(j) != '{') return ctok_json_fail(j, CTOK_JSON_VALUE, j->at), fail_json(r, 0);
    if (!read_vocab(r, '{')) return 0;
    return ctok_json_end(j) ? 1 : fail_json(r, 0);
}

ctok_status ctok_jsonvocab_read(ctok_jsonvocab *f, const uint8_t *buf, size_t n, int bare, ctok_jv_error *error) {
    reader r = {.f = f, .error = error, .status = CTOK_OK};
    *f = (ctok_jsonvocab){0};
    *error = (ctok_jv_error){0};
    ctok_mergeids_init(&f->merges);
    ctok_json_init(&r.j, buf, n);
    if (n > UINT32_MAX) {
        fail(&r, CTOK_JV_BIG, 0, 0);
    } else if (bare) {
        read_bare(&r);
    } else {
        read_document(&r);
    }
    ctok_mem_free(r.scratch);
    if (r.status != CTOK_OK) ctok_jsonvocab_free(f);
    return r.status;
}

void ctok_jsonvocab_free(ctok_jsonvocab *f) {
    ctok_texttable_free(&f->table);
    ctok_mergeids_free(&f->merges);
    ctok_mem_free(f->scores);
    ctok_mem_free(f->score_at);
    *f = (ctok_jsonvocab){0};
    ctok_mergeids_init(&f->merges);
}
