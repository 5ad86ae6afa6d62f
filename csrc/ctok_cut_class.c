/* ctok_cut_class.c - cutting by classes of characters, by script, and by number of characters. */
#include "ctok_cut_step.h"

#include "ctok_cut_data.h"

#define WHITE 1u
#define PUNCTUATION 2u
#define NUMBER 4u
#define WORD 8u

static inline unsigned property(uint32_t code) { return cut_byte[(size_t)cut_page[code >> 8] << 8 | (code & 255)]; }

unsigned cut_class_of_wide(const ctok_cut_step *s, uint32_t code) {
    return code == s->character ? 2 : s->by_property[property(code)];
}

/* Is there a border between items of class a and b (1: not a match, 2: a match)? */
static unsigned border_between(ctok_cut_behavior behavior, int a, int b) {
    switch (behavior) {
    case CTOK_CUT_CONTIGUOUS: return a != b;
    case CTOK_CUT_MERGED_WITH_PREVIOUS: return !(a == 1 && b == 2);
    case CTOK_CUT_MERGED_WITH_NEXT: return !(a == 2 && b == 1);
    default: return 1;
    }
}

/* cut_behave - what happens between stretches without a match (class 1) and matches (class 2); neighbours of class 1 are one stretch. */
static void cut_behave(ctok_cut_step *s, ctok_cut_behavior behavior, int invert) {
    memset(s->act, 0, sizeof s->act);
    for (int a = 1; a <= 2; a++) {
        for (int b = 1; b <= 2; b++) {
            if (a == 1 && b == 1) continue;
            s->act[a][b] = (uint8_t)border_between(behavior, invert ? 3 - a : a, invert ? 3 - b : b);
        }
    }
    s->drops = behavior == CTOK_CUT_REMOVED ? invert ? 2 : 4 : 0;
    for (int a = 0; a < 4; a++) {
        if (s->drops) s->act[a][invert ? 1 : 2] |= CTOK_CUT_DROP;
    }
    s->after = s->act[2][1] & s->act[2][2] & CTOK_CUT_BORDER ? 4 : 0;
}

/* Three classes: 1 and 3 are kept, 2 is dropped. together: neighbours of class 3 are one piece. */
static void three_classes(ctok_cut_step *s, int together) {
    for (int a = 0; a < 4; a++) {
        for (int b = 1; b < 4; b++) {
            s->act[a][b] = b == 2 ? CTOK_CUT_DROP : 0;
            if (a && !(a == b && (a == 1 || together))) s->act[a][b] |= CTOK_CUT_BORDER;
        }
    }
    s->three = 1;
    s->drops = 4;
    s->after = together ? 0 : 8;
}

static unsigned class_by_rule(ctok_cut_rule rule, unsigned props) {
    switch (rule) {
    case CTOK_CUT_WHITE: return props & WHITE ? 2 : 1;
    case CTOK_CUT_PUNCTUATION: return props & PUNCTUATION ? 2 : 1;
    case CTOK_CUT_NUMBERS: return props & NUMBER ? 2 : 1;
    case CTOK_CUT_BERT: return props & WHITE ? 2 : props & PUNCTUATION ? 3 : 1;
    case CTOK_CUT_WORDS: return props & WHITE ? 2 : props & WORD ? 1 : 3;
    default: return 1;
    }
}

void ctok_cut_as_classes(ctok_cut_step *s, ctok_cut_rule rule, uint32_t character, ctok_cut_behavior behavior, int invert) {
    memset(s, 0, sizeof *s);
    s->kind = CTOK_CUT_CLASSES;
    if (rule == CTOK_CUT_BERT || rule == CTOK_CUT_WORDS) three_classes(s, rule == CTOK_CUT_WORDS);
    else cut_behave(s, behavior, invert);
    s->character = rule == CTOK_CUT_CHARACTER ? character : CTOK_NO_ID;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) s->borders[a][b] = s->act[a + 1][b + 1] & CTOK_CUT_BORDER ? UINT64_MAX : 0;
    }
    for (unsigned p = 0; p < 16; p++) s->by_property[p] = (uint8_t)class_by_rule(rule, p);
    for (uint32_t c = 0; c < 128; c++) {
        s->ascii[c] = (uint8_t)cut_class_of_wide(s, c);
        if (s->ascii[c] > 1) s->sets[s->ascii[c] - 2][c & 15] |= (uint8_t)(1u << (c >> 4));
    }
}

void ctok_cut_as_split(ctok_cut_step *s, const ctok_splitter *split, ctok_cut_behavior behavior, int invert) {
    memset(s, 0, sizeof *s);
    s->kind = CTOK_CUT_SPLIT;
    s->split = *split;
    s->total = ctok_dfa_is_total(split->dfa);
    cut_behave(s, behavior, invert);
}

