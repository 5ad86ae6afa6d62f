from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "ctok_dfa.h" nogil:
    ctypedef struct ctok_dfa_entry:
        uint32_t next
        uint32_t flags
    ctypedef struct ctok_dfa:
        const ctok_dfa_entry *entries
        const uint8_t *ascii
        const uint32_t *bounds
        const uint8_t *rows
        uint32_t n_states
        uint32_t n_classes
        uint32_t n_ranges
    ctypedef struct ctok_scan:
        uint32_t state
        uint32_t flags
        uint64_t n
        uint64_t accept
    bint ctok_dfa_is_sound(const ctok_dfa *d)
    void ctok_scan_begin(const ctok_dfa *d, ctok_scan *s)
    bint ctok_scan_feed(const ctok_dfa *d, ctok_scan *s, const uint8_t *buf, size_t *pos, size_t end)
    uint64_t ctok_scan_finish(const ctok_dfa *d, const ctok_scan *s)
    bint ctok_scan_may_stop_at_accept(const ctok_dfa *d, const ctok_scan *s)
