/* ctok_key.h - a text of up to 15 bytes as two numbers: its bytes, zeros, and its length in the last byte.
 *
 * Equal keys are equal texts. Cache and vocabulary share the form, so a key is made once for both.
 */
#ifndef CTOK_KEY_H
#define CTOK_KEY_H

#include <string.h>

#include "ctok_base.h"

#define CTOK_KEY_BYTES 15u

/* ctok_load_le - the first n (1..8) bytes at p as a little-endian number. Reads exactly those n bytes. */
static inline uint64_t ctok_load_le(const uint8_t *p, size_t n) {
    uint64_t w = 0;
    if (n >= 8) {
        memcpy(&w, p, 8);
        return w;
    }
    if (n >= 4) {
        uint32_t a, b;
        memcpy(&a, p, 4);
        memcpy(&b, p + n - 4, 4);
        return a | (uint64_t)b << (8 * (n - 4));
    }
    w = p[0];
    w |= (uint64_t)p[n >> 1] << (8 * (n >> 1));
    w |= (uint64_t)p[n - 1] << (8 * (n - 1));
    return w;
}

/* ctok_key_roomy - the key of p[0..n) where 16 bytes may be read at p. For n > 15 it is the key of nothing: no text has it. */
static inline void ctok_key_roomy(const uint8_t *p, size_t n, uint64_t key[2]) {
    static const uint8_t ones[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    const size_t kept = n < CTOK_KEY_BYTES ? n : CTOK_KEY_BYTES;
    uint64_t mask[2];
    memcpy(mask, ones + CTOK_KEY_BYTES - kept, 16);
    memcpy(key, p, 16);
    key[0] &= mask[0];
    key[1] = (key[1] & mask[1]) | (uint64_t)(n < 255 ? n : 255) << 56;
}

/* ctok_key_exact - the same, reading only the first n (at most 15) bytes. */
static inline void ctok_key_exact(const uint8_t *p, size_t n, uint64_t key[2]) {
    key[0] = n ? ctok_load_le(p, n) : 0;
    key[1] = (n > 8 ? ctok_load_le(p + 8, (n < CTOK_KEY_BYTES ? n : CTOK_KEY_BYTES) - 8) : 0) | (uint64_t)(n < 255 ? n : 255) << 56;
}

static inline uint64_t ctok_mix(uint64_t key) {
    return (key ^ key >> 32) * UINT64_C(0x9E3779B97F4A7C15);
}

#endif
