/* ctok_normal_chars.c - a row of character steps as one table.
 *
 * The entry of a record says what the row makes of a character that stands alone, and how far it may act on its neighbours:
 *   BACK  something of it may reorder with, or compose with, what stands before
 *   FWD   with what stands behind
 *   THRU  it vanishes, and what stands before and behind it may then meet
 * A border before a character that is neither BACK nor THRU is safe, and so is one behind a character that is not FWD (and not in such a
 * stretch). So the fast lane handles characters alone; a stretch with more than one character goes through the steps one by one.
 *
 * Why flags of single characters are enough: between two safe borders all that the steps look at is the stretch itself, and what a step
 * makes of a text is the concatenation of what it makes of its parts between safe borders.
 */
#include <string.h>

#include "ctok_normal_facts.h"
#include "ctok_normal_rooms.h"
#include "ctok_utf8.h"

#define BACK 1u
#define FWD 2u
#define THRU 4u
#define KIND_SHIFT 4
#define KIND(entry) ((entry) >> KIND_SHIFT & 7u)
#define TEXT_SHIFT 8
enum { SAME, GONE, TEXT, APART, LETTERS };  /* LETTERS: a Hangul syllable taken apart */

/* Block loops of ASCII text, see `blocks`. */
enum { NO_BLOCKS, KEEP, LOWERS, BLANKS, BLANKS_LOWERS };

static uint32_t entry_of(const ctok_normal_room *r, uint32_t code) { return r->fused[ctok_nf_record(code)]; }

/* ---- building ---- */

static int is_form(uint8_t op) { return op <= CTOK_NORMAL_NFKD; }
static int composes(uint8_t op) { return op == CTOK_NORMAL_NFC || op == CTOK_NORMAL_NFKC; }

/* Does some step behind k drop this mark, so that its place among marks does not matter? (If nothing composes in between.) */
static int is_dropped(const ctok_normal_room *r, uint32_t k, uint32_t bits) {
    for (uint32_t i = k + 1; i < r->n_ops; i++) {
        const uint8_t op = r->ops[i];
        if (composes(op)) return 0;
        if (op == CTOK_NORMAL_DROP_MARKS && bits & CTOK_NF_MARK) return 1;
        if (op == CTOK_NORMAL_DROP_MN && bits & CTOK_NF_MN) return 1;
        if (op == CTOK_NORMAL_NMT && bits & CTOK_NF_NMT_DROP) return 1;
        if (op == CTOK_NORMAL_BERT_CLEAN && bits & CTOK_NF_BERT_DROP) return 1;
    }
    return 0;
}

/* The last of the characters that is no mark, or NULL. */
static const ctok_item *last_starter(const ctok_items *items) {
    for (size_t i = items->n; i-- > 0;) {
        if (ctok_nf_class[ctok_nf_record(items->at[i].code)] == 0) return &items->at[i];
    }
    return NULL;
}

static uint32_t first_of_pair(const ctok_items *items) {
    const ctok_item *last = last_starter(items);
    return last != NULL && ctok_nf_bits[ctok_nf_record(last->code)] & CTOK_NF_PAIR_FIRST ? FWD : 0;
}

/* What the decomposed text shows: marks that stay act on their neighbours; a text of nothing but marks that go lets them meet. */
static uint32_t look_at_marks(const ctok_normal_room *r, uint32_t k, const ctok_items *items) {
    const int joins = composes(r->ops[k]);
    uint32_t flags = 0;
    int survives = 0, marks_only = 1;
    for (size_t i = 0; i < items->n; i++) {
        const uint32_t record = ctok_nf_record(items->at[i].code), bits = ctok_nf_bits[record];
        const int is_mark = ctok_nf_class[record] != 0, acts = is_mark && (joins || !is_dropped(r, k, bits));
        if (!is_mark) marks_only = 0;
        if (!is_mark || acts) survives = 1;
        if (acts) flags |= marks_only ? FWD | BACK : FWD;
        if (joins && i == 0 && bits & CTOK_NF_PAIR_SECOND) flags |= BACK;
    }
    return marks_only && !survives ? flags | THRU : flags;
}

