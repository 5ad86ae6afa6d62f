/* ctok_piecepairs.h - which symbols of a SentencePiece BPE model join: any two whose texts together are a piece.
 *
 * The rule knows no pairs, only pieces and how early each is made. Written out as pairs it is a list of merges in which all that give
 * one piece, and all pieces of one score, are equally early; of equally early ones the leftmost goes first.
 */
#ifndef CTOK_PIECEPAIRS_H
#define CTOK_PIECEPAIRS_H

#include "ctok_pairmap.h"

/* ctok_piece_ranks - how early each of n pieces is made, from its score: the higher the earlier, from 0; equal scores, equal ranks.
 *
 * scores are not NaN. ranks receives n numbers below n + 1. Returns CTOK_OK or CTOK_ERR_MEMORY.
 * Cost: 2 ns a piece where scores descend, as in files that training made; else a sort.
 */
ctok_status ctok_piece_ranks(const float *scores, uint32_t n, uint32_t *ranks);

/* ctok_pairmap_pieces - build the table of all pairs of symbols that give one.
 *
 * m      uninitialised; on success owned by the caller and given back with ctok_pairmap_free.
 * v      all symbols, in UTF-8: pieces, and characters that are none. Not kept.
 * ranks  by id, below INT32_MAX.
 *
 * Returns CTOK_OK or CTOK_ERR_MEMORY; m then owns nothing.
 *
 * Cost: about 30 ns a pair; that of looking up the right part of a piece wherever its left part is a symbol.
 */
ctok_status ctok_pairmap_pieces(ctok_pairmap *m, const ctok_vocab *v, const uint32_t *ranks);

#endif
