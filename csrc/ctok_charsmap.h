/* ctok_charsmap.h - SentencePiece's `precompiled_charsmap`: a double array over the bytes of the old texts, and the new texts.
 *
 * Layout of the data: length of the trie in bytes (uint32), its units (uint32 each), then the new texts, each ended by a zero byte; all
 * little-endian. Of a unit: bits 0-7 and 31 the label, bit 8 whether a key ends here, the rest where its children are; a key's value is
 * the place of its new text. Data may come from anywhere: every step is checked, nothing can lead outside.
 */
#ifndef CTOK_CHARSMAP_H
#define CTOK_CHARSMAP_H

#include "ctok_base.h"
#include "ctok_mem.h"

typedef struct ctok_charsmap {
    uint32_t *units;
    uint8_t *texts;       /* ends with a zero byte of our own */
    uint32_t n_units, n_texts;
    /* what single characters become: place of the new text + 1 by code point, 0: nothing is said about it */
    uint16_t *pages;      /* number of the page of each 64 code points; page 0 is empty */
    uint32_t *entries;
} ctok_charsmap;

#define CTOK_CHARSMAP_NONE UINT32_MAX

/* ctok_charsmap_init - copy and check. CTOK_ERR_FORMAT: lengths do not fit, texts are not UTF-8, or a value points outside.
 * by_char  also build the table of single characters (by the shortest key each begins with, as the reference library asks). */
ctok_status ctok_charsmap_init(ctok_charsmap *m, const uint8_t *data, size_t n, int by_char);
void ctok_charsmap_free(ctok_charsmap *m);

/* ctok_charsmap_shortest / longest - the shortest or longest key that p[0..n) begins with; *len is set to its bytes.
 * Returns the place of its new text, or CTOK_CHARSMAP_NONE. A key does not go on over a zero byte. */
uint32_t ctok_charsmap_shortest(const ctok_charsmap *m, const uint8_t *p, size_t n, size_t *len);
uint32_t ctok_charsmap_longest(const ctok_charsmap *m, const uint8_t *p, size_t n, size_t *len);

/* ctok_charsmap_match - the longest of the first CTOK_CHARSMAP_NESTED keys (shorter ones first) that p[0..n) begins with, as above. *open is
 * set when more text could make it a longer one: all n bytes are the beginning of one. */
#define CTOK_CHARSMAP_NESTED 32
uint32_t ctok_charsmap_match(const ctok_charsmap *m, const uint8_t *p, size_t n, size_t *len, int *open);

/* The parts of a unit: the label, what is XORed to its place to find its children (label b: that XOR b), whether a key ends. */
static inline uint32_t ctok_unit_label(uint32_t unit) { return unit & 0x800000FFu; }
static inline uint32_t ctok_unit_offset(uint32_t unit) { return (unit >> 10) << ((unit & 0x200u) >> 6); }
static inline int ctok_unit_ends_key(uint32_t unit) { return (unit >> 8) & 1u; }

/* ctok_charsmap_value - the place of the text of the key that ends at the node with children at `at`; NONE when it points outside. */
static inline uint32_t ctok_charsmap_value(const ctok_charsmap *m, uint32_t at) {
    if (at >= m->n_units) return CTOK_CHARSMAP_NONE;
    const uint32_t value = m->units[at] & 0x7FFFFFFFu;
    return value < m->n_texts ? value : CTOK_CHARSMAP_NONE;
}

/* ctok_charsmap_char - the same for a single character, from the table: place + 1, or 0. */
static inline uint32_t ctok_charsmap_char(const ctok_charsmap *m, uint32_t code) {
    return m->entries[(uint32_t)m->pages[code >> 6] << 6 | (code & 63)];
}

#endif