/* How far step k, a form, lets the character in w->a act on its neighbours; adds flags, and applies the step. */
static ctok_status look(const ctok_normal_room *r, uint32_t k, ctok_ops_work *w, uint32_t *flags) {
    const uint8_t op = r->ops[k];
    if (!composes(op)) {
        const ctok_status status = ctok_ops_apply(w, (ctok_normal_op)op);
        *flags |= look_at_marks(r, k, &w->a);
        return status;
    }
    *flags |= first_of_pair(&w->a);
    ctok_status status = ctok_ops_apply(w, op == CTOK_NORMAL_NFC ? CTOK_NORMAL_NFD : CTOK_NORMAL_NFKD);
    if (status != CTOK_OK) return status;
    *flags |= look_at_marks(r, k, &w->a) | first_of_pair(&w->a);
    status = ctok_ops_apply(w, (ctok_normal_op)op);
    *flags |= first_of_pair(&w->a);
    return status;
}

static ctok_status put_text(ctok_normal_room *r, const ctok_items *items, uint32_t *entry) {
    const size_t place = r->pool.n;
    if (ctok_bytes_reserve(&r->pool, 1 + 4 * items->n) != CTOK_OK) return CTOK_ERR_MEMORY;
    size_t n = 1;
    for (size_t i = 0; i < items->n; i++) n += ctok_utf8_put(r->pool.at + place + n, items->at[i].code);
    if (n > 256 || place >> (32 - TEXT_SHIFT)) return CTOK_ERR_FORMAT;
    r->pool.at[place] = (uint8_t)(n - 1);
    r->pool.n += n;
    *entry = TEXT << KIND_SHIFT | (uint32_t)place << TEXT_SHIFT;
    return CTOK_OK;
}

static ctok_status result_entry(ctok_normal_room *r, uint32_t code, const ctok_items *items, uint32_t *entry) {
    const ctok_item *at = items->at;
    if (items->n == 1 && at[0].code == code) {
        *entry = SAME << KIND_SHIFT;
    } else if (items->n == 0) {
        *entry = GONE << KIND_SHIFT;
    } else if (items->n == 3 && at[0].code == ' ' && at[1].code == code && at[2].code == ' ') {
        *entry = APART << KIND_SHIFT;
    } else if (ctok_nf_bits[ctok_nf_record(code)] & (CTOK_NF_LV | CTOK_NF_LVT)) {
        *entry = LETTERS << KIND_SHIFT;
    } else {
        return put_text(r, items, entry);
    }
    return CTOK_OK;
}

static ctok_status fuse_record(ctok_normal_room *r, ctok_ops_work *w, uint32_t record) {
    const uint32_t code = ctok_nf_sample[record];
    const ctok_align none = {0, 0};
    uint32_t flags = 0, entry = 0;
    ctok_status status;
    w->a.n = 0;
    status = ctok_items_push(&w->a, code, none);
    for (uint32_t k = 0; k < r->n_ops && status == CTOK_OK; k++) {
        status = is_form(r->ops[k]) ? look(r, k, w, &flags) : ctok_ops_apply(w, (ctok_normal_op)r->ops[k]);
    }
    if (status == CTOK_OK) status = result_entry(r, code, &w->a, &entry);
    r->fused[record] = entry | flags;
    return status;
}

/* Which block loop does what the table of ASCII characters says? */
static uint8_t choose_blocks(const ctok_normal_room *r) {
    const uint8_t *t = r->ascii;
    const int lowers = t['A'] == 'a', blanks = t['\n'] == ' ';
    for (unsigned c = 0x20; c < 0x7F; c++) {
        const uint8_t wanted = lowers && c >= 'A' && c <= 'Z' ? (uint8_t)(c + 0x20) : (uint8_t)c;
        if (t[c] != wanted) return NO_BLOCKS;
    }
    if (!blanks) return t['\n'] != '\n' || t['\t'] != '\t' || t['\r'] != '\r' ? NO_BLOCKS : lowers ? LOWERS : KEEP;
    return t['\t'] != ' ' || t['\r'] != ' ' ? NO_BLOCKS : lowers ? BLANKS_LOWERS : BLANKS;
}

