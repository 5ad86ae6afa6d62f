from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from ctok._native.c_chain cimport ctok_view
from ctok._native.c_machine cimport ctok_machine
from ctok._native.c_text cimport ctok_text
from ctok._native.c_vocab cimport ctok_id, ctok_status, ctok_vocab

cdef extern from "ctok_stops.h" nogil:
    const uint32_t CTOK_STOPS_MAX_BYTES
    ctypedef struct ctok_stops:
        uint16_t *depth
        uint32_t *begin
        uint8_t *bytes
        uint32_t n_states
    ctok_status ctok_stops_init(ctok_stops *s, const uint8_t *bytes, const uint32_t *ends, size_t n)
    void ctok_stops_free(ctok_stops *s)
    size_t ctok_stops_scan(const ctok_stops *s, uint32_t *state, const uint8_t *p, size_t n, size_t *hit)

cdef extern from "ctok_decoder.h" nogil:
    const uint8_t CTOK_START_FIRST
    const uint8_t CTOK_START_MACHINE
    ctypedef struct ctok_pending:
        ctok_id id
        uint32_t end
    ctypedef struct ctok_decoder_more:
        pass
    ctypedef struct ctok_decoder:
        const ctok_stops *stops
        ctok_decoder_more *more
        uint64_t n_ids
        uint64_t n_bytes
        uint32_t n_pending
        uint32_t n_open
        uint32_t n_held
        uint32_t n_text
        uint32_t state
        uint8_t prefix[4]
        uint8_t errors
        uint8_t policy
        uint8_t skip_special
        uint8_t include_stop
        uint8_t finished
        uint8_t start
        uint8_t lead
        uint8_t skip_unknown
    ctypedef struct ctok_decoder_call:
        const ctok_view *view
        ctok_text *out
        int keep
        uint32_t released
        size_t consumed
        uint64_t bad_byte
        uint64_t bad_id
    void ctok_decoder_reset(ctok_decoder *d)
    void ctok_decoder_free(ctok_decoder *d)
    ctok_status ctok_decoder_set_chain(ctok_decoder *d, const ctok_view *view)
    ctok_status ctok_decoder_set_prefix(ctok_decoder *d, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n)
    ctok_status ctok_decoder_whole(const ctok_decoder *options, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n,
                                   ctok_text *out, uint32_t *ends, size_t *bad_id, size_t *bad_byte)
    ctok_machine *ctok_decoder_machine(ctok_decoder *d)
    ctok_status ctok_decoder_copy_heap(ctok_decoder *to, const ctok_decoder *source)
    ctok_status ctok_decoder_feed(ctok_decoder *d, const ctok_vocab *v, const ctok_id *ids, size_t n, bint final, ctok_decoder_call *call)
    void ctok_decoder_commit(ctok_decoder *d, const ctok_decoder_call *call, bint final)
    void ctok_decoder_rollback(ctok_decoder *d, const ctok_decoder *saved)
    ctok_status ctok_decoder_push(ctok_decoder *d, ctok_id id, uint32_t end)
    ctok_status ctok_decoder_hold(ctok_decoder *d, const uint8_t *p, size_t n)
    ctok_pending *ctok_decoder_queue(ctok_decoder *d)
    const uint8_t *ctok_decoder_held(const ctok_decoder *d)
    uint32_t ctok_decoder_depth(const ctok_decoder *d)
