/* ctok_le.h - little-endian numbers at any address, as files hold them (on a little-endian machine each is one move), and big-endian ones, whose
 * order is that of the bytes. */
#ifndef CTOK_LE_H
#define CTOK_LE_H

#include <string.h>

#include "ctok_base.h"

static inline uint32_t ctok_le32_get(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t ctok_le64_get(const uint8_t *p) {
    return ctok_le32_get(p) | (uint64_t)ctok_le32_get(p + 4) << 32;
}

static inline void ctok_le32_put(uint8_t *p, uint32_t x) {
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

static inline void ctok_le64_put(uint8_t *p, uint64_t x) {
    ctok_le32_put(p, (uint32_t)x);
    ctok_le32_put(p + 4, (uint32_t)(x >> 32));
}

static inline uint32_t ctok_be32_get(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ctok_be64_prefix - the first eight of n bytes as a big-endian number, zeros where there are fewer: orders as the bytes do, except that
 * texts which differ only in zeros at the end of the eight are equal. */
static inline uint64_t ctok_be64_prefix(const uint8_t *p, size_t n) {
    uint64_t x = 0;
    if (n < 4) {
        for (size_t i = 0; i < n; i++) x |= (uint64_t)p[i] << (56 - 8 * i);
        return x;
    }
    const size_t back = n < 8 ? n - 4 : 4; /* two numbers of four bytes, which may overlap */
    return (uint64_t)ctok_be32_get(p) << 32 | (uint64_t)ctok_be32_get(p + back) << (8 * (4 - back));
}

/* ctok_be64_roomy - the same where 8 bytes may be read at p. */
static inline uint64_t ctok_be64_roomy(const uint8_t *p, size_t n) {
    const uint64_t x = (uint64_t)ctok_be32_get(p) << 32 | ctok_be32_get(p + 4);
    return n >= 8 ? x : n == 0 ? 0 : x & ~UINT64_C(0) << (64 - 8 * n);
}

#endif
