/* ctok_safecut.h - where a text may be cut before a list of merges joins it, without changing a token.
 *
 * Whatever merging gives is put together by merges of the list. So two characters can stand side by side inside a token only if some merge
 * has a left part that ends with the first and a right part that begins with the second. Between all others that are tokens themselves a
 * text can be cut, and its pieces encoded alone: no merge crosses the cut, and merges on either side of it do not see the other. A
 * character that is no token is never beside a cut, because unknown characters may become one token together.
 *
 * The table says for each second character which *last bytes* of a first one are taken; that is a little less than could be said.
 * Characters beyond U+FFFF are never beside a cut. Read-only after it is built: any number of threads may use it.
 */
#ifndef CTOK_SAFECUT_H
#define CTOK_SAFECUT_H

#include "ctok_base.h"
#include "ctok_vocab.h"

typedef struct ctok_safecut {
    uint16_t *row_of;  /* by character (by byte in a byte-level model): 0 = no token */
    uint8_t *rows;     /* 32 bytes each: bit b = a merge joins what ends with the byte b and what begins with this character */
    uint32_t n_rows;
    int byte_level;
} ctok_safecut;

/* ctok_safecut_init - build the table for n merges of a model without prefix and suffix.
 *
 * c           uninitialised; on success owned by the caller and given back with ctok_safecut_free.
 * v           the tokens by what pretokens hold. Not kept.
 * pairs       left id and right id of each merge; those of ids without a token in v are passed over.
 * byte_level  symbols are bytes, else characters in UTF-8.
 *
 * Returns CTOK_OK or CTOK_ERR_MEMORY. Cost: about 10 ns a merge and 10 ns a token; at most 2 MiB.
 */
ctok_status ctok_safecut_init(ctok_safecut *c, const ctok_vocab *v, const uint32_t *pairs, size_t n, int byte_level);

/* ctok_safecut_pieces - the same where any two symbols join whose texts together are a piece (csrc/ctok_piecepairs.h): a text can be cut
 * between two characters that stand side by side in no piece.
 *
 * data, ends  the texts of n pieces in UTF-8, one behind the other, and their cumulative end offsets. Not kept.
 * firm        by place: 0 = a text that is a single character may turn out to be unknown after all; a cut is never beside it.
 */
ctok_status ctok_safecut_pieces(ctok_safecut *c, const uint8_t *data, const uint32_t *ends, uint32_t n, const uint8_t *firm);

/* ctok_safecut_free - give everything back. */
void ctok_safecut_free(ctok_safecut *c);

/* ctok_safecut_next - the first place in (pos, end) where the text may be cut, or `end` when there is none.
 *
 * buf[pos, end) is UTF-8 that begins with a character; the last one may be unfinished. An answer depends on the two characters beside the place
 * alone, both of them in [pos, end): it holds whatever follows. To go on after more has arrived, begin at the last character that was whole.
 */
size_t ctok_safecut_next(const ctok_safecut *c, const uint8_t *buf, size_t pos, size_t end);

#endif
