/* ctok_normal.h - normalizers: a chain of steps that rewrites a text before it is cut, whole or while it arrives.
 *
 * Build a chain by adding steps and sealing it; then it is read-only and shared. A state belongs to one text. What leaves is never taken
 * back, and concatenated it is what the whole text gives, wherever the input was cut.
 *
 * How it works. Neighbouring steps that look at characters (forms, lower case, dropping, blanks) are fused into one room: a table says for
 * each character what the whole row of steps makes of it alone. Only characters that may act on a neighbour (marks that reorder, pairs that
 * compose) are taken out of the fast lane: the stretch from the last safe border to the next one goes through the steps one by one.
 * Each room keeps the little it cannot decide yet; the next room is fed what it lets go.
 *
 * All text is valid UTF-8 in whole characters (except that of ctok_normal_offsets). Functions return a status, hold no lock, allocate through
 * ctok_mem.h.
 */
#ifndef CTOK_NORMAL_H
#define CTOK_NORMAL_H

#include "ctok_bytes.h"
#include "ctok_charsmap.h"
#include "ctok_dfa.h"
#include "ctok_ids.h"
#include "ctok_spn.h"

/* A step that looks at characters. */
typedef enum ctok_normal_op {
    CTOK_NORMAL_NFC, CTOK_NORMAL_NFD, CTOK_NORMAL_NFKC, CTOK_NORMAL_NFKD,
    CTOK_NORMAL_LOWER,
    CTOK_NORMAL_DROP_MARKS,  /* StripAccents */
    CTOK_NORMAL_NMT,
    CTOK_NORMAL_BERT_CLEAN, CTOK_NORMAL_BERT_CJK,
    CTOK_NORMAL_DROP_MN      /* behind NFD: BertNormalizer's strip_accents */
} ctok_normal_op;

typedef enum ctok_normal_kind {
    CTOK_ROOM_CHARS,     /* ops, fused */
    CTOK_ROOM_BYTES,     /* each byte becomes a visible character */
    CTOK_ROOM_STRIP,     /* white space at the ends */
    CTOK_ROOM_PREPEND,   /* content before the first character */
    CTOK_ROOM_LITERAL,   /* pattern -> content */
    CTOK_ROOM_RUN,       /* `least` or more of one ASCII character -> content */
    CTOK_ROOM_PATTERN,   /* what a machine matches -> content */
    CTOK_ROOM_HOOK,      /* what the caller's function matches -> content; lets nothing go before the end */
    CTOK_ROOM_CHARSMAP,  /* SentencePiece's table, asked cluster by cluster */
    CTOK_ROOM_SPN        /* SentencePiece's own normalizer; the only room of its chain */
} ctok_normal_kind;

/* Finds all matches in a whole text: appends start and stop (bytes, ascending, not overlapping) of each to `matches`. */
typedef ctok_status (*ctok_normal_hook)(void *ctx, const uint8_t *in, size_t n, ctok_ids *matches);

/* Where a byte of the normalized text comes from: a range of bytes of the original. All bytes of a character have the same. */
typedef struct ctok_align {
    uint32_t start, end;
} ctok_align;

/* What a character comes from that stands for several old ones. */
typedef enum ctok_origins {
    CTOK_ORIGINS_WHOLE,     /* all of them */
    CTOK_ORIGINS_REFERENCE  /* one of them, as the reference library's alignments say */
} ctok_origins;

/* A room's facts about an ASCII character: what it becomes, or that it needs a closer look. */
#define CTOK_ASCII_STOP 0x80u

typedef struct ctok_normal_room {
    ctok_normal_kind kind;
    uint32_t n_ops;
    uint8_t ops[16];
    /* CHARS */
    uint32_t *fused;      /* entry of each record of ctok_normal_facts.h */
    ctok_bytes pool;      /* texts that entries point to: length, bytes */
    uint8_t ascii[128];   /* new character, or CTOK_ASCII_STOP */
    uint8_t ascii_kind;   /* which block loop fits the table; 0: none */
    /* STRIP */
    uint8_t left, right;
    /* PREPEND, LITERAL, RUN, PATTERN, HOOK */
    ctok_bytes content, pattern;
    uint32_t *border;     /* LITERAL: for each length of a matched prefix, its longest proper border */
    size_t least;
    const ctok_dfa *dfa;  /* lives as long as the chain: the caller's word */
    uint8_t starts[256];  /* PATTERN: can a match start with this byte? */
    ctok_normal_hook hook;
    void *ctx;
    /* CHARSMAP */
    ctok_charsmap map;
    uint16_t *lane_pages; /* number of the page of each 64 code points */
    uint32_t *lane;       /* what the fast lane does with a character, see ctok_normal_charsmap.c */
    /* SPN */
    ctok_spn *spn;
} ctok_normal_room;

typedef struct ctok_normal {
    ctok_normal_room *rooms;
    size_t n, cap;
    int sealed;
} ctok_normal;

/* ---- building ---- */

void ctok_normal_init(ctok_normal *c);
void ctok_normal_free(ctok_normal *c);

