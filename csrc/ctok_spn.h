/* ctok_spn.h - what SentencePiece's own normalizer knows: its rules, the texts it passes through, and a fast lane for plain text.
 *
 * The text is taken unit by unit. A unit is the longest symbol (a text that is passed through) that stands there; or else what the longest
 * rule says; or else a character as it is; or else a single byte, which becomes U+FFFD. Then blanks are dropped, added and escaped.
 * All that is in ctok_normal_spn.c. The lane is a shortcut for characters with which no symbol begins and whose rule, if there is one,
 * gives something simple.
 */
#ifndef CTOK_SPN_H
#define CTOK_SPN_H

#include "ctok_bytes.h"
#include "ctok_charsmap.h"
#include "ctok_trie.h"

typedef struct ctok_spn_options {
    const uint8_t *charsmap;   /* rules; n_charsmap 0: none */
    size_t n_charsmap;
    const uint8_t *symbols;    /* one behind the other, in ascending byte order, different, none empty */
    const uint32_t *ends;      /* where each ends */
    uint32_t n_symbols;
    uint8_t dummy, extra, escape, suffix; /* add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces, treat_whitespace_as_suffix */
} ctok_spn_options;

/* What the lane knows of a character; in the bits above, the place of its new text + 1, or 0: as it is. */
#define CTOK_SPN_FIRST 1u   /* a rule for more characters begins with it, */
#define CTOK_SPN_SECOND 2u  /* or goes on with it */
#define CTOK_SPN_SLOW 4u    /* not for the lane */
#define CTOK_SPN_BLANK 8u   /* it becomes a blank */
#define CTOK_SPN_TEXT_SHIFT 4

#define CTOK_SPN_RANGES 4

typedef struct ctok_spn {
    uint8_t dummy, extra, escape, suffix;
    uint8_t blank[4];      /* what a blank becomes, */
    uint32_t n_blank;      /* and its bytes: 1 or 3 */
    ctok_charsmap rules;
    ctok_trie symbols;     /* without units: there are none */
    /* the lane */
    uint8_t has_lane;      /* no: there are rules that end inside a character */
    uint8_t all_wide;      /* every byte above ASCII stays as it is */
    uint8_t lowers;        /* A-Z become a-z */
    uint8_t by_ranges;     /* ranges and blanks below say all about ASCII */
    uint8_t ascii[128];    /* the low bits of an entry */
    uint8_t from[CTOK_SPN_RANGES][16], size[CTOK_SPN_RANGES][16]; /* bytes at which the lane stops: from .. from + size, 16 times each */
    uint8_t blanks[CTOK_SPN_RANGES][16];                          /* bytes that become a blank, and are none of those */
    uint32_t n_ranges, n_blanks;
    uint16_t *pages;       /* number of the page of each 64 code points */
    uint32_t *entries;
} ctok_spn;

/* ctok_spn_new - CTOK_ERR_FORMAT: the rules are malformed, or the symbols out of order. Nothing of the options is kept.
 * Cost: linear in rules and symbols; under a millisecond for the usual tables. */
ctok_status ctok_spn_new(ctok_spn **made, const ctok_spn_options *options);
void ctok_spn_free(ctok_spn *m);

static inline uint32_t ctok_spn_entry(const ctok_spn *m, uint32_t code) {
    return m->entries[(uint32_t)m->pages[code >> 6] << 6 | (code & 63)];
}

/* ctok_spn_plain - may the lane start with the character of valid UTF-8 at p? */
int ctok_spn_plain(const ctok_spn *m, const uint8_t *p);

/* ctok_spn_lane - normalize in[0..n), valid UTF-8 that starts with a plain character, as far as the lane goes.
 *
 * final   nothing follows: a character that could begin a longer rule needs not be left over.
 * *blank  in and out: the last thing was a blank (and `extra` is set).
 * Appends to out, blanks included; sets *used to the bytes taken, which may be 0. What the next character becomes is for the caller to find.
 */
ctok_status ctok_spn_lane(const ctok_spn *m, const uint8_t *in, size_t n, int final, int *blank, ctok_bytes *out, size_t *used);

#endif
