/* ctok_scan.h - hand-written scanners of the well-known split rules.
 *
 * Each family cuts text exactly as its pattern does with leftmost-first matching on Unicode 16.0; the block functions keep the
 * contract of ctok_block.h. The patterns leave no gaps, so first == pos always. A pretoken is held back (hit_end) exactly when some
 * continuation of the text would make it stop elsewhere.
 *
 * The scalar functions are the ground truth. The faster ones take a window of 64 bytes at a border, turn it into one bit mask per
 * class, and derive all borders that the window decides by shifts and adds; what a window does not decide goes to the scalar step.
 */
#ifndef CTOK_SCAN_H
#define CTOK_SCAN_H

#include "ctok_block.h"

typedef enum ctok_scan_family {
    CTOK_SCAN_GPT2,    /* '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ and the forms equal to it */
    CTOK_SCAN_CL100K,  /* (?i:'s|..)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
    CTOK_SCAN_CL100K_TAIL, /* the same with \s++$ before \s*[\r\n]: white space up to the end of the text is one pretoken */
    CTOK_SCAN_QWEN2,   /* as CL100K with \p{N} for \p{N}{1,3} */
    CTOK_SCAN_QWEN35,  /* as QWEN2 with marks joined to letters: [^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+ and [^\s\p{L}\p{M}\p{N}]+ */
    CTOK_SCAN_O200K,   /* words cut at a change of case, contractions as suffixes, [\r\n/]* after punctuation */
    CTOK_SCAN_DEEPSEEK3, /* numbers, CJK, and words joined to one character before them, each isolated in turn */
    CTOK_SCAN_FAMILIES
} ctok_scan_family;

typedef enum ctok_scan_level {
    CTOK_SCAN_SCALAR,
    CTOK_SCAN_SSE2,    /* any x86-64 */
    CTOK_SCAN_AVX2,    /* AVX2, BMI1, BMI2, LZCNT */
    CTOK_SCAN_AVX512,  /* the above and AVX-512 F, BW, VL, VBMI2 */
    CTOK_SCAN_LEVELS
} ctok_scan_level;

/* ctok_scan_select - the scanner of a family at a level, or NULL when this processor (or build) cannot run it. */
ctok_block_fn ctok_scan_select(ctok_scan_family family, ctok_scan_level level);

/* ctok_scan_best - the fastest scanner of a family that this processor can run; never NULL. */
ctok_block_fn ctok_scan_best(ctok_scan_family family);

/* One row of ctok_scan_select per family, by level; defined beside the family's rules. NULL where the build has no such code. */
extern const ctok_block_fn ctok_scan_gpt2_levels[CTOK_SCAN_LEVELS];
extern const ctok_block_fn ctok_scan_cl100k_levels[CTOK_SCAN_LEVELS];
extern const ctok_block_fn ctok_scan_cl100k_tail_levels[CTOK_SCAN_LEVELS];
extern const ctok_block_fn ctok_scan_qwen2_levels[CTOK_SCAN_LEVELS];
extern const ctok_block_fn ctok_scan_qwen35_levels[CTOK_SCAN_LEVELS];
extern const ctok_block_fn ctok_scan_o200k_levels[CTOK_SCAN_LEVELS];
extern const ctok_block_fn ctok_scan_deepseek3_levels[CTOK_SCAN_LEVELS];

#endif
