from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef extern from "ctok_normal_facts.h" nogil:
    const uint32_t *ctok_nf_bits
    const uint8_t *ctok_nf_class
    const uint16_t *ctok_nf_nfd
    const uint16_t *ctok_nf_nfkd
    const uint16_t *ctok_nf_lower
    const uint8_t *ctok_nf_pool
    uint32_t ctok_nf_record(uint32_t code)
    uint32_t ctok_nf_compose(uint32_t first, uint32_t second)
