/* ctok_chain.h - decoder chains: from the texts of tokens to the text.
 *
 * The decoders of a tokenizer.json are taken apart into *ops* that are simple enough to work on a text that arrives in pieces. An op gets
 * tokens, each in one or several pieces, then the token's end, at last the end of the stream; what it gives on is never taken back. So
 * a whole text is decoded by the same code that decodes a stream.
 *
 * A chain is read-only after it is made: any number of threads may use it. A stream's state is a machine (ctok_machine.h).
 */
#ifndef CTOK_CHAIN_H
#define CTOK_CHAIN_H

#include "ctok_bytes.h"
#include "ctok_text.h"
#include "ctok_vocab.h"

typedef enum ctok_op_kind {
    /* What becomes of a token depends on nothing but the token and whether it is the first: */
    CTOK_OP_REPLACE = 0, /* `find` -> `put`, leftmost, not overlapping; with `flag`: in the first token -> nothing */
    CTOK_OP_BETWEEN = 1, /* `put` before each character and at the end of a token that is not empty; with `flag`: also in an empty one */
    CTOK_OP_BEGIN = 2,   /* not in the first token: drop `find` at the start, or else put `put` there; with `flag`: put it always */
    CTOK_OP_STRIP = 3,   /* drop the character `find` up to `left` times at the start, then up to `right` times at the end; with `flag`: in the first
                            token only */
    CTOK_OP_REGEX = 4,   /* the chain's `regex`, number `left`, rewrites the token; held until the token ends */
    CTOK_OP_RAW = 5,     /* the byte-level alphabet back to bytes; a token with another character stays as it is, as does an added token
                            of a vocabulary. Held likewise */
    CTOK_OP_LOCAL = 5,   /* the last of these */
    /* All others: */
    CTOK_OP_LOSSY = 6,   /* all tokens are one, ill-formed UTF-8 is replaced */
    CTOK_OP_BYTES = 7,   /* tokens <0x00> .. <0xFF> are bytes; a run of them is a token, or each byte is one that stands for ill-formed text */
    CTOK_OP_FUSE = 8,    /* all tokens are one */
    CTOK_OP_LAST = 9,    /* `find` -> `put`, in the last token -> nothing */
    CTOK_OP_DEDUP = 10,  /* drop a token that is equal to the one before */
    CTOK_OP_DROP = 11    /* drop empty tokens */
} ctok_op_kind;

typedef struct ctok_op {
    uint8_t kind;
    uint8_t flag;
    const uint8_t *find, *put; /* in ctok_chain.bytes */
    const uint32_t *fail;      /* REPLACE and LAST: fail[j] = longest proper end of the first j + 1 bytes of find that begins it */
    uint32_t n_find, n_put;
    uint32_t left, right;
} ctok_op;

/* Rewrites n bytes of UTF-8 into out. CTOK_OK or CTOK_ERR_MEMORY. May be called without the GIL. */
typedef ctok_status (*ctok_rewrite_fn)(const void *rules, uint32_t number, const uint8_t *p, size_t n, ctok_text *out);

typedef struct ctok_chain {
    ctok_op *ops;
    uint32_t n_ops;
    uint32_t n_head;       /* ops at the front that are local: done once for each token of a vocabulary (ctok_view) */
    uint8_t *bytes;
    uint32_t *fails;
    ctok_rewrite_fn rewrite;
    const void *rules;     /* of rewrite */
    /* What is behind the head, where it is no more than this: */
    uint8_t plain;         /* 1: nothing, or tokens that are bytes (`has_bytes`), joined, and up to `lead` times lead_char dropped at the start */
    uint8_t has_bytes;     /* BYTES stands directly behind the head */
    uint8_t any_bytes;     /* BYTES stands somewhere */
    uint8_t has_raw;       /* the head ends with RAW */
    uint8_t first_differs; /* the head does something else to the first token */
    uint8_t lead;
    uint8_t n_lead_char;
    const uint8_t *lead_char;
} ctok_chain;

/* What the ops are made from; `find` and `put` are places in one block of bytes. */
typedef struct ctok_op_spec {
    uint32_t kind, flag, find, n_find, put, n_put, left, right;
} ctok_op_spec;

/* ctok_chain_init - CTOK_OK (given back with ctok_chain_free), CTOK_ERR_MEMORY or CTOK_ERR_FORMAT (a kind or place out of range). */
ctok_status ctok_chain_init(ctok_chain *c, const ctok_op_spec *specs, uint32_t n, const uint8_t *bytes, size_t n_bytes);
void ctok_chain_free(ctok_chain *c);

/* ---- a vocabulary through the head of a chain ---- */

/* What the tokens of a SentencePiece model are. */
typedef enum ctok_piece_type {
    CTOK_PIECE_NORMAL = 1,
    CTOK_PIECE_UNKNOWN = 2,
    CTOK_PIECE_CONTROL = 3,
    CTOK_PIECE_USER_DEFINED = 4,
    CTOK_PIECE_UNUSED = 5,
    CTOK_PIECE_BYTE = 6
} ctok_piece_type;

/* In such a model a control token has no text, the unknown token has that of `surface`, a byte is one, and the head is for all others. */
typedef struct ctok_piece_texts {
    const uint8_t *types;   /* ctok_piece_type by id */
    const uint8_t *surface;
    uint32_t n_surface;
    int keeps_first;        /* a token of which the head leaves nothing is not yet the first */
} ctok_piece_texts;

#define CTOK_TOKEN_BEFORE_FIRST 0x80u /* what ctok_view_token may say of a token: the next one is still the first */

/* What a stream needs of a vocabulary beside its view. */
typedef struct ctok_view {
    const ctok_chain *chain;
    const ctok_vocab *source;
    const ctok_piece_texts *pieces; /* of a SentencePiece model; else NULL */
    int spelled;          /* the source holds bytes; the chain begins with their spelling in the byte-level alphabet */
} ctok_view;

/* ctok_view_token - the text of one known token behind the head, appended to out. `first`: it is the first of its stream.
 * *flags as in ctok_token, or with CTOK_TOKEN_BEFORE_FIRST. CTOK_OK or CTOK_ERR_MEMORY. */
ctok_status ctok_view_token(const ctok_view *view, ctok_id id, int first, ctok_text *out, uint32_t *flags);

/* ctok_view_fill - the texts of all tokens as they are when not the first: by_id has view->source->n_ids places, bytes is empty and
 * gets CTOK_VOCAB_PAD zeros at its end. CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT (more than 4 GiB). */
ctok_status ctok_view_fill(const ctok_view *view, ctok_token *by_id, ctok_bytes *bytes);

/* ctok_byte_of - the byte that a token's text stands for in a chain with BYTES, or -1. */
int ctok_byte_of(const uint8_t *p, size_t n);

/* ctok_spell - append n bytes in the byte-level alphabet: CTOK_OK or CTOK_ERR_MEMORY. */
ctok_status ctok_spell(ctok_text *out, const uint8_t *p, size_t n);

/* ctok_unspell - append the bytes that a text in the byte-level alphabet stands for, or the text itself if it has any other character. */
ctok_status ctok_unspell(ctok_text *out, const uint8_t *p, size_t n);

#endif
