/* ctok_split.h - the split rule of a tokenizer: what the pipeline calls to cut text into pretokens.
 *
 * A rule always has its machine, which also scans piece by piece (ctok_scan_* in ctok_dfa.h). A rule of a known family has a hand-written
 * scanner beside it that gives the same blocks, faster.
 */
#ifndef CTOK_SPLIT_H
#define CTOK_SPLIT_H

#include "ctok_dfa.h"
#include "ctok_scan.h"

typedef struct ctok_splitter {
    const ctok_dfa *dfa;
    ctok_block_fn fast;  /* or NULL */
} ctok_splitter;

/* ctok_split_block - cut the text from pos on into pretokens; contract in ctok_block.h. */
static inline void ctok_split_block(const ctok_splitter *s, const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops,
                                    size_t cap, ctok_block *out) {
    if (s->fast) s->fast(buf, pos, end, at_eof, stops, cap, out);
    else ctok_dfa_block(s->dfa, buf, pos, end, at_eof, stops, cap, out);
}

/* A pattern that needs no compiling: its exact text in UTF-8, its machine, its family. Several spellings share a machine. */
typedef struct ctok_known_pattern {
    const char *text;
    const char *family;
    const ctok_dfa *dfa;
    int scan;  /* its ctok_scan_family, or -1 when no scanner was written for it */
} ctok_known_pattern;

/* ctok_split_known - the known pattern number i, or NULL from the last one on. */
const ctok_known_pattern *ctok_split_known(size_t i);

#endif
