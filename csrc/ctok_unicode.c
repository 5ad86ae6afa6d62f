/* ctok_unicode.c - the tables behind ctok_unicode.h. */
#include "ctok_unicode.h"

#include "ctok_unicode_data.h"

_Static_assert(sizeof CTOK_UNICODE_DATA_VERSION == sizeof CTOK_UNICODE_VERSION, "regenerate ctok_unicode_data.h");
_Static_assert(CTOK_CAT_COUNT == 30 && CTOK_CAT_COUNT <= CTOK_UNICODE_CATEGORY_MASK, "a category takes five bits");
_Static_assert(CTOK_SET_N == (CTOK_CAT_BIT(CTOK_CAT_ND) | CTOK_CAT_BIT(CTOK_CAT_NL) | CTOK_CAT_BIT(CTOK_CAT_NO)), "order of the enum");
_Static_assert(CTOK_SET_C == CTOK_CAT_BIT(CTOK_CAT_COUNT) - CTOK_CAT_BIT(CTOK_CAT_CC), "order of the enum");