ctok_status ctok_room_fuse(ctok_normal_room *r) {
    ctok_ops_work work;
    ctok_status status = CTOK_OK;
    memset(&work, 0, sizeof work);
    r->fused = (uint32_t *)ctok_mem_alloc(ctok_nf_n_records, sizeof *r->fused);
    if (r->fused == NULL) return CTOK_ERR_MEMORY;
    for (uint32_t i = 0; i < ctok_nf_n_records && status == CTOK_OK; i++) status = fuse_record(r, &work, i);
    ctok_ops_work_free(&work);
    if (status != CTOK_OK) return status;
    for (uint32_t c = 0; c < 128; c++) {
        const uint32_t entry = entry_of(r, c);
        const uint8_t *text = r->pool.at + (entry >> TEXT_SHIFT);
        r->ascii[c] = CTOK_ASCII_STOP;
        if (entry & (BACK | THRU)) continue;
        if (KIND(entry) == SAME) r->ascii[c] = (uint8_t)c;
        if (KIND(entry) == TEXT && text[0] == 1 && text[1] < 0x80) r->ascii[c] = text[1];
    }
    r->ascii_kind = choose_blocks(r);
    return CTOK_OK;
}

/* ---- running ---- */

/* ASCII blocks of 32 characters: written as plain loops over a fixed number of bytes, which compilers turn into vectors. The sum of `odd`
 * says whether a character needs a closer look: not ASCII, or a control character other than tab, newline, return. */
#define BLOCK 32
#define BLOCK_LOOP(NAME, CONVERT)                                                                                                        \
    static size_t NAME(const uint8_t *in, size_t n, uint8_t *out) {                                                                      \
        size_t i = 0;                                                                                                                    \
        for (; i + BLOCK <= n; i += BLOCK) {                                                                                             \
            uint8_t odd = 0;                                                                                                             \
            for (size_t k = 0; k < BLOCK; k++) {                                                                                         \
                const uint8_t c = in[i + k];                                                                                             \
                const uint8_t line = (uint8_t)((c == 9) | (c == 10) | (c == 13));                                                        \
                const uint8_t plain = (uint8_t)(c - 0x20) < 0x5F;                                                                        \
                odd |= (uint8_t)!(line | plain);                                                                                         \
                out[i + k] = CONVERT;                                                                                                    \
            }                                                                                                                            \
            if (odd) break;                                                                                                              \
        }                                                                                                                                \
        return i;                                                                                                                        \
    }
#define LOWERED(c) (uint8_t)((c) | (uint8_t)((uint8_t)((c) - 'A') < 26 ? 0x20 : 0))
BLOCK_LOOP(keep_blocks, c)
BLOCK_LOOP(lower_blocks, LOWERED(c))
BLOCK_LOOP(blank_blocks, line ? 0x20 : c)
BLOCK_LOOP(blank_lower_blocks, line ? 0x20 : LOWERED(c))

static size_t blocks(const ctok_normal_room *r, const uint8_t *in, size_t n, uint8_t *out) {
    switch (r->ascii_kind) {
    case KEEP: return keep_blocks(in, n, out);
    case LOWERS: return lower_blocks(in, n, out);
    case BLANKS: return blank_blocks(in, n, out);
    case BLANKS_LOWERS: return blank_lower_blocks(in, n, out);
    default: return 0;
    }
}

/* A run of ASCII text: each character becomes one. Returns how many; out has room for n and a block. */
static size_t ascii_run(const ctok_normal_room *r, const uint8_t *in, size_t n, uint8_t *out) {
    size_t i = 0;
    while (i < n) {
        if (in[i] >= 0x80) break;
        if (n - i >= BLOCK) {
            const size_t k = blocks(r, in + i, n - i, out + i);
            i += k;
            if (i == n) break;
        }
        const size_t stop = n - i < BLOCK ? n : i + BLOCK;
        while (i < stop && in[i] < 0x80 && r->ascii[in[i]] != CTOK_ASCII_STOP) {
            out[i] = r->ascii[in[i]];
            i++;
        }
        if (i < stop) break;
    }
    return i;
}

