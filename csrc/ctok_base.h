/* ctok_base.h - the words that all of csrc shares: ids, status codes, compiler macros.
 *
 * Knows nothing of Python and nothing of any tokenizer's policy. Every other header includes this one.
 */
#ifndef CTOK_BASE_H
#define CTOK_BASE_H

#include <stddef.h>
#include <stdint.h>

/* A token's number. CTOK_NO_ID is never a valid id. */
typedef uint32_t ctok_id;
#define CTOK_NO_ID UINT32_MAX

/* What a function that can fail returns. One place in Python turns a status into an exception. */
typedef enum ctok_status {
    CTOK_OK = 0,
    CTOK_ERR_MEMORY = 1,   /* an allocation failed, or a size would overflow */
    CTOK_ERR_UTF8 = 2,     /* input is not UTF-8 (or holds a lone surrogate) */
    CTOK_ERR_BYTE = 3,     /* a byte for which the vocabulary has no token */
    CTOK_ERR_ID = 4,       /* an id that is not in the vocabulary */
    CTOK_ERR_FORMAT = 5,   /* a malformed file */
    CTOK_ERR_STOPPED = 6   /* the caller asked to stop */
} ctok_status;

#if defined(__GNUC__) || defined(__clang__)
#define CTOK_LIKELY(x) __builtin_expect(!!(x), 1)
#define CTOK_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CTOK_PREFETCH(p) __builtin_prefetch(p)
#define CTOK_NOINLINE __attribute__((noinline))
#else
#define CTOK_LIKELY(x) (x)
#define CTOK_UNLIKELY(x) (x)
#define CTOK_PREFETCH(p) ((void)0)
#define CTOK_NOINLINE
#endif

/* ctok_lowest_bit - the place of the lowest bit that is set; there must be one. */
static inline unsigned ctok_lowest_bit(uint64_t bits) {
#if defined(__GNUC__) || defined(__clang__)
    return (unsigned)__builtin_ctzll(bits);
#else
    unsigned i = 0;
    while (!(bits >> i & 1)) i++;
    return i;
#endif
}

#endif
