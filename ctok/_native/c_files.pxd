from libc.stdint cimport uint8_t, uint32_t, uint64_t
from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_mapping.h" nogil:
    const uint8_t *ctok_mapping_open(int file, size_t bytes)
    void ctok_mapping_close(const uint8_t *p, size_t bytes)

cdef extern from "ctok_rankfile.h" nogil:
    ctypedef enum ctok_rank_fault:
        CTOK_RANK_OK
    ctypedef struct ctok_rank_error:
        ctok_rank_fault fault
        uint32_t line
        uint32_t other
        bint cut
    ctypedef struct ctok_rankfile:
        size_t n_bytes
        uint32_t n
    ctok_status ctok_rankfile_read(ctok_rankfile *f, const uint8_t *buf, size_t n, ctok_rank_error *error)
    void ctok_rankfile_table(const ctok_rankfile *f, uint8_t *data, uint8_t *ends, uint8_t *ids)
    void ctok_rankfile_free(ctok_rankfile *f)

cdef extern from "ctok_pack.h" nogil:
    const uint32_t CTOK_PACK_FIRST
    const uint32_t CTOK_PACK_VERSION
    const uint32_t CTOK_PACK_HEADER
    const uint32_t CTOK_PACK_PLAIN
    const uint32_t CTOK_PACK_PACKED
    ctypedef enum ctok_pack_fault:
        CTOK_PACK_OK
        CTOK_PACK_MAGIC
        CTOK_PACK_OTHER_VERSION
        CTOK_PACK_SIZE
        CTOK_PACK_CHECKSUM
        CTOK_PACK_CONTENT
    ctypedef struct ctok_pack:
        uint32_t version
        uint32_t kind
        uint32_t n_tokens
        uint32_t n_bytes
        uint32_t n_meta
        uint64_t size
    ctypedef struct ctok_pack_plain:
        size_t ends
        size_t ids
        size_t data
    ctok_pack_fault ctok_pack_open(ctok_pack *p, const uint8_t *buf, size_t n)
    ctok_pack_plain ctok_pack_parts(const ctok_pack *p)
    ctok_pack_fault ctok_pack_read(const ctok_pack *p, const uint8_t *buf, uint8_t *data, uint8_t *ends, uint8_t *ids)
    ctok_status ctok_pack_plan(ctok_pack *p, uint32_t version, uint32_t kind, const uint8_t *data, size_t n_bytes, const uint8_t *ends,
                               const uint8_t *ids, size_t n, size_t n_meta, uint32_t *bad)
    void ctok_pack_write(const ctok_pack *p, const uint8_t *data, const uint8_t *ends, const uint8_t *ids, const uint8_t *meta,
                         uint8_t *out)
