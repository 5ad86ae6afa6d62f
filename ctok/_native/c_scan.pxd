from libc.stdint cimport uint8_t, uint32_t

cdef extern from "ctok_block.h" nogil:
    ctypedef struct ctok_block:
        size_t n
        size_t first
        size_t next
        int hit_end
    ctypedef void (*ctok_block_fn)(const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap,
                                   ctok_block *out) noexcept nogil

cdef extern from "ctok_scan.h" nogil:
    ctypedef enum ctok_scan_family:
        CTOK_SCAN_GPT2
        CTOK_SCAN_CL100K
        CTOK_SCAN_CL100K_TAIL
        CTOK_SCAN_QWEN2
        CTOK_SCAN_QWEN35
        CTOK_SCAN_O200K
        CTOK_SCAN_DEEPSEEK3
        CTOK_SCAN_FAMILIES
    ctypedef enum ctok_scan_level:
        CTOK_SCAN_SCALAR
        CTOK_SCAN_SSE2
        CTOK_SCAN_AVX2
        CTOK_SCAN_AVX512
        CTOK_SCAN_LEVELS
    ctok_block_fn ctok_scan_select(ctok_scan_family family, ctok_scan_level level)
    ctok_block_fn ctok_scan_best(ctok_scan_family family)
