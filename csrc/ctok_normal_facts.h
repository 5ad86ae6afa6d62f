/* ctok_normal_facts.h - what the normalizers know about characters: decompositions, combining classes, composing pairs, sets, clusters.
 *
 * Not the Unicode version of ctok_unicode.h: these tables are what the reference library answers, asked character by character by
 * tools/gen_normalize.py, because its parts follow different and older versions.
 */
#ifndef CTOK_NORMAL_FACTS_H
#define CTOK_NORMAL_FACTS_H

#include "ctok_base.h"

/* Bits of a record. */
#define CTOK_NF_MARK (1u << 0)         /* dropped by StripAccents */
#define CTOK_NF_MN (1u << 1)           /* dropped by BertNormalizer's strip_accents */
#define CTOK_NF_BERT_DROP (1u << 2)
#define CTOK_NF_BERT_SPACE (1u << 3)
#define CTOK_NF_NMT_DROP (1u << 4)
#define CTOK_NF_NMT_SPACE (1u << 5)
#define CTOK_NF_WHITE (1u << 6)        /* stripped by Strip */
#define CTOK_NF_CJK (1u << 7)          /* BertNormalizer puts blanks around it */
#define CTOK_NF_PAIR_FIRST (1u << 8)   /* stands first in a composing pair; Hangul L and LV included */
#define CTOK_NF_PAIR_SECOND (1u << 9)  /* stands second in one; Hangul V and T included */
#define CTOK_NF_LV (1u << 10)
#define CTOK_NF_LVT (1u << 11)
#define CTOK_NF_NFC_NO (1u << 12)      /* alone, NFC changes it */
#define CTOK_NF_NFKC_NO (1u << 13)
#define CTOK_NF_PICTOGRAPH (1u << 14)  /* Extended_Pictographic */
#define CTOK_NF_LINKER (1u << 15)      /* Indic_Conjunct_Break: Linker, Consonant, Extend or Linker */
#define CTOK_NF_CONSONANT (1u << 16)
#define CTOK_NF_INCB_EXTEND (1u << 17)
#define CTOK_NF_CLUSTER_SHIFT 18

typedef enum ctok_nf_cluster {
    CTOK_NF_OTHER, CTOK_NF_CR, CTOK_NF_LF, CTOK_NF_CONTROL, CTOK_NF_EXTEND, CTOK_NF_ZWJ, CTOK_NF_PREPEND, CTOK_NF_SPACING,
    CTOK_NF_JAMO_L, CTOK_NF_JAMO_V, CTOK_NF_JAMO_T, CTOK_NF_SYLLABLE_LV, CTOK_NF_SYLLABLE_LVT
} ctok_nf_cluster;

#define CTOK_NF_PAGE_BITS 6

extern const uint16_t ctok_nf_index[];
extern const uint16_t ctok_nf_pages[];
extern const uint32_t ctok_nf_bits[];    /* by record, as the following */
extern const uint8_t ctok_nf_class[];    /* canonical combining class */
extern const uint16_t ctok_nf_nfd[];     /* place in the pool; 0: decomposes to itself (Hangul syllables too: they follow arithmetic) */
extern const uint16_t ctok_nf_nfkd[];
extern const uint16_t ctok_nf_lower[];
extern const uint32_t ctok_nf_sample[];  /* a code point that has the record */
extern const uint8_t ctok_nf_pool[];     /* length in bytes, text */
extern const uint32_t ctok_nf_n_records;

/* ctok_nf_record - the number of a code point's record. */
static inline uint32_t ctok_nf_record(uint32_t code) {
    return ctok_nf_pages[((uint32_t)ctok_nf_index[code >> CTOK_NF_PAGE_BITS] << CTOK_NF_PAGE_BITS) | (code & ((1u << CTOK_NF_PAGE_BITS) - 1))];
}

/* ctok_nf_compose - the character two others compose to, or 0. */
uint32_t ctok_nf_compose(uint32_t first, uint32_t second);

/* ctok_nf_read - the code point at p, which holds a whole character of valid UTF-8; *n is set to its bytes. */
static inline uint32_t ctok_nf_read(const uint8_t *p, size_t *n) {
    const uint32_t b = p[0];
    if (b < 0x80) {
        *n = 1;
        return b;
    }
    if (b < 0xE0) {
        *n = 2;
        return (b & 0x1F) << 6 | (p[1] & 0x3Fu);
    }
    if (b < 0xF0) {
        *n = 3;
        return (b & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    }
    *n = 4;
    return (b & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
}

/* Hangul syllables: the Unicode Standard, section 3.12. */
#define CTOK_HANGUL_S 0xAC00u
#define CTOK_HANGUL_L 0x1100u
#define CTOK_HANGUL_V 0x1161u
#define CTOK_HANGUL_T 0x11A7u
#define CTOK_HANGUL_N_V 21u
#define CTOK_HANGUL_N_T 28u
#define CTOK_HANGUL_N_S 11172u

/* ctok_nf_hangul - the two or three letters of a syllable; returns how many. */
static inline size_t ctok_nf_hangul(uint32_t code, uint32_t letters[3]) {
    const uint32_t s = code - CTOK_HANGUL_S, t = s % CTOK_HANGUL_N_T;
    letters[0] = CTOK_HANGUL_L + s / (CTOK_HANGUL_N_V * CTOK_HANGUL_N_T);
    letters[1] = CTOK_HANGUL_V + s / CTOK_HANGUL_N_T % CTOK_HANGUL_N_V;
    letters[2] = CTOK_HANGUL_T + t;
    return t ? 3 : 2;
}

#endif
