/* ctok_le.h - little-endian numbers at any address, as files hold them. On a little-endian machine each is one move. */
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

/* ctok_be64_prefix - the first eight of n bytes as a big-endian number, zeros where there are fewer: orders as the bytes do, except that
 * texts which differ only in zeros at the end of the eight are equal. */
static inline uint64_t ctok_be64_prefix(const uint8_t *p, size_t n) {
    uint64_t x = 0;
    for (size_t i = 0; i < 8; i++) x = x << 8 | (i < n ? p[i] : 0u);
    return x;
}

#endif
