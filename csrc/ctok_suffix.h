/* ctok_suffix.h - the suffixes of a text in order, and how much neighbours have in common.
 *
 * The text is a sequence of symbols. Symbol 0 separates words: nothing is held to be common beyond it.
 */
#ifndef CTOK_SUFFIX_H
#define CTOK_SUFFIX_H

#include "ctok_base.h"

#define CTOK_SUFFIX_MAX ((size_t)INT32_MAX)

/* ctok_suffix_sort - sort the suffixes of text[0..n) in ascending order; the end of the text comes before every symbol.
 *
 * text       n symbols, each below n_symbols.
 * starts     receives where the suffixes start, n of them.
 *
 * Returns CTOK_OK; CTOK_ERR_MEMORY, also if n is above CTOK_SUFFIX_MAX.
 *
 * Cost: linear, by induced sorting; besides `starts` some 6 to 10 bytes a symbol of the text.
 */
ctok_status ctok_suffix_sort(const uint32_t *text, size_t n, uint32_t n_symbols, uint32_t *starts);

/* ctok_suffix_common - common[i]: how many symbols the suffixes starts[i - 1] and starts[i] have in common before the first separator;
 * common[0] = 0. `starts` is sorted as above. CTOK_ERR_MEMORY: nothing is said.
 *
 * Cost: linear; 4 bytes a symbol besides.
 */
ctok_status ctok_suffix_common(const uint32_t *text, size_t n, const uint32_t *starts, uint32_t *common);

#endif
