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

/* What is kept of two words, and what stands in the last byte, by length. */
#define CTOK_KEY_ROW(first, second, n) {UINT64_C(first), UINT64_C(second), UINT64_C(n) << 56, 0}
static const uint64_t ctok_key_rows[CTOK_KEY_BYTES + 2][4] = {
    CTOK_KEY_ROW(0, 0, 0),
    CTOK_KEY_ROW(0xFF, 0, 1),
    CTOK_KEY_ROW(0xFFFF, 0, 2),
    CTOK_KEY_ROW(0xFFFFFF, 0, 3),
    CTOK_KEY_ROW(0xFFFFFFFF, 0, 4),
    CTOK_KEY_ROW(0xFFFFFFFFFF, 0, 5),
    CTOK_KEY_ROW(0xFFFFFFFFFFFF, 0, 6),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFF, 0, 7),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0, 8),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0xFF, 9),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0xFFFF, 10),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0xFFFFFF, 11),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF, 12),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFF, 13),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFF, 14),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, 15),
    CTOK_KEY_ROW(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, 16),
};

/* ctok_key_roomy - the key of p[0..n) where 16 bytes may be read at p. For n > 15 it is the key of nothing: no text has it. */
static inline void ctok_key_roomy(const uint8_t *p, size_t n, uint64_t key[2]) {
    const uint64_t *row = ctok_key_rows[n <= CTOK_KEY_BYTES ? n : CTOK_KEY_BYTES + 1];
    uint64_t first, second;
    memcpy(&first, p, 8);
    memcpy(&second, p + 8, 8);
    key[0] = first & row[0];
    key[1] = (second & row[1]) | row[2];
}

/* ctok_key_exact - the same, reading only the first n (at most 15) bytes. */
static inline void ctok_key_exact(const uint8_t *p, size_t n, uint64_t key[2]) {
    const size_t shown = n <= CTOK_KEY_BYTES ? n : CTOK_KEY_BYTES + 1, kept = n <= CTOK_KEY_BYTES ? n : CTOK_KEY_BYTES;
    key[0] = n ? ctok_load_le(p, n) : 0;
    key[1] = (n > 8 ? ctok_load_le(p + 8, kept - 8) : 0) | (uint64_t)shown << 56;
}

static inline uint64_t ctok_mix(uint64_t key) {
    return (key ^ key >> 32) * UINT64_C(0x9E3779B97F4A7C15);
}

#endif
