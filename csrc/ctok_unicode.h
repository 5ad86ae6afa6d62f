/* ctok_unicode.h - properties of a code point: general category and White_Space, Unicode 16.0.
 *
 * The version is fixed (the one the reference tokenizers use), never that of the running Python. Two dependent loads from
 * 40-60 KB of constant tables; nothing to initialise, nothing can fail.
 */
#ifndef CTOK_UNICODE_H
#define CTOK_UNICODE_H

#include "ctok_base.h"

#define CTOK_UNICODE_VERSION "16.0.0"

/* The general category. The members of a group (L, M, N, P, S, Z, C) stand side by side. */
typedef enum ctok_category {
    CTOK_CAT_LU, CTOK_CAT_LL, CTOK_CAT_LT, CTOK_CAT_LM, CTOK_CAT_LO,
    CTOK_CAT_MN, CTOK_CAT_MC, CTOK_CAT_ME,
    CTOK_CAT_ND, CTOK_CAT_NL, CTOK_CAT_NO,
    CTOK_CAT_PC, CTOK_CAT_PD, CTOK_CAT_PS, CTOK_CAT_PE, CTOK_CAT_PI, CTOK_CAT_PF, CTOK_CAT_PO,
    CTOK_CAT_SM, CTOK_CAT_SC, CTOK_CAT_SK, CTOK_CAT_SO,
    CTOK_CAT_ZS, CTOK_CAT_ZL, CTOK_CAT_ZP,
    CTOK_CAT_CC, CTOK_CAT_CF, CTOK_CAT_CS, CTOK_CAT_CO, CTOK_CAT_CN,
    CTOK_CAT_COUNT
} ctok_category;

/* A set of categories is a number with bit `category` set. */
#define CTOK_CAT_BIT(category) (UINT32_C(1) << (category))
#define CTOK_SET_L UINT32_C(0x0000001F)
#define CTOK_SET_M UINT32_C(0x000000E0)
#define CTOK_SET_N UINT32_C(0x00000700)
#define CTOK_SET_P UINT32_C(0x0003F800)
#define CTOK_SET_S UINT32_C(0x003C0000)
#define CTOK_SET_Z UINT32_C(0x01C00000)
#define CTOK_SET_C UINT32_C(0x3E000000)

#define CTOK_UNICODE_CATEGORY_MASK 31u /* bits of ctok_unicode_get that are the category */
#define CTOK_UNICODE_SPACE 32u         /* White_Space: \t \n \v \f \r, space, U+0085, U+00A0, ...; not U+001C-U+001F */

extern const uint8_t ctok_unicode_page[];
extern const uint8_t ctok_unicode_byte[];

/* ctok_unicode_get - category and CTOK_UNICODE_SPACE in one byte (a value below 64). code <= 0x10FFFF. */
static inline uint8_t ctok_unicode_get(uint32_t code) {
    return ctok_unicode_byte[(size_t)ctok_unicode_page[code >> 8] << 8 | (code & 255)];
}

/* ctok_unicode_category - general category of code <= 0x10FFFF (surrogates are Cs, unassigned ones Cn). */
static inline ctok_category ctok_unicode_category(uint32_t code) {
    return (ctok_category)(ctok_unicode_get(code) & CTOK_UNICODE_CATEGORY_MASK);
}

/* ctok_unicode_is_space - the \s of the split patterns. code <= 0x10FFFF. */
static inline int ctok_unicode_is_space(uint32_t code) {
    return (ctok_unicode_get(code) & CTOK_UNICODE_SPACE) != 0;
}

/* ctok_unicode_in - is the category of code <= 0x10FFFF in the set? */
static inline int ctok_unicode_in(uint32_t code, uint32_t set) {
    return (int)(set >> (ctok_unicode_get(code) & CTOK_UNICODE_CATEGORY_MASK) & 1);
}

#endif
