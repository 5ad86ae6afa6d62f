/* ctok_dfa.h - a split pattern as a machine over classes of characters: finds pretokens, whole or while the text arrives.
 *
 * Leftmost-first, as a backtracking matcher would answer, but each character is looked at once per pretoken. Whether a pretoken may stop
 * before a character is known when that character (or the end of the text) is: so a look-ahead of one character needs no stepping back.
 * The tables come from the pattern compiler (ctok/stages/_pattern, at development time for the known patterns) and are read-only.
 *
 * Layout. A state is the index of its row in `entries`; a row has n_classes + 1 entries; row 0 is the start. Flags:
 *   entry of a class   CTOK_DFA_ACCEPT   the pretoken stops before this character, if the machine stops before it accepts again
 *                      CTOK_DFA_EMIT      it does stop there, for certain; `next` is the row of the next pretoken after this character
 *                      CTOK_DFA_STOP      the machine stops before this character: the pretoken ends at the last accept
 *   last entry         CTOK_DFA_ACCEPT    the pretoken may stop here if the text ends
 *                      CTOK_DFA_CERTAIN   it stops here whatever follows
 *                      CTOK_DFA_SILENT    some text that follows leads to a stop without another accept
 */
#ifndef CTOK_DFA_H
#define CTOK_DFA_H

#include "ctok_block.h"

#define CTOK_DFA_ACCEPT 1u
#define CTOK_DFA_EMIT 2u
#define CTOK_DFA_STOP 4u
#define CTOK_DFA_CERTAIN 2u
#define CTOK_DFA_SILENT 4u

typedef struct ctok_dfa_entry {
    uint32_t next;   /* row after this character */
    uint32_t flags;
} ctok_dfa_entry;

typedef struct ctok_dfa {
    const ctok_dfa_entry *entries;  /* n_states * (n_classes + 1) */
    const uint8_t *ascii;     /* 128: class of an ASCII character */
    const uint32_t *bounds;   /* n_ranges: where each range of code points starts, ascending, the first is 0x80 */
    const uint8_t *rows;      /* n_ranges * 64: class by the property byte of ctok_unicode_get */
    uint32_t n_states;
    uint32_t n_classes;       /* 1..255 */
    uint32_t n_ranges;
} ctok_dfa;

/* ctok_dfa_is_sound - do the tables keep to the layout, so that no text can lead outside of them? Sizes are the caller's word. */
int ctok_dfa_is_sound(const ctok_dfa *d);

/* ctok_dfa_block - a ctok_block_fn for any machine. Cost: linear, but for pretokens that the machine gives up after looking far ahead. */
void ctok_dfa_block(const ctok_dfa *d, const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap,
                    ctok_block *out);

/* ---- one pretoken scanned piece by piece; what was consumed need not be kept ---- */

typedef struct ctok_scan {
    uint32_t state;
    uint32_t flags;   /* CTOK_SCAN_CLOSED once the stop is certain */
    uint64_t n;       /* bytes consumed */
    uint64_t accept;  /* while open: the last place < n where it may stop, or a place where it no longer may; 0 = none. When closed: the length of the pretoken, 0 = no match */
} ctok_scan;

#define CTOK_SCAN_CLOSED 1u

/* ctok_scan_begin - ready for the first character of a pretoken. */
static inline void ctok_scan_begin(const ctok_dfa *d, ctok_scan *s) {
    (void)d;
    s->state = s->flags = 0;
    s->n = s->accept = 0;
}

/* ctok_scan_feed - consume buf[*pos, end), whole characters of valid UTF-8, as far as needed; *pos is advanced by what was consumed.
 *
 * Returns 1 when the stop is certain: s->accept is the length of the pretoken in bytes, counted from its start. It may be smaller than s->n:
 * the bytes after it belong to the next one and must be scanned again. 0 means that nothing matches at its start: skip one character.
 * Returns 0 when all was consumed and the pretoken is open. When closed, further calls return 1 and consume nothing.
 */
int ctok_scan_feed(const ctok_dfa *d, ctok_scan *s, const uint8_t *buf, size_t *pos, size_t end);

/* ctok_scan_finish - the text ends here: the length of the pretoken (0: no match). As with feed, it may be smaller than s->n. */
static inline uint64_t ctok_scan_finish(const ctok_dfa *d, const ctok_scan *s) {
    if (s->flags & CTOK_SCAN_CLOSED) return s->accept;
    return d->entries[s->state + d->n_classes].flags & CTOK_DFA_ACCEPT ? s->n : s->accept;
}

/* ctok_scan_may_stop_at_accept - while open: is there a text that may follow (or the end) with which the pretoken stops at s->accept?
 * Other than there, it can stop only at s->n or later. Exact. With s->accept == 0 the answer 1 means that it may turn out to match nothing. */
static inline int ctok_scan_may_stop_at_accept(const ctok_dfa *d, const ctok_scan *s) {
    return (d->entries[s->state + d->n_classes].flags & CTOK_DFA_SILENT) != 0;
}

#endif