/* Add one step at the end. On CTOK_ERR_MEMORY the chain is as before. */
ctok_status ctok_normal_add_op(ctok_normal *c, ctok_normal_op op);
ctok_status ctok_normal_add_bytes(ctok_normal *c);
ctok_status ctok_normal_add_strip(ctok_normal *c, int left, int right);
ctok_status ctok_normal_add_prepend(ctok_normal *c, const uint8_t *content, size_t n);
/* n_pattern >= 1 */
ctok_status ctok_normal_add_literal(ctok_normal *c, const uint8_t *pattern, size_t n_pattern, const uint8_t *content, size_t n);
ctok_status ctok_normal_add_run(ctok_normal *c, uint8_t ascii, size_t least, const uint8_t *content, size_t n);
ctok_status ctok_normal_add_pattern(ctok_normal *c, const ctok_dfa *dfa, const uint8_t *content, size_t n);
ctok_status ctok_normal_add_hook(ctok_normal *c, ctok_normal_hook hook, void *ctx, const uint8_t *content, size_t n);
/* CTOK_ERR_FORMAT: not a charsmap. The bytes are copied. */
ctok_status ctok_normal_add_charsmap(ctok_normal *c, const uint8_t *data, size_t n);
/* CTOK_ERR_FORMAT: not a charsmap; symbols out of order; or the chain has another step. All is copied. */
ctok_status ctok_normal_add_spn(ctok_normal *c, const ctok_spn_options *options);

/* ctok_normal_seal - build the tables; after it no step may be added. */
ctok_status ctok_normal_seal(ctok_normal *c);

/* ctok_normal_streams - does text leave before the end? (No: a step is a hook.) */
int ctok_normal_streams(const ctok_normal *c);

/* ---- a text ---- */

typedef struct ctok_room_state {
    ctok_bytes held;   /* text the room cannot decide yet */
    ctok_bytes out;    /* room for what it hands to the next one; empty between calls */
    uint64_t seen;     /* bytes of `held` that need no second look */
    uint32_t flags;    /* CTOK_ROOM_STARTED ...; CHARSMAP: the open cluster */
    uint64_t blanks;   /* SPN: how many blanks are kept back because the text may end with them */
    ctok_scan scan;    /* PATTERN: the open match, which starts at held */
} ctok_room_state;

#define CTOK_ROOM_STARTED 1u   /* STRIP, PREPEND, SPN: the first character is behind us. RUN: inside a run that was replaced */
#define CTOK_ROOM_SCANNING 2u  /* PATTERN: `scan` is of use */
#define CTOK_ROOM_BLANK 4u     /* SPN: the last thing was a blank, so another one is dropped */

typedef struct ctok_normal_state {
    ctok_room_state *rooms;  /* as many as the chain has */
    size_t n;
} ctok_normal_state;

/* ctok_normal_begin - ready for a new text; s holds nothing yet. ctok_normal_end gives its memory back, also of a zeroed one. */
ctok_status ctok_normal_begin(const ctok_normal *c, ctok_normal_state *s);
void ctok_normal_end(ctok_normal_state *s);

/* ctok_normal_reset - ready for a new text, memory kept. */
void ctok_normal_reset(ctok_normal_state *s);

/* ctok_normal_feed - the next n bytes of the text; what is certain is appended to out.
 *
 * final  the text ends with them; all leaves, and the state is as new.
 * After CTOK_ERR_MEMORY (or a status of a hook) the state is of no use but for reset and end. */
ctok_status ctok_normal_feed(const ctok_normal *c, ctok_normal_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out);

/* ctok_normal_copy - dst, a state of the same chain, goes on as src would. On CTOK_ERR_MEMORY dst is only good for reset and end. */
ctok_status ctok_normal_copy(ctok_normal_state *dst, const ctok_normal_state *src);

/* ctok_normal_save / load - the state as bytes, appended to out; and back, into a begun state of an equal chain.
 * *used is set to the bytes read. CTOK_ERR_FORMAT: not such bytes; the state is then reset. */
ctok_status ctok_normal_save(const ctok_normal_state *s, ctok_bytes *out);
ctok_status ctok_normal_load(const ctok_normal *c, ctok_normal_state *s, const uint8_t *p, size_t n, size_t *used);

/* ctok_normal_map - a whole text with the origin of each byte: for each byte appended to out one item is put at *map (a new block; give it
 * back with ctok_mem_free). n < 2^32; slower than feed. */
ctok_status ctok_normal_map(const ctok_normal *c, const uint8_t *in, size_t n, ctok_origins origins, ctok_bytes *out, ctok_align **map);

/* ctok_normal_offsets - SPN only: a whole text, which may be any bytes: one that is no part of a character becomes U+FFFD. *offsets (a new
 * block of one more number than bytes are appended to out) says for each of these bytes, and for the end, from which byte of the text on it
 * comes; NULL: there is nothing in the text but blanks that are passed over. In the map of such a chain a byte lasts from its offset to the
 * next one. CTOK_ERR_FORMAT: another chain. */
ctok_status ctok_normal_offsets(const ctok_normal *c, const uint8_t *in, size_t n, ctok_bytes *out, uint32_t **offsets);

#endif