void ctok_cut_as_call(ctok_cut_step *s, ctok_cut_call call, void *with, ctok_cut_behavior behavior, int invert) {
    memset(s, 0, sizeof *s);
    s->kind = CTOK_CUT_CALL;
    s->call = call;
    s->with = with;
    cut_behave(s, behavior, invert);
}

void ctok_cut_as_scripts(ctok_cut_step *s) {
    memset(s, 0, sizeof *s);
    s->kind = CTOK_CUT_SCRIPTS;
}

void ctok_cut_as_fixed(ctok_cut_step *s, uint64_t length) {
    memset(s, 0, sizeof *s);
    s->kind = CTOK_CUT_FIXED;
    s->length = length;
}

/* The classes of in[i, end) one by one; returns the last. */
static unsigned classes_of_piece(const ctok_cut_step *s, unsigned prev, const cut_in *in, size_t i, size_t end, cut_out *out) {
    size_t run = i;
    while (i < end) {
        const uint8_t byte = in->p[i];
        size_t len = 1;
        unsigned class;
        if (CTOK_LIKELY(byte < 0x80)) {
            class = s->ascii[byte];
        } else {
            class = cut_class_of_wide(s, cut_wide(in->p + i));
            len = cut_length(byte);
        }
        const unsigned act = s->act[prev][class];
        if (act) {
            cut_copy(out, in, run, i);
            if (act & CTOK_CUT_BORDER) cut_border(out);
            run = act & CTOK_CUT_DROP ? i + len : i;
        }
        prev = class;
        i += len;
    }
    cut_copy(out, in, run, end);
    return prev;
}

ctok_status cut_classes(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) {
    size_t begin = 0;
    unsigned prev = m->prev;
    if (cut_open(out, in->n) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t k = 0; k <= in->n_stops; k++) {
        int closed;
        const size_t end = cut_piece_end(in, k, &closed);
        prev = classes_of_piece(s, prev, in, begin, end, out);
        if (closed || s->after >> prev & 1) cut_border(out);
        if (closed) prev = 0;
        begin = end;
    }
    m->prev = (uint8_t)prev;
    cut_close(out);
    return CTOK_OK;
}

unsigned ctok_cut_properties(uint32_t code) { return property(code); }

/* Characters [first, after) are of one script. */
typedef struct cut_stretch {
    uint32_t first, after, script;
} cut_stretch;

static cut_stretch find_stretch(uint32_t code) {
    uint32_t lo = 0, hi = CUT_SCRIPTS;
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (code < cut_scripts[mid] >> 8) hi = mid;
        else lo = mid;
    }
    return (cut_stretch){cut_scripts[lo] >> 8, hi < CUT_SCRIPTS ? cut_scripts[hi] >> 8 : UINT32_MAX, cut_scripts[lo] & 255};
}

/* Text changes between few stretches (letters and what stands between words): the last two are at hand, the latest first. */
static inline unsigned script_of(cut_stretch last[2], uint32_t code) {
    if (code - last[0].first >= last[0].after - last[0].first) {
        const cut_stretch latest = last[0];
        last[0] = code - last[1].first < last[1].after - last[1].first ? last[1] : find_stretch(code);
        last[1] = latest;
    }
    return last[0].script;
}

unsigned ctok_cut_script(uint32_t code) { return find_stretch(code).script; }

ctok_status cut_by_script(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) {
    size_t i = 0, run = 0;
    cut_stretch last[2] = {{0, 0, 0}, {0, 0, 0}};
    (void)s;
    if (cut_open(out, in->n) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t k = 0; k <= in->n_stops; k++) {
        int closed;
        const size_t end = cut_piece_end(in, k, &closed);
        while (i < end) {
            const size_t len = cut_length(in->p[i]);
            const unsigned script = script_of(last, len == 1 ? in->p[i] : cut_wide(in->p + i));
            if (script && script != m->count) {
                if (m->count) cut_copy(out, in, run, i); /* what stands before the first script is dropped */
                cut_border(out);
                run = i;
                m->count = script;
            }
            i += len;
        }
        if (m->count) cut_copy(out, in, run, end);
        if (closed) {
            cut_border(out);
            m->count = 0;
        }
        run = end;
    }
    cut_close(out);
    return CTOK_OK;
}

ctok_status cut_fixed(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) {
    size_t i = 0, run = 0;
    if (cut_open(out, in->n) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t k = 0; k <= in->n_stops; k++) {
        int closed;
        const size_t end = cut_piece_end(in, k, &closed);
        while (i < end) {
            i += cut_length(in->p[i]);
            if (++m->count < s->length) continue;
            cut_copy(out, in, run, i);
            cut_border(out);
            run = i;
            m->count = 0;
        }
        cut_copy(out, in, run, end);
        if (closed) {
            cut_border(out);
            m->count = 0;
        }
        run = end;
    }
    cut_close(out);
    return CTOK_OK;
}
