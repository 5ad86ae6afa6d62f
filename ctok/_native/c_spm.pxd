from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_json cimport ctok_bytestring
from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_wire.h" nogil:
    ctypedef enum ctok_wire_fault:
        CTOK_WIRE_OK
    const uint32_t CTOK_WIRE_BYTES
    ctypedef struct ctok_wire_field:
        size_t begin
        size_t value
        size_t end
        uint64_t bits
        uint32_t number
        uint32_t type
    ctok_wire_fault ctok_wire_next(const uint8_t *buf, size_t end, size_t *at, ctok_wire_field *f)

cdef extern from "ctok_spm.h" nogil:
    ctypedef enum ctok_spm_fault:
        CTOK_SPM_OK
    ctypedef struct ctok_spm_error:
        ctok_spm_fault fault
        uint32_t piece
        uint32_t other
        size_t at
    ctypedef struct ctok_spm_message:
        ctok_wire_field field
        size_t place
    ctypedef struct ctok_spm_piece:
        ctok_bytestring text
        uint32_t type
    ctypedef struct ctok_spm:
        ctok_spm_piece *pieces
        uint32_t n
        uint32_t unk
        size_t n_bytes
        ctok_spm_message *messages
        uint32_t n_messages
        ctok_bytes document
    ctypedef struct ctok_spm_rules:
        bint once
        bint finite
        bint bytes
        bint normal
    ctok_status ctok_spm_read(ctok_spm *s, const uint8_t *buf, size_t n, ctok_spm_error *error)
    ctok_status ctok_spm_check(ctok_spm *s, const uint8_t *buf, const ctok_spm_rules *rules, ctok_spm_error *error)
    void ctok_spm_table(const ctok_spm *s, const uint8_t *buf, uint8_t *data, uint8_t *ends, uint8_t *ids, uint8_t *scores, uint8_t *types)
    uint32_t ctok_spm_find(const ctok_spm *s, const uint8_t *buf, uint32_t type, const uint8_t *p, size_t n)
    void ctok_spm_free(ctok_spm *s)
    ctypedef struct ctok_spm_out:
        const uint8_t *data
        const uint8_t *ends
        const uint8_t *ids
        const uint8_t *scores
        const uint8_t *types
        size_t n_bytes
        uint32_t n
        uint32_t *at
    ctok_status ctok_spm_order(ctok_spm_out *o)
    ctok_status ctok_spm_write(const ctok_spm_out *o, uint32_t first, uint32_t last, bint spelled, ctok_bytes *out)
    bint ctok_spm_is_table(const uint8_t *table, size_t n)
