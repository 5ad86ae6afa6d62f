/* ctok_cut_text.c - the steps that change the text: blanks made visible, blanks put in front, bytes spelled. */
#include "ctok_bytelevel.h"
#include "ctok_cut_step.h"

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#define SIXTEEN 1
#endif

void ctok_cut_as_metaspace(ctok_cut_step *s, uint32_t character, ctok_cut_prepend prepend, int cuts) {
    memset(s, 0, sizeof *s);
    s->kind = CTOK_CUT_METASPACE;
    s->prepend = prepend;
    s->cuts = cuts;
    if (character < 0x80) {
        s->text_len = 1;
        s->text[0] = (uint8_t)character;
        return;
    }
    s->text_len = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (uint32_t i = s->text_len - 1; i; i--, character >>= 6) s->text[i] = (uint8_t)(0x80 | (character & 63));
    s->text[0] = (uint8_t)(character | (s->text_len == 2 ? 0xC0u : s->text_len == 3 ? 0xE0u : 0xF0u));
}

void ctok_cut_as_prefix(ctok_cut_step *s) {
    memset(s, 0, sizeof *s);
    s->kind = CTOK_CUT_PREFIX;
}

void ctok_cut_as_spell(ctok_cut_step *s) {
    memset(s, 0, sizeof *s);
    s->kind = CTOK_CUT_SPELL;
}

static inline int is_text(const ctok_cut_step *s, const uint8_t *p) {
    return p[0] == s->text[0] && memcmp(p, s->text, s->text_len) == 0; /* whole characters: the first byte says how many follow */
}

/* The first place from i on, up to end, of a blank or a byte like `lead`; n bytes are readable. */
static inline size_t next_mark(const uint8_t *p, size_t i, size_t end, size_t n, uint8_t lead) {
#ifdef SIXTEEN
    const __m128i blanks = _mm_set1_epi8(' '), leads = _mm_set1_epi8((char)lead);
    while (i < end && n - i >= 16) {
        const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        const unsigned found = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(v, blanks), _mm_cmpeq_epi8(v, leads)));
        if (found) {
            i += (size_t)__builtin_ctz(found);
            return i < end ? i : end;
        }
        i += 16;
    }
#else
    (void)n;
#endif
    while (i < end && p[i] != ' ' && p[i] != lead) i++;
    return i < end ? i : end;
}

/* The piece in[begin, end), or the next part of one: m->prev says whether it had bytes before. */
static void metaspace_piece(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, size_t begin, size_t end, cut_out *out) {
    size_t run = begin;
    if (!m->prev && s->prepend != CTOK_CUT_NEVER && in->p[begin] != ' ' && !is_text(s, in->p + begin)) {
        const int here = s->whole ? m->first : begin < in->zero;
        if (s->prepend == CTOK_CUT_ALWAYS || here) cut_put(out, in, begin, s->text, s->text_len);
    }
    m->prev = 1;
    const uint8_t lead = s->cuts ? s->text[0] : ' ';
    for (size_t i = begin; (i = next_mark(in->p, i, end, in->n, lead)) < end; i++) {
        const int blank = in->p[i] == ' ';
        if (!blank && !is_text(s, in->p + i)) continue;
        cut_copy(out, in, run, i);
        if (s->cuts) cut_border(out);
        run = i;
        if (!blank) continue;
        cut_put(out, in, i, s->text, s->text_len);
        run = i + 1;
    }
    cut_copy(out, in, run, end);
}

ctok_status cut_metaspace(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) {
    size_t begin = 0;
    if (in->n + in->n_stops >= UINT32_MAX / 8 || cut_open(out, s->text_len * (in->n + in->n_stops + 1)) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t k = 0; k <= in->n_stops; k++) {
        int closed;
        const size_t end = cut_piece_end(in, k, &closed);
        if (begin < end) metaspace_piece(s, m, in, begin, end, out);
        if (closed) {
            cut_border(out);
            m->prev = 0;
        }
        begin = end;
    }
    cut_close(out);
    return CTOK_OK;
}

ctok_status cut_prefix(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) {
    static const uint8_t blank[1] = {' '};
    size_t begin = 0;
    (void)s;
    if (cut_open(out, in->n + in->n_stops + 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t k = 0; k <= in->n_stops; k++) {
        int closed;
        const size_t end = cut_piece_end(in, k, &closed);
        if (begin < end) {
            if (!m->prev && in->p[begin] != ' ') cut_put(out, in, begin, blank, 1);
            cut_copy(out, in, begin, end);
            m->prev = 1;
        }
        if (closed) {
            cut_border(out);
            m->prev = 0;
        }
        begin = end;
    }
    cut_close(out);
    return CTOK_OK;
}

ctok_status cut_spell(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) {
    size_t begin = 0;
    (void)s, (void)m;
    if (in->n >= UINT32_MAX / 8 || cut_open(out, 2 * in->n) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t k = 0; k <= in->n_stops; k++) {
        int closed;
        const size_t end = cut_piece_end(in, k, &closed);
        for (size_t i = begin; i < end; i++) {
            const uint32_t c = ctok_bytelevel_char(in->p[i]);
            const uint8_t two[2] = {(uint8_t)(0xC0 | c >> 6), (uint8_t)(0x80 | (c & 63))}, one = (uint8_t)c;
            if (c < 0x80) cut_put(out, in, i, &one, 1);
            else cut_put(out, in, i, two, 2);
        }
        if (closed) cut_border(out);
        begin = end;
    }
    cut_close(out);
    return CTOK_OK;
}
