/* ctok_rankfile.h - the .tiktoken text format: one "<base64 token> <decimal rank>" a line -> tokens in byte order.
 *
 * Knows the file's grammar and nothing of what the tokens are for. One pass over the text, then a radix sort by the tokens' first eight
 * bytes; tokens that agree in those are merge-sorted by the rest, so no file is quadratic.
 *
 * Grammar: base64 with its padding and without stray bits, or a lone "=" for the empty token (a public vocabulary has one); one blank;
 * digits. Lines end with LF, CRLF or the end of the file; empty
 * lines are skipped; ranks may stand in any order and have gaps. No token and no rank may occur twice.
 */
#ifndef CTOK_RANKFILE_H
#define CTOK_RANKFILE_H

#include "ctok_base.h"
#include "ctok_bytesort.h"

#define CTOK_RANK_MAX INT32_MAX
#define CTOK_RANK_TOKEN_MAX 0xFFFFFFu /* bytes of one token: what ctok_token.len holds */

typedef enum ctok_rank_fault {
    CTOK_RANK_OK = 0,
    CTOK_RANK_BASE64 = 1,    /* the token is not base64 */
    CTOK_RANK_MISSING = 2,   /* nothing after the token */
    CTOK_RANK_BLANK = 3,     /* something else than one blank after the token */
    CTOK_RANK_DIGITS = 4,    /* the rank is not a decimal number */
    CTOK_RANK_NEGATIVE = 5,
    CTOK_RANK_LARGE = 6,     /* above CTOK_RANK_MAX */
    CTOK_RANK_LONG = 7,      /* a token above CTOK_RANK_TOKEN_MAX bytes */
    CTOK_RANK_SAME_TOKEN = 8,
    CTOK_RANK_SAME_RANK = 9,
    CTOK_RANK_EMPTY = 10,    /* no line holds a token */
    CTOK_RANK_BIG = 11       /* a file of 2^32 bytes or more */
} ctok_rank_fault;

typedef struct ctok_rank_error {
    ctok_rank_fault fault;
    uint32_t line;   /* from 1; 0 when the fault has none */
    uint32_t other;  /* for SAME_*: the earlier line */
    int cut;         /* the line is the last one and has no line end: the file may be truncated */
} ctok_rank_error;

typedef struct ctok_rank_line {
    ctok_bytestring token; /* in ctok_rankfile.bytes */
    uint32_t rank;
    uint32_t line;
} ctok_rank_line;

typedef struct ctok_rankfile {
    uint8_t *bytes;         /* the tokens in file order */
    size_t n_bytes;
    ctok_rank_line *lines;  /* in file order */
    uint32_t *order;        /* indices into lines, ascending by token */
    uint32_t n;
} ctok_rankfile;

/* ctok_rankfile_read - parse and sort a whole file.
 *
 * f      uninitialised; on success owned by the caller and given back with ctok_rankfile_free.
 * buf    n readable bytes. Not kept.
 * error  on CTOK_ERR_FORMAT: what is wrong, and where. Of several malformed lines the first; of several duplicates the first one in
 *        the file, tokens before ranks.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY or CTOK_ERR_FORMAT; f then owns nothing.
 *
 * Cost: about 10 ms for 200 000 lines; memory about 60 bytes a line beside the tokens.
 */
ctok_status ctok_rankfile_read(ctok_rankfile *f, const uint8_t *buf, size_t n, ctok_rank_error *error);

/* ctok_rankfile_table - write the tokens in byte order: their bytes (f->n_bytes), their cumulative ends and their ranks (f->n little-endian
 * uint32 each). Cannot fail. */
void ctok_rankfile_table(const ctok_rankfile *f, uint8_t *data, uint8_t *ends, uint8_t *ids);

/* ctok_rankfile_free - give everything back. */
void ctok_rankfile_free(ctok_rankfile *f);

#endif
