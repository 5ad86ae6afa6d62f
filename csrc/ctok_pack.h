/* ctok_pack.h - the binary vocabulary file: a header, free-form meta bytes, and the tokens in byte order, plain or packed.
 *
 * Knows how the tokens are laid out; what the meta bytes say (name, pattern, special tokens) is the caller's business. All numbers are
 * little-endian. A reader checks the size, the checksum and then, all the same, every length before it uses it: a file with a forged
 * checksum gives an error, never a read outside the buffer.
 *
 *     0  magic          89 'c' 't' 'o' 'k' 0d 0a 1a    (a transfer that touches line ends or the high bit shows)
 *     8  u32 version    CTOK_PACK_FIRST..CTOK_PACK_VERSION: what the meta bytes are; the rest is the same in all
 *    12  u32 kind       0 plain, 1 packed
 *    16  u64 checksum   of everything from byte 24 on
 *    24  u64 size       of the file
 *    32  u32 n_tokens, n_bytes (of all tokens), n_meta, n_wide, n_suffix, id_bits; the last three are 0 when plain
 *    56  8 zero bytes
 *    64  meta
 *        zeros up to a multiple of 64: the table
 *
 * Plain table: ends (n_tokens cumulative u32), ids (u32), the tokens' bytes; each from a multiple of 64 on, so a mapped file can be used
 * as it lies.
 *
 * Packed table: front coding. Token k is the first `shared` bytes of token k-1 and then `own` >= 1 bytes; shared is the largest possible. The very
 * first token may be empty.
 *
 * A plain table of version 3 or 4 may hold a token more than once, with different ids.
 *   heads    a byte a token: min(shared, 15) << 4 | min(own, 15)
 *   wide     for each nibble that is 15, in order, the rest of its number in LEB128 (at most 5 bytes)
 *   suffix   the own bytes of all tokens
 *   ids      id_bits each (1..31), lowest bits first, the last byte filled up with zeros
 */
#ifndef CTOK_PACK_H
#define CTOK_PACK_H

#include "ctok_base.h"

#define CTOK_PACK_FIRST 2u
#define CTOK_PACK_VERSION 4u
#define CTOK_PACK_HEADER 64u
#define CTOK_PACK_PLAIN 0u
#define CTOK_PACK_PACKED 1u
#define CTOK_PACK_TOKEN_MAX 0xFFFFFFu /* bytes of one token: what ctok_token.len holds */

typedef enum ctok_pack_fault {
    CTOK_PACK_OK = 0,
    CTOK_PACK_MAGIC = 1,     /* not a file of this format */
    CTOK_PACK_OTHER_VERSION = 2,
    CTOK_PACK_SIZE = 3,      /* shorter or longer than it says */
    CTOK_PACK_CHECKSUM = 4,
    CTOK_PACK_CONTENT = 5    /* checksum right, content impossible */
} ctok_pack_fault;

typedef struct ctok_pack {
    uint32_t version, kind, n_tokens, n_bytes, n_meta, n_wide, n_suffix, id_bits;
    uint64_t size;
    size_t table; /* where the table starts */
} ctok_pack;

/* Where the parts of a plain table start. */
typedef struct ctok_pack_plain {
    size_t ends, ids, data;
} ctok_pack_plain;

/* ctok_pack_open - check a file's header, size and checksum.
 *
 * p      filled as far as the header could be read (version is set with CTOK_PACK_OTHER_VERSION).
 * buf    n readable bytes.
 *
 * Cost: one pass over the bytes, about 10 GB/s.
 */
ctok_pack_fault ctok_pack_open(ctok_pack *p, const uint8_t *buf, size_t n);

/* ctok_pack_parts - the offsets of a plain table. */
ctok_pack_plain ctok_pack_parts(const ctok_pack *p);

/* ctok_pack_read - unpack the table of an opened packed file.
 *
 * p      from ctok_pack_open on the same buffer.
 * data   room for p->n_bytes; ends, ids: room for p->n_tokens little-endian uint32 each.
 *
 * Returns CTOK_PACK_OK, with tokens strictly ascending, or CTOK_PACK_CONTENT; the outputs are then undefined.
 *
 * Cost: about 2 ms for 200 000 tokens. Allocates nothing.
 */
ctok_pack_fault ctok_pack_read(const ctok_pack *p, const uint8_t *buf, uint8_t *data, uint8_t *ends, uint8_t *ids);

/* ctok_pack_plan - find out how large a file of this kind will be; p is then ready for ctok_pack_write and p->size is the file's size.
 *
 * version           of the file.
 * data, ends, ids   n tokens as in a plain table.
 *
 * Returns CTOK_OK, or CTOK_ERR_FORMAT when the tokens are not ascending (strictly, but see above), one is too long, an offset leaves the n_bytes
 * bytes of data, or an id is 2^31 or more; *bad is then the index of the token.
 */
ctok_status ctok_pack_plan(ctok_pack *p, uint32_t version, uint32_t kind, const uint8_t *data, size_t n_bytes, const uint8_t *ends,
                           const uint8_t *ids, size_t n, size_t n_meta, uint32_t *bad);

/* ctok_pack_write - write the planned file: out has room for p->size bytes, the rest is as it was given to ctok_pack_plan. */
void ctok_pack_write(const ctok_pack *p, const uint8_t *data, const uint8_t *ends, const uint8_t *ids, const uint8_t *meta, uint8_t *out);

#endif