static ctok_status put(const ctok_normal_room *r, uint32_t entry, const uint8_t *p, size_t n, ctok_bytes *out) {
    uint8_t *to = out->at + out->n;
    const uint8_t *text;
    uint32_t letters[3];
    switch (KIND(entry)) {
    case SAME:
        memcpy(to, p, n);
        out->n += n;
        break;
    case TEXT:
        text = r->pool.at + (entry >> TEXT_SHIFT);
        if (ctok_bytes_reserve(out, text[0]) != CTOK_OK) return CTOK_ERR_MEMORY;
        memcpy(out->at + out->n, text + 1, text[0]);
        out->n += text[0];
        break;
    case APART:
        to[0] = ' ';
        memcpy(to + 1, p, n);
        to[n + 1] = ' ';
        out->n += n + 2;
        break;
    case LETTERS: {
        const size_t k = ctok_nf_hangul(ctok_nf_read(p, &n), letters);
        for (size_t i = 0; i < k; i++) out->n += ctok_utf8_put(out->at + out->n, letters[i]);
        break;
    }
    default: break;
    }
    return CTOK_OK;
}

/* Marks in order that compose with nothing, on which no other step has a say: the stretch stays as it is. */
static int is_settled(const ctok_normal_room *r, const uint8_t *in, size_t n) {
    uint8_t last = 0;
    if (r->n_ops != 1) return 0;
    for (size_t i = 0, len; i < n; i += len) {
        const uint32_t record = ctok_nf_record(ctok_nf_read(in + i, &len));
        const uint8_t cls = ctok_nf_class[record];
        if (KIND(r->fused[record]) != SAME || ctok_nf_bits[record] & CTOK_NF_PAIR_SECOND || (cls && cls < last)) return 0;
        last = cls;
        if (i == 0) {  /* its own last mark counts; a character that is a mark with its base inside is left to the steps */
            if (cls == 0 && (ctok_nf_nfd[record] || ctok_nf_nfkd[record])) return 0;
        }
    }
    return 1;
}

/* A stretch between safe borders through all steps. */
static ctok_status slowly(const ctok_normal_room *r, const uint8_t *in, size_t n, ctok_bytes *out) {
    ctok_ops_work work;
    if (is_settled(r, in, n)) return ctok_bytes_append(out, in, n);
    memset(&work, 0, sizeof work);
    ctok_status status = ctok_ops_read(&work, in, n);
    for (uint32_t k = 0; k < r->n_ops && status == CTOK_OK; k++) status = ctok_ops_apply(&work, (ctok_normal_op)r->ops[k]);
    if (status == CTOK_OK) status = ctok_bytes_reserve(out, 4 * work.a.n);
    for (size_t i = 0; i < work.a.n && status == CTOK_OK; i++) out->n += ctok_utf8_put(out->at + out->n, work.a.at[i].code);
    ctok_ops_work_free(&work);
    return status;
}

/* Where the stretch that starts at `pos` with an active character ends, not looking at what is known to belong to it. */
static size_t stretch_end(const ctok_normal_room *r, const uint8_t *in, size_t from, size_t n) {
    size_t len;
    while (from < n && entry_of(r, ctok_nf_read(in + from, &len)) & (BACK | THRU)) from += len;
    return from;
}

/* The last character that left, in case the next one acts on it. */
typedef struct lane {
    size_t pos;         /* bytes read */
    size_t last, back;  /* where that character starts in the text, and what it added to out starts there; last == pos: there is none */
} lane;

/* Is the text ASCII for a while? */
static int is_ascii8(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, 8);
    return (x & UINT64_C(0x8080808080808080)) == 0;
}

/* The number of the record of the character of 2 to 4 bytes at p, without putting its code together where that can be saved. */
static uint32_t long_record(const uint8_t *p, size_t *len) {
    const uint32_t b = p[0];
    if (b < 0xE0) {
        *len = 2;
        return ctok_nf_pages[(uint32_t)ctok_nf_index[b & 0x1F] << 6 | (p[1] & 0x3Fu)];
    }
    if (b < 0xF0) {
        *len = 3;
        return ctok_nf_pages[(uint32_t)ctok_nf_index[(b & 0x0F) << 6 | (p[1] & 0x3Fu)] << 6 | (p[2] & 0x3Fu)];
    }
    return ctok_nf_record(ctok_nf_read(p, len));
}

