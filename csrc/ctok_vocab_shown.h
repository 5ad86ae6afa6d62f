/* ctok_vocab_shown.h - a vocabulary beside a model that has its own way to find tokens: it shows what ids are, and is seldom asked for a text.
 *
 * It has no table by bytes, so ctok_vocab_find searches by byte order: some 200 ns instead of 10. Nothing may be merged with it.
 */
#ifndef CTOK_VOCAB_SHOWN_H
#define CTOK_VOCAB_SHOWN_H

#include "ctok_vocab.h"

/* ctok_vocab.has_hidden, which sends a look-up that found nothing to the search. */
#define CTOK_VOCAB_HIDES 1 /* the by-id view shows another token where there is an ordinary one of that id */
#define CTOK_VOCAB_SHOWN 2 /* no token is in the table by bytes */

/* ctok_vocab_init_shown - as ctok_vocab_init, and given back in the same way. Cost: about 10 ns a token. */
ctok_status ctok_vocab_init_shown(ctok_vocab *v, const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens,
                                  const uint8_t *extra, const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra,
                                  uint32_t *bad);

#endif
