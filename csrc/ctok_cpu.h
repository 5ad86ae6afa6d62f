/* ctok_cpu.h - which wide instructions this processor has, for units that have a kernel for each.
 *
 * Only where the compiler can be asked (GCC, Clang on x86-64); elsewhere neither function is there.
 */
#ifndef CTOK_CPU_H
#define CTOK_CPU_H

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

/* ctok_cpu_avx2 - AVX2, and what every processor with it has as well: BMI, BMI2, POPCNT. */
static inline int ctok_cpu_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

/* ctok_cpu_avx512 - those, and AVX-512 that moves bytes together (F, BW, VL, VBMI2). */
static inline int ctok_cpu_avx512(void) {
    return ctok_cpu_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2");
}

#endif

#endif