/* The fast lane: characters that stay or become a short text, as long as none acts on the one before it. Goes no nearer to the end of the
 * text than SPAN, because it copies more than it needs; out has room for two bytes for each byte of text, and a block. */
#define SPAN 16
static void fast_lane(const ctok_normal_room *r, const uint8_t *in, size_t n, ctok_bytes *out, lane *l) {
    size_t pos = l->pos, last = l->last, back = l->back, len;
    uint8_t *to = out->at + out->n, *const base = out->at;
    while (pos + SPAN <= n) {
        if (in[pos] < 0x80) {
            if (is_ascii8(in + pos)) {
                const size_t k = ascii_run(r, in + pos, n - SPAN - pos, to);
                if (k == 0) break;
                pos += k;
                to += k;
                last = pos - 1;
                back = (size_t)(to - base) - 1;
                continue;
            }
            const uint8_t c = r->ascii[in[pos]];
            if (c == CTOK_ASCII_STOP) break;
            last = pos++;
            back = (size_t)(to - base);
            *to++ = c;
            continue;
        }
        const uint32_t entry = r->fused[long_record(in + pos, &len)];
        if (CTOK_LIKELY((entry & ~FWD) == SAME << KIND_SHIFT)) {
            last = pos;
            back = (size_t)(to - base);
            memcpy(to, in + pos, 4);
            to += len;
            pos += len;
            continue;
        }
        if (entry & (BACK | THRU) || KIND(entry) > TEXT) break;
        last = pos;
        back = (size_t)(to - base);
        if (KIND(entry) == TEXT) {
            const uint8_t *text = r->pool.at + (entry >> TEXT_SHIFT);
            if (text[0] > 2 * len || text[0] > 8) break;
            memcpy(to, text + 1, 8);
            to += text[0];
        }
        pos += len;
    }
    l->pos = pos;
    l->last = last;
    l->back = back;
    out->n = (size_t)(to - base);
}

/* ASCII text near the end. The last character stays when more may come: a mark may follow. */
static void ascii_tail(const ctok_normal_room *r, const uint8_t *in, size_t n, int final, ctok_bytes *out, lane *l) {
    const size_t k = ascii_run(r, in + l->pos, final ? n - l->pos : n - l->pos - 1, out->at + out->n);
    if (k == 0) return;
    l->pos += k;
    out->n += k;
    l->last = l->pos - 1;
    l->back = out->n - 1;
}

/* One character the careful way, with the stretch it belongs to. Returns the place behind; the same place: wait for more text. */
static ctok_status careful(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out, lane *l) {
    size_t len, pos = l->pos, known = (size_t)s->seen;
    uint32_t entry = entry_of(r, ctok_nf_read(in + pos, &len));
    if (entry & (BACK | THRU) && l->last < pos && entry_of(r, ctok_nf_read(in + l->last, &len)) & FWD) {
        known = pos - l->last;  /* take the character before it back */
        pos = l->last;
        out->n = l->back;
    }
    entry = entry_of(r, ctok_nf_read(in + pos, &len));
    s->seen = 0;
    size_t end = pos + len;
    if (entry & (BACK | FWD) || known) end = stretch_end(r, in, known > len ? known + pos : end, n);
    if (end == n && !final && entry & (BACK | FWD)) {
        s->seen = end - pos;
        l->pos = l->last = pos;
        return CTOK_OK;
    }
    l->pos = l->last = end;
    return end == pos + len ? put(r, entry, in + pos, len, out) : slowly(r, in + pos, end - pos, out);
}

ctok_status ctok_room_chars(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                            size_t *used) {
    lane l = {0, 0, 0};
    ctok_status status = CTOK_OK;
    while (l.pos < n && status == CTOK_OK) {
        if (n - l.pos > SIZE_MAX / 4 || ctok_bytes_reserve(out, 2 * (n - l.pos) + 2 * BLOCK) != CTOK_OK) return CTOK_ERR_MEMORY;
        if (s->seen == 0) {
            fast_lane(r, in, n, out, &l);
            ascii_tail(r, in, n, final, out, &l);
            if (l.pos == n) break;
        }
        status = careful(r, s, in, n, final, out, &l);
        if (s->seen) break;
    }
    *used = l.pos;
    return status;
}
