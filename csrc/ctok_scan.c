/* ctok_scan.c - kinds of characters, and the choice of a scanner for this processor. */
#include "ctok_scan_step.h"

#include "ctok_scan_data.h"

#ifdef CTOK_SCAN_X86
#include <cpuid.h>

#include "ctok_cpu.h"
#endif

#define U CTOK_KIND_UPPER
#define L CTOK_KIND_LOWER
#define C CTOK_KIND_UNCASED
#define M CTOK_KIND_MARK
#define N CTOK_KIND_NUMBER
#define O CTOK_KIND_OTHER
#define W CTOK_KIND_WHITE
#define R (CTOK_KIND_WHITE | CTOK_KIND_NEWLINE)

const uint8_t ctok_scan_ascii[256] = {
    O, O, O, O, O, O, O, O, O, W, R, W, W, R, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
    W, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, N, N, N, N, N, N, N, N, N, N, O, O, O, O, O, O,
    O, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, O, O, O, O, O,
    O, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, O, O, O, O, O,
};

/* Lu Ll Lt Lm Lo, Mn Mc Me, Nd Nl No, P (7), S (4), Z (3), C (5), two unused; then the same with White_Space. */
const uint8_t ctok_scan_kinds[64] = {
    U, L, U, C, C, M, M, M, N, N, N, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
    W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,
};

static const ctok_block_fn *const families[CTOK_SCAN_FAMILIES] = {
    ctok_scan_gpt2_levels,  ctok_scan_cl100k_levels, ctok_scan_cl100k_tail_levels,
    ctok_scan_qwen2_levels, ctok_scan_qwen35_levels, ctok_scan_o200k_levels,
    ctok_scan_deepseek3_levels,
};

#ifdef CTOK_SCAN_X86
/* The compiler's own list of features has no portable name for LZCNT. */
static int has_lzcnt(void) {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && c >> 5 & 1;
}

static int level_runs(ctok_scan_level level) {
    if (level <= CTOK_SCAN_SSE2) return 1;
    __builtin_cpu_init();
    return (level == CTOK_SCAN_AVX2 ? ctok_cpu_avx2() : ctok_cpu_avx512()) && has_lzcnt();
}
#else
static int level_runs(ctok_scan_level level) { return level == CTOK_SCAN_SCALAR; }
#endif

ctok_block_fn ctok_scan_select(ctok_scan_family family, ctok_scan_level level) {
    return level_runs(level) ? families[family][level] : NULL;
}

ctok_block_fn ctok_scan_best(ctok_scan_family family) {
    for (int level = CTOK_SCAN_LEVELS - 1; level > CTOK_SCAN_SCALAR; level--) {
        const ctok_block_fn fn = ctok_scan_select(family, (ctok_scan_level)level);
        if (fn) return fn;
    }
    return families[family][CTOK_SCAN_SCALAR];
}
