/* ctok_piece.h - short tokens with their bytes inline, by id: one look-up gives length, kind and bytes.
 *
 * Decoding touches memory at random for every id. In ctok_vocab that is two places, the entry and the bytes; here it is one, and since
 * frequent tokens have small ids in most vocabularies, the places lie together. The price is 16 bytes an id, so the table is made only
 * when somebody decodes much.
 */
#ifndef CTOK_PIECE_H
#define CTOK_PIECE_H

#include "ctok_vocab.h"

#define CTOK_PIECE_SIZE 16

typedef struct ctok_piece {
    uint8_t bytes[CTOK_PIECE_SIZE - 1];
    uint8_t info; /* length (1..15) | flags (CTOK_TOKEN_KNOWN, _ASCII, _UTF8) << 4; 0: look into the vocabulary */
} ctok_piece;

#define CTOK_PIECE_LENGTH 15u
#define CTOK_PIECE_FLAGS 4 /* bits to shift */

/* ctok_pieces_fill - pieces has v->n_ids zeroed places. Tokens of more than 15 bytes and special tokens are left 0. */
static inline void ctok_pieces_fill(const ctok_vocab *v, ctok_piece *pieces) {
    for (uint32_t id = 0; id < v->n_ids; id++) {
        const ctok_token t = v->by_id[id];
        if (!(t.flags & CTOK_TOKEN_KNOWN) || t.flags & CTOK_TOKEN_SPECIAL || t.len > CTOK_PIECE_LENGTH) continue;
        memcpy(pieces[id].bytes, v->bytes + t.begin, t.len);
        pieces[id].info = (uint8_t)(t.len | (uint32_t)t.flags << CTOK_PIECE_FLAGS);
    }
}

#endif
