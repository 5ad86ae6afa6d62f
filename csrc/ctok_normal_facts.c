/* ctok_normal_facts.c - the tables, and which pairs compose. */
#include "ctok_normal_facts.h"

#include "ctok_normal_data.h"

static uint32_t compose_hangul(uint32_t first, uint32_t second) {
    const uint32_t l = first - CTOK_HANGUL_L, v = second - CTOK_HANGUL_V, s = first - CTOK_HANGUL_S, t = second - CTOK_HANGUL_T;
    if (l < 19 && v < CTOK_HANGUL_N_V) return CTOK_HANGUL_S + (l * CTOK_HANGUL_N_V + v) * CTOK_HANGUL_N_T;
    if (s < CTOK_HANGUL_N_S && s % CTOK_HANGUL_N_T == 0 && t - 1 < CTOK_HANGUL_N_T - 1) return first + t;
    return 0;
}

uint32_t ctok_nf_compose(uint32_t first, uint32_t second) {
    size_t lo = 0, hi = CTOK_NF_N_PAIRS;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (ctok_nf_pair_first[mid] < first || (ctok_nf_pair_first[mid] == first && ctok_nf_pair_second[mid] < second)) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo < CTOK_NF_N_PAIRS && ctok_nf_pair_first[lo] == first && ctok_nf_pair_second[lo] == second) return ctok_nf_pair_result[lo];
    return compose_hangul(first, second);
}
