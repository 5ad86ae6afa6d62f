/* The lane for plain text against a loop over its characters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctok_mem.h"
#include "ctok_spn.h"

#define MOST 400

static uint64_t state = 7;

static unsigned draw(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* A text that does not start with a blank; words and rows of blanks of all lengths up to some windows. */
static size_t make(uint8_t *p) {
    static const char *const CHARS[] = {"\xC3\xA9", "\xE4\xB8\x96", "\xF0\x9F\x98\x80", "\xD0\xB8"};
    const unsigned wide = draw(4) ? draw(8) : 0, size = 1 + draw(MOST - 8), often = 1 + draw(12);
    size_t n = 0;
    p[n++] = 'a';
    while (n < size) {
        if (draw(often) == 0) {
            for (unsigned rest = draw(8) ? 1 : draw(90); rest && n < MOST - 8; rest--) p[n++] = ' ';
        } else if (draw(10) < wide) {
            const char *one = CHARS[draw(4)];
            memcpy(p + n, one, strlen(one));
            n += strlen(one);
        } else {
            p[n++] = (uint8_t)('!' + draw(94));
        }
    }
    return n;
}

static size_t expect(const ctok_spn *m, const uint8_t *p, size_t n, uint8_t *out) {
    size_t made = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] != ' ') {
            out[made++] = p[i];
        } else if (!m->extra || p[i - 1] != ' ') {
            memcpy(out + made, m->blank, m->n_blank);
            made += m->n_blank;
        }
    }
    return made;
}

static int fails(const ctok_spn *m) {
    uint8_t text[MOST], wanted[3 * MOST];
    const size_t n = make(text), made = expect(m, text, n, wanted);
    uint8_t *exact = (uint8_t *)malloc(n); /* so that a byte read behind it is noticed */
    ctok_bytes out = {NULL, 0, 0};
    size_t used = 0;
    int blank = 0;
    if (exact == NULL) return 1;
    memcpy(exact, text, n);
    const ctok_status status = ctok_spn_lane(m, exact, n, 1, &blank, &out, &used);
    const int same = status == CTOK_OK && used == n && out.n == made && memcmp(out.at, wanted, made) == 0;
    const int wanted_blank = m->extra && text[n - 1] == ' ';
    if (!same || blank != wanted_blank) fprintf(stderr, "extra %d escape %d: %.*s\n", m->extra, m->escape, (int)n, (const char *)text);
    ctok_bytes_free(&out);
    free(exact);
    return !same || blank != wanted_blank;
}

int main(void) {
    int bad = 0;
    for (unsigned how = 0; how < 4; how++) {
        ctok_spn_options options;
        ctok_spn *m;
        memset(&options, 0, sizeof options);
        options.extra = how & 1;
        options.escape = (uint8_t)(how >> 1);
        if (ctok_spn_new(&m, &options) != CTOK_OK) return 2;
        for (unsigned i = 0; i < 800; i++) bad |= fails(m);
        ctok_spn_free(m);
    }
    return bad;
}
